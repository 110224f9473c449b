// RUN: %run-all
// symm.remote_store through every kind of pointer: views with known and unknown strides and offsets, a memref without
// dimensions, an !llvm.ptr, vectors; volatile, with an alignment, with a cache modifier.

module attributes {gpu.container_module} {
  // What @write stores where, less 1000 times the rank it comes from; -1 where it stores nothing.
  memref.global "private" constant @places : memref<8x12xi32> = dense<[
    [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 20],
    [-1, -1,  0, -1, -1,  1, -1, -1,  2, -1, -1, -1],
    [-1, -1, -1, -1, 50, 51, 52, 53, -1, -1, -1, -1],
    [-1, -1,  3, -1, -1,  4, -1, -1,  5, -1, -1, -1],
    [-1, 10, -1, -1, 11, -1, -1, 12, -1, -1, -1, -1],
    [-1, -1, -1, 30, 31, 32, 33, 34, 35, 36, 37, -1],
    [-1, 13, -1, -1, 14, -1, -1, 15, -1, -1, -1, -1],
    [-1, -1, -1, -1, -1, 40, -1, 41, -1, -1, -1, -1]]>

  gpu.module @kernels {
    // The caller passes 4, 1, 2 and 3 as %top, %left, %down and %across.
    gpu.func @write(%ctx: !symm.ctx, %data: memref<8x12xi32>, %top: index, %left: index, %down: index,
                    %across: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %one = arith.constant 1 : i32
      %ten = arith.constant 10 : i32
      %twenty = arith.constant 20 : i32
      %forty = arith.constant 40 : i32
      %thousand = arith.constant 1000 : i32
      %thirties = arith.constant dense<[30, 31, 32, 33, 34, 35, 36, 37]> : vector<8xi32>
      %fifties = arith.constant dense<[50, 51, 52, 53]> : vector<4xi32>
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %mine = arith.muli %me, %thousand : i32

      %known = memref.subview %data[1, 2] [2, 3] [2, 3]
        : memref<8x12xi32> to memref<2x3xi32, strided<[24, 3], offset: 14>>
      %unknown = memref.subview %data[%top, %left] [2, 3] [%down, %across]
        : memref<8x12xi32> to memref<2x3xi32, strided<[?, ?], offset: ?>>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c3 step %c1 {
          %line = arith.muli %i, %c3 : index
          %place = arith.addi %line, %j : index
          %count = arith.index_cast %place : index to i32
          %a = arith.addi %mine, %count : i32
          symm.remote_store %ctx, %known[%i, %j], %a, %right : memref<2x3xi32, strided<[24, 3], offset: 14>>, i32
          %b = arith.addi %a, %ten : i32
          symm.remote_store %ctx, %unknown[%i, %j], %b, %right : memref<2x3xi32, strided<[?, ?], offset: ?>>, i32
        }
      }

      %cell = memref.subview %data[0, 11] [1, 1] [1, 1] : memref<8x12xi32> to memref<i32, strided<[], offset: 11>>
      %c = arith.addi %mine, %twenty : i32
      symm.remote_store %ctx, %cell, %c, %right : memref<i32, strided<[], offset: 11>>, i32

      %mine8 = vector.broadcast %mine : i32 to vector<8xi32>
      %d = arith.addi %mine8, %thirties : vector<8xi32>
      // A vector that is not aligned to its size says so.
      symm.remote_store %ctx, %data[%c5, %c3], %d, %right {alignment = 4 : i64} : memref<8x12xi32>, vector<8xi32>

      %index = memref.extract_aligned_pointer_as_index %data : memref<8x12xi32> -> index
      %address = arith.index_cast %index : index to i64
      %p = llvm.inttoptr %address : i64 to !llvm.ptr
      %p89 = llvm.getelementptr %p[89] : (!llvm.ptr) -> !llvm.ptr, i32
      %e = arith.addi %mine, %forty : i32
      symm.remote_store %ctx, %p89, %e, %right volatile : !llvm.ptr, i32
      %p91 = llvm.getelementptr %p[91] : (!llvm.ptr) -> !llvm.ptr, i32
      %f = arith.addi %e, %one : i32
      symm.remote_store %ctx, %p91, %f, %right cache wt : !llvm.ptr, i32

      %mine4 = vector.broadcast %mine : i32 to vector<4xi32>
      %g = arith.addi %mine4, %fifties : vector<4xi32>
      symm.remote_store %ctx, %data[%c2, %c4], %g, %right : memref<8x12xi32>, vector<4xi32>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %left = arith.remui %back, %n : i32
    %theirs = arith.muli %left, %thousand : i32
    %data = symm.alloc %ctx : memref<8x12xi32>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<8x12xi32>, %c4 : index, %c1 : index, %c2 : index, %c3 : index)
    symm.barrier_all %ctx

    %places = memref.get_global @places : memref<8x12xi32>
    %got = memref.alloc() : memref<8x12xi32>
    gpu.memcpy %got, %data : memref<8x12xi32>, memref<8x12xi32>
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c12 step %c1 {
        %place = memref.load %places[%i, %j] : memref<8x12xi32>
        %stored = arith.cmpi sge, %place, %zero : i32
        %value = arith.addi %theirs, %place : i32
        %want = arith.select %stored, %value, %zero : i32
        %v = memref.load %got[%i, %j] : memref<8x12xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "element ({}, {}) is {}, expected {}"(%i, %j, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %got : memref<8x12xi32>
    return
  }
}
