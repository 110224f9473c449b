// RUN: %run-all
// symm.as_remote: what it returns is read and written like any pointer, and keeps offset and strides (T1, T2).

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Rows 1 and 3, columns 2, 5 and 8 of a matrix: an offset and two strides that no other layout has.
    gpu.func @write(%ctx: !symm.ctx, %whole: memref<4x9xi32>, %row: memref<16xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %one = arith.constant 1 : i32
      %thousand = arith.constant 1000 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %mine = arith.muli %me, %thousand : i32

      %part = memref.subview %whole[1, 2] [2, 3] [2, 3]
        : memref<4x9xi32> to memref<2x3xi32, strided<[18, 3], offset: 11>>
      %theirs = symm.as_remote %ctx, %part, %right : memref<2x3xi32, strided<[18, 3], offset: 11>>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c3 step %c1 {
          %line = arith.muli %i, %c3 : index
          %place = arith.addi %line, %j : index
          %count = arith.index_cast %place : index to i32
          %v = arith.addi %mine, %count : i32
          memref.store %v, %theirs[%i, %j] : memref<2x3xi32, strided<[18, 3], offset: 11>>
        }
      }

      // T2: moving a pointer and translating it may be done in either order.
      %index = memref.extract_aligned_pointer_as_index %row : memref<16xi32> -> index
      %address = arith.index_cast %index : index to i64
      %p = llvm.inttoptr %address : i64 to !llvm.ptr
      %far = symm.as_remote %ctx, %p, %right : !llvm.ptr
      scf.for %i = %c0 to %c8 step %c1 {
        %step = arith.index_cast %i : index to i64
        %count = arith.index_cast %i : index to i32
        %v = arith.addi %mine, %count : i32
        %first = llvm.getelementptr %far[%step] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        llvm.store %v, %first : i32, !llvm.ptr
        %local = llvm.getelementptr %p[%step] : (!llvm.ptr, i64) -> !llvm.ptr, i32
        %moved = symm.as_remote %ctx, %local, %right : !llvm.ptr
        %second = llvm.getelementptr %moved[8] : (!llvm.ptr) -> !llvm.ptr, i32
        llvm.store %v, %second : i32, !llvm.ptr
      }
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
    %c9 = arith.constant 9 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %sum = arith.addi %me, %before : i32
    %left = arith.remui %sum, %n : i32
    %theirs = arith.muli %left, %thousand : i32
    %whole = symm.alloc %ctx : memref<4x9xi32>
    %row = symm.alloc %ctx : memref<16xi32>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %whole : memref<4x9xi32>, %row : memref<16xi32>)
    symm.barrier_all %ctx

    %got = memref.alloc() : memref<4x9xi32>
    gpu.memcpy %got, %whole : memref<4x9xi32>, memref<4x9xi32>
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c9 step %c1 {
        // In the view: odd rows, and columns 2 modulo 3.
        %odd = arith.remui %i, %c2 : index
        %column = arith.remui %j, %c3 : index
        %row_in = arith.cmpi eq, %odd, %c1 : index
        %column_in = arith.cmpi eq, %column, %c2 : index
        %in = arith.andi %row_in, %column_in : i1
        %a = arith.divui %i, %c2 : index
        %b = arith.divui %j, %c3 : index
        %line = arith.muli %a, %c3 : index
        %place = arith.addi %line, %b : index
        %count = arith.index_cast %place : index to i32
        %written = arith.addi %theirs, %count : i32
        %want = arith.select %in, %written, %zero : i32
        %v = memref.load %got[%i, %j] : memref<4x9xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "element ({}, {}) is {}, expected {}"(%i, %j, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %got : memref<4x9xi32>

    %line = memref.alloc() : memref<16xi32>
    gpu.memcpy %line, %row : memref<16xi32>, memref<16xi32>
    scf.for %i = %c0 to %c16 step %c1 {
      %place = arith.remui %i, %c8 : index
      %count = arith.index_cast %place : index to i32
      %want = arith.addi %theirs, %count : i32
      %v = memref.load %line[%i] : memref<16xi32>
      %same = arith.cmpi eq, %v, %want : i32
      symm.check %same, "T2: element {} is {}, expected {}"(%i, %v, %want) : index, i32, i32
    }
    memref.dealloc %line : memref<16xi32>
    return
  }
}
