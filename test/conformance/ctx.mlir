// RUN: %run-all
// symm.ctx: a context from a pointer to a table, and one from its parts, lead to the same ranks as the one handed in.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // table = [rank, num_ranks, base_0 …], complete before the kernel that uses it begins (T3).
    gpu.func @write_table(%ctx: !symm.ctx, %table: memref<?xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %ranks = arith.index_cast %n : i32 to index
      %rank_word = arith.extsi %me : i32 to i64
      %ranks_word = arith.extsi %n : i32 to i64
      memref.store %rank_word, %table[%c0] : memref<?xi64>
      memref.store %ranks_word, %table[%c1] : memref<?xi64>
      scf.for %i = %c0 to %ranks step %c1 {
        %rank = arith.index_cast %i : index to i32
        %base = symm.heap_base %ctx, %rank : !llvm.ptr
        %word = llvm.ptrtoint %base : !llvm.ptr to i64
        %place = arith.addi %i, %c2 : index
        memref.store %word, %table[%place] : memref<?xi64>
      }
      gpu.return
    }

    // seen = [rank, num_ranks, left neighbour] of the context from a table, then of the one from parts.
    gpu.func @use_table(%ctx: !symm.ctx, %table: memref<?xi64>, %seen: memref<2x3xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %index = memref.extract_aligned_pointer_as_index %table : memref<?xi64> -> index
      %address = arith.index_cast %index : index to i64
      %words = llvm.inttoptr %address : i64 to !llvm.ptr
      %bases = llvm.getelementptr %words[16] : (!llvm.ptr) -> !llvm.ptr, i8
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx

      %from_table = symm.ctx %words : !llvm.ptr
      func.call @visit(%from_table, %seen) : (!symm.ctx, memref<2x3xi32>) -> ()

      %from_parts = symm.ctx %bases rank %me of %n : !llvm.ptr
      %rank = symm.rank %from_parts
      %ranks = symm.num_ranks %from_parts
      memref.store %rank, %seen[%c1, %c0] : memref<2x3xi32>
      memref.store %ranks, %seen[%c1, %c1] : memref<2x3xi32>
      %next = arith.addi %rank, %one : i32
      %right = arith.remui %next, %ranks : i32
      %c2 = arith.constant 2 : index
      symm.remote_store %from_parts, %seen[%c1, %c2], %rank, %right : memref<2x3xi32>, i32
      gpu.return
    }

    func.func private @visit(%ctx: !symm.ctx, %seen: memref<2x3xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %one = arith.constant 1 : i32
      %rank = symm.rank %ctx
      %ranks = symm.num_ranks %ctx
      memref.store %rank, %seen[%c0, %c0] : memref<2x3xi32>
      memref.store %ranks, %seen[%c0, %c1] : memref<2x3xi32>
      %next = arith.addi %rank, %one : i32
      %right = arith.remui %next, %ranks : i32
      symm.remote_store %ctx, %seen[%c0, %c2], %rank, %right : memref<2x3xi32>, i32
      return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %words = arith.addi %ranks, %c2 : index
    %table = symm.alloc %ctx(%words) : memref<?xi64>
    %seen = symm.alloc %ctx : memref<2x3xi32>
    gpu.launch_func @kernels::@write_table blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %table : memref<?xi64>)
    gpu.launch_func @kernels::@use_table blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %table : memref<?xi64>, %seen : memref<2x3xi32>)
    symm.barrier_all %ctx

    %got = memref.alloc() : memref<2x3xi32>
    gpu.memcpy %got, %seen : memref<2x3xi32>, memref<2x3xi32>
    %before = arith.subi %n, %one : i32
    %sum = arith.addi %me, %before : i32
    %left = arith.remui %sum, %n : i32
    scf.for %i = %c0 to %c2 step %c1 {
      %rank = memref.load %got[%i, %c0] : memref<2x3xi32>
      %same_rank = arith.cmpi eq, %rank, %me : i32
      symm.check %same_rank, "context {}: rank {}, expected {}"(%i, %rank, %me) : index, i32, i32
      %of = memref.load %got[%i, %c1] : memref<2x3xi32>
      %same_ranks = arith.cmpi eq, %of, %n : i32
      symm.check %same_ranks, "context {}: {} ranks, expected {}"(%i, %of, %n) : index, i32, i32
      %from = memref.load %got[%i, %c2] : memref<2x3xi32>
      %same_left = arith.cmpi eq, %from, %left : i32
      symm.check %same_left, "context {}: rank {} wrote here, expected {}"(%i, %from, %left) : index, i32, i32
    }
    memref.dealloc %got : memref<2x3xi32>
    return
  }
}
