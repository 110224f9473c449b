// RUN: %run-all
// symm.put_signal: whoever sees the signal sees the data, for set and add, 32 and 64 bits, whole memrefs, rows of one
// and counted pointers. Block 0 sends to the right neighbour, after a while; block 1 waits for the left one and keeps
// what it saw.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @exchange(%ctx: !symm.ctx, %src: memref<4x16xi32>, %dst: memref<4x16xi32>, %seen: memref<4x16xi32>,
                       %flag32: memref<2xi32>, %flag64: memref<2xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %one = arith.constant 1 : i32
      %five = arith.constant 5 : i32
      %one_wide = arith.constant 1 : i64
      %minus_two = arith.constant -2 : i64
      %million = arith.constant 1000000 : i64
      %row0 = memref.subview %src[0, 0] [1, 16] [1, 1] : memref<4x16xi32> to memref<16xi32, strided<[1]>>
      %row0_out = memref.subview %dst[0, 0] [1, 16] [1, 1] : memref<4x16xi32> to memref<16xi32, strided<[1]>>
      %left1 = memref.subview %src[1, 0] [2, 8] [1, 1]
        : memref<4x16xi32> to memref<2x8xi32, strided<[16, 1], offset: 16>>
      %left1_out = memref.subview %dst[1, 0] [2, 8] [1, 1]
        : memref<4x16xi32> to memref<2x8xi32, strided<[16, 1], offset: 16>>
      %right1 = memref.subview %src[1, 8] [2, 8] [1, 1]
        : memref<4x16xi32> to memref<2x8xi32, strided<[16, 1], offset: 24>>
      %right1_out = memref.subview %dst[1, 8] [2, 8] [1, 1]
        : memref<4x16xi32> to memref<2x8xi32, strided<[16, 1], offset: 24>>
      %src_index = memref.extract_aligned_pointer_as_index %src : memref<4x16xi32> -> index
      %src_address = arith.index_cast %src_index : index to i64
      %p = llvm.inttoptr %src_address : i64 to !llvm.ptr
      %dst_index = memref.extract_aligned_pointer_as_index %dst : memref<4x16xi32> -> index
      %dst_address = arith.index_cast %dst_index : index to i64
      %q = llvm.inttoptr %dst_address : i64 to !llvm.ptr
      %p48 = llvm.getelementptr %p[48] : (!llvm.ptr) -> !llvm.ptr, i32
      %q48 = llvm.getelementptr %q[48] : (!llvm.ptr) -> !llvm.ptr, i32
      %p56 = llvm.getelementptr %p[56] : (!llvm.ptr) -> !llvm.ptr, i32
      %q56 = llvm.getelementptr %q[56] : (!llvm.ptr) -> !llvm.ptr, i32

      %block = gpu.block_id x
      %sends = arith.cmpi eq, %block, %c0 : index
      scf.if %sends {
        %me = symm.rank %ctx
        %n = symm.num_ranks %ctx
        %next = arith.addi %me, %one : i32
        %right = arith.remui %next, %n : i32
        // A millisecond in which nothing comes.
        %none = symm.wait %ctx, %flag64[%c0] eq %minus_two timeout %million group block : memref<2xi64>, i64 -> i1
        symm.put_signal set %ctx, %row0, %row0_out, %flag32[%c0], %five, %right group block
          : memref<16xi32, strided<[1]>>, memref<16xi32, strided<[1]>>, memref<2xi32>, i32
        symm.put_signal add %ctx, %left1, %left1_out, %flag32[%c1], %one, %right group block
          : memref<2x8xi32, strided<[16, 1], offset: 16>>, memref<2x8xi32, strided<[16, 1], offset: 16>>,
            memref<2xi32>, i32
        symm.put_signal add %ctx, %right1, %right1_out, %flag32[%c1], %one, %right group block
          : memref<2x8xi32, strided<[16, 1], offset: 24>>, memref<2x8xi32, strided<[16, 1], offset: 24>>,
            memref<2xi32>, i32
        symm.put_signal set %ctx, %p48, %q48, %flag64[%c1], %minus_two, %right count %c8 : index of i32 group block
          : !llvm.ptr, !llvm.ptr, memref<2xi64>, i64
        symm.put_signal add %ctx, %p56, %q56, %flag64[%c0], %one_wide, %right count %c8 : index of i32 group block
          : !llvm.ptr, !llvm.ptr, memref<2xi64>, i64
      } else {
        %both = arith.constant 102 : i32
        %fifty_one = arith.constant 51 : i64
        symm.wait %ctx, %flag32[%c0] eq %five group block : memref<2xi32>, i32
        func.call @keep(%dst, %seen, %c0) : (memref<4x16xi32>, memref<4x16xi32>, index) -> ()
        symm.wait %ctx, %flag32[%c1] ge %both group block : memref<2xi32>, i32
        func.call @keep(%dst, %seen, %c1) : (memref<4x16xi32>, memref<4x16xi32>, index) -> ()
        %c2 = arith.constant 2 : index
        func.call @keep(%dst, %seen, %c2) : (memref<4x16xi32>, memref<4x16xi32>, index) -> ()
        symm.wait %ctx, %flag64[%c1] lt %one_wide group block : memref<2xi64>, i64
        symm.wait %ctx, %flag64[%c0] eq %fifty_one group block : memref<2xi64>, i64
        %c3 = arith.constant 3 : index
        func.call @keep(%dst, %seen, %c3) : (memref<4x16xi32>, memref<4x16xi32>, index) -> ()
      }
      gpu.return
    }

    func.func private @keep(%dst: memref<4x16xi32>, %seen: memref<4x16xi32>, %row: index) {
      %c16 = arith.constant 16 : index
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      scf.for %i = %thread to %c16 step %threads {
        %v = memref.load %dst[%row, %i] : memref<4x16xi32>
        memref.store %v, %seen[%row, %i] : memref<4x16xi32>
      }
      return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %thousand = arith.constant 1000 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %left = arith.remui %back, %n : i32
    %mine = arith.muli %me, %thousand : i32
    %theirs = arith.muli %left, %thousand : i32
    %src = symm.alloc %ctx : memref<4x16xi32>
    %dst = symm.alloc %ctx : memref<4x16xi32>
    %seen = symm.alloc %ctx : memref<4x16xi32>
    %flag32 = symm.alloc %ctx : memref<2xi32>
    %flag64 = symm.alloc %ctx : memref<2xi64>

    // Element (i, j) of rank r is 1000 r + 16 i + j + 1.
    %host = memref.alloc() : memref<4x16xi32>
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        %line = arith.muli %i, %c16 : index
        %sum = arith.addi %line, %j : index
        %place = arith.addi %sum, %c1 : index
        %count = arith.index_cast %place : index to i32
        %v = arith.addi %mine, %count : i32
        memref.store %v, %host[%i, %j] : memref<4x16xi32>
      }
    }
    gpu.memcpy %src, %host : memref<4x16xi32>, memref<4x16xi32>
    // Flags begin at 100 and at 50, so that a set is no add.
    %hundred = arith.constant 100 : i32
    %fifty = arith.constant 50 : i64
    %start32 = memref.alloc() : memref<2xi32>
    %start64 = memref.alloc() : memref<2xi64>
    scf.for %i = %c0 to %c2 step %c1 {
      memref.store %hundred, %start32[%i] : memref<2xi32>
      memref.store %fifty, %start64[%i] : memref<2xi64>
    }
    gpu.memcpy %flag32, %start32 : memref<2xi32>, memref<2xi32>
    gpu.memcpy %flag64, %start64 : memref<2xi64>, memref<2xi64>
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@exchange blocks in (%c2, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %src : memref<4x16xi32>, %dst : memref<4x16xi32>, %seen : memref<4x16xi32>,
        %flag32 : memref<2xi32>, %flag64 : memref<2xi64>)

    gpu.memcpy %host, %seen : memref<4x16xi32>, memref<4x16xi32>
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        %line = arith.muli %i, %c16 : index
        %sum = arith.addi %line, %j : index
        %place = arith.addi %sum, %c1 : index
        %count = arith.index_cast %place : index to i32
        %want = arith.addi %theirs, %count : i32
        %v = memref.load %host[%i, %j] : memref<4x16xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "element ({}, {}) is {}, expected {}"(%i, %j, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %host : memref<4x16xi32>
    memref.dealloc %start32 : memref<2xi32>
    memref.dealloc %start64 : memref<2xi64>
    return
  }
}
