// RUN: %run-all
// symm.remote_load through every kind of pointer: views with known and unknown strides and offsets, a memref without
// dimensions, an !llvm.ptr, vectors; volatile, with an alignment, with a cache modifier.

module attributes {gpu.container_module} {
  // Which element of the 6x10 matrix each load of @read finds; -1 for none.
  memref.global "private" constant @places : memref<6x8xi32> = dense<[
    [12, 15, 18, 32, 35, 38, -1, -1],
    [21, 23, 25, 41, 43, 45, -1, -1],
    [34, -1, -1, -1, -1, -1, -1, -1],
    [41, 42, 43, 44, 45, 46, 47, 48],
    [27, 29, -1, -1, -1, -1, -1, -1],
    [20, 21, 22, 23, -1, -1, -1, -1]]>

  gpu.module @kernels {
    // Element (i, j) of rank r is 1000 r + 10 i + j.
    gpu.func @write(%ctx: !symm.ctx, %data: memref<6x10xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %c10 = arith.constant 10 : index
      %thousand = arith.constant 1000 : i32
      %me = symm.rank %ctx
      %mine = arith.muli %me, %thousand : i32
      scf.for %i = %c0 to %c6 step %c1 {
        scf.for %j = %c0 to %c10 step %c1 {
          %line = arith.muli %i, %c10 : index
          %place = arith.addi %line, %j : index
          %count = arith.index_cast %place : index to i32
          %v = arith.addi %mine, %count : i32
          memref.store %v, %data[%i, %j] : memref<6x10xi32>
        }
      }
      gpu.return
    }

    // The caller passes 2, 1 and 2 as %top, %left and %every.
    gpu.func @read(%ctx: !symm.ctx, %data: memref<6x10xi32>, %seen: memref<6x8xi32>, %top: index, %left: index,
                   %every: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c5 = arith.constant 5 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32

      %known = memref.subview %data[1, 2] [2, 3] [2, 3]
        : memref<6x10xi32> to memref<2x3xi32, strided<[20, 3], offset: 12>>
      %unknown = memref.subview %data[%top, %left] [2, 3] [%every, %every]
        : memref<6x10xi32> to memref<2x3xi32, strided<[?, ?], offset: ?>>
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c3 step %c1 {
          %line = arith.muli %i, %c3 : index
          %place = arith.addi %line, %j : index
          %a = symm.remote_load %ctx, %known[%i, %j], %right : memref<2x3xi32, strided<[20, 3], offset: 12>> -> i32
          memref.store %a, %seen[%c0, %place] : memref<6x8xi32>
          %b = symm.remote_load %ctx, %unknown[%i, %j], %right : memref<2x3xi32, strided<[?, ?], offset: ?>> -> i32
          memref.store %b, %seen[%c1, %place] : memref<6x8xi32>
        }
      }

      %cell = memref.subview %data[3, 4] [1, 1] [1, 1] : memref<6x10xi32> to memref<i32, strided<[], offset: 34>>
      %c = symm.remote_load %ctx, %cell, %right : memref<i32, strided<[], offset: 34>> -> i32
      memref.store %c, %seen[%c2, %c0] : memref<6x8xi32>

      // A vector that is not aligned to its size says so.
      %d = symm.remote_load %ctx, %data[%c4, %c1], %right {alignment = 4 : i64} : memref<6x10xi32> -> vector<8xi32>
      vector.store %d, %seen[%c3, %c0] : memref<6x8xi32>, vector<8xi32>

      %index = memref.extract_aligned_pointer_as_index %data : memref<6x10xi32> -> index
      %address = arith.index_cast %index : index to i64
      %p = llvm.inttoptr %address : i64 to !llvm.ptr
      %p27 = llvm.getelementptr %p[27] : (!llvm.ptr) -> !llvm.ptr, i32
      %e = symm.remote_load %ctx, %p27, %right volatile : !llvm.ptr -> i32
      memref.store %e, %seen[%c4, %c0] : memref<6x8xi32>
      %p29 = llvm.getelementptr %p[29] : (!llvm.ptr) -> !llvm.ptr, i32
      %f = symm.remote_load %ctx, %p29, %right cache cg : !llvm.ptr -> i32
      memref.store %f, %seen[%c4, %c1] : memref<6x8xi32>

      %g = symm.remote_load %ctx, %data[%c2, %c0], %right : memref<6x10xi32> -> vector<4xi32>
      vector.store %g, %seen[%c5, %c0] : memref<6x8xi32>, vector<4xi32>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %right = arith.remui %next, %n : i32
    %theirs = arith.muli %right, %thousand : i32
    %data = symm.alloc %ctx : memref<6x10xi32>
    %seen = symm.alloc %ctx : memref<6x8xi32>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<6x10xi32>)
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<6x10xi32>, %seen : memref<6x8xi32>, %c2 : index, %c1 : index, %c2 : index)

    %places = memref.get_global @places : memref<6x8xi32>
    %got = memref.alloc() : memref<6x8xi32>
    gpu.memcpy %got, %seen : memref<6x8xi32>, memref<6x8xi32>
    scf.for %row = %c0 to %c6 step %c1 {
      scf.for %i = %c0 to %c8 step %c1 {
        %place = memref.load %places[%row, %i] : memref<6x8xi32>
        %loaded = arith.cmpi sge, %place, %zero : i32
        %value = arith.addi %theirs, %place : i32
        %want = arith.select %loaded, %value, %zero : i32
        %v = memref.load %got[%row, %i] : memref<6x8xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "row {}: element {} is {}, expected {}"(%row, %i, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %got : memref<6x8xi32>
    return
  }
}
