// RUN: %run-all
// symm.barrier: 50 rounds in 4 blocks of every rank. In each a block writes the round to its place on every rank; after
// the barrier it finds this round's number from all of them, and a second barrier keeps it there until it has looked.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // board[block, rank]; wrong[block] counts the places that held something else.
    gpu.func @rounds(%ctx: !symm.ctx, %board: memref<4x?xi32>, %wrong: memref<4xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %fifty = arith.constant 50 : i32
      %thousand = arith.constant 1000 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %ranks = arith.index_cast %n : i32 to index
      %place = arith.index_cast %me : i32 to index
      %mine = arith.muli %me, %thousand : i32
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %is_first = arith.cmpi eq, %thread, %c0 : index
      %total = scf.for %round = %zero to %fifty step %one iter_args(%sum = %zero) -> i32 : i32 {
        %v = arith.addi %mine, %round : i32
        scf.for %peer = %zero to %n step %one : i32 {
          symm.remote_store %ctx, %board[%block, %place], %v, %peer : memref<4x?xi32>, i32
        }
        symm.barrier %ctx group block
        %errors = scf.for %r = %c0 to %ranks step %c1 iter_args(%count = %zero) -> i32 {
          %got = memref.load %board[%block, %r] : memref<4x?xi32>
          %rank = arith.index_cast %r : index to i32
          %theirs = arith.muli %rank, %thousand : i32
          %want = arith.addi %theirs, %round : i32
          %differs = arith.cmpi ne, %got, %want : i32
          %error = arith.extui %differs : i1 to i32
          %next = arith.addi %count, %error : i32
          scf.yield %next : i32
        }
        // The second one by one thread for its block.
        gpu.barrier
        scf.if %is_first {
          symm.barrier %ctx
        }
        gpu.barrier
        %next = arith.addi %sum, %errors : i32
        scf.yield %next : i32
      }
      memref.store %total, %wrong[%block] : memref<4xi32>
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0 : i32
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %board = symm.alloc %ctx(%ranks) : memref<4x?xi32>
    %wrong = symm.alloc %ctx : memref<4xi32>
    %got = memref.alloc() : memref<4xi32>
    // Twice, so that a launch goes on where the one before it ended.
    scf.for %launch = %c0 to %c2 step %c1 {
      gpu.launch_func @kernels::@rounds blocks in (%c4, %c1, %c1) threads in (%c8, %c1, %c1)
        args(%ctx : !symm.ctx, %board : memref<4x?xi32>, %wrong : memref<4xi32>)
      gpu.memcpy %got, %wrong : memref<4xi32>, memref<4xi32>
      scf.for %block = %c0 to %c4 step %c1 {
        %v = memref.load %got[%block] : memref<4xi32>
        %none = arith.cmpi eq, %v, %zero : i32
        symm.check %none, "launch {}: block {} saw {} wrong rounds"(%launch, %block, %v) : index, index, i32
      }
    }
    memref.dealloc %got : memref<4xi32>
    return
  }
}
