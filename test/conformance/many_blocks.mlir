// RUN: %run-all
// Protocol: 64 blocks on every rank, many more than a laptop has cores, wait for each other in one chain, three times
// around. The token goes from a block to the same block of the next rank, and from the last rank to the next block of
// rank 0; everyone who holds it adds one to what it says.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // token[b] and turn[b] belong to block b; the end of the chain, place 64, is on rank 0.
    gpu.func @pass(%ctx: !symm.ctx, %token: memref<65xi64>, %turn: memref<65xi32>, %lap: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %more = arith.constant 1 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %block = gpu.block_id x
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %is_last = arith.cmpi eq, %next, %n : i32
      %block_next = arith.addi %block, %c1 : index
      %place = arith.select %is_last, %block_next, %block : index

      // Block 0 of rank 0 has the token.
      %is_rank_0 = arith.cmpi eq, %me, %zero : i32
      %is_block_0 = arith.cmpi eq, %block, %c0 : index
      %starts = arith.andi %is_rank_0, %is_block_0 : i1
      scf.if %starts {
      } else {
        symm.wait %ctx, %turn[%block] eq %lap group block : memref<65xi32>, i32
      }
      %v = memref.load %token[%block] : memref<65xi64>
      %w = arith.addi %v, %more : i64
      symm.remote_store %ctx, %token[%place], %w, %right : memref<65xi64>, i64
      symm.signal set %ctx, %turn[%place], %lap, %right group block : memref<65xi32>, i32
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %four = arith.constant 4 : i32
    %blocks = arith.constant 64 : i64
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %ranks = arith.extsi %n : i32 to i64
    %hops = arith.muli %ranks, %blocks : i64
    %token = symm.alloc %ctx : memref<65xi64>
    %turn = symm.alloc %ctx : memref<65xi32>
    %got = memref.alloc() : memref<65xi64>
    scf.for %lap = %one to %four step %one : i32 {
      gpu.launch_func @kernels::@pass blocks in (%c64, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%ctx : !symm.ctx, %token : memref<65xi64>, %turn : memref<65xi32>, %lap : i32)
      symm.barrier_all %ctx
      %is_rank_0 = arith.cmpi eq, %me, %zero : i32
      scf.if %is_rank_0 {
        gpu.memcpy %got, %token : memref<65xi64>, memref<65xi64>
        %v = memref.load %got[%c64] : memref<65xi64>
        %same = arith.cmpi eq, %v, %hops : i64
        symm.check %same, "lap {}: the token says {}, expected {}"(%lap, %v, %hops) : i32, i64, i64
      }
    }
    memref.dealloc %got : memref<65xi64>
    return
  }
}
