// RUN: %run-all
// symm.fence: relaxed signals and waits carry data if a release fence comes before the one and an acquire fence after
// the other. Two threads of each rank pass 100 messages; the slot is free again when the sender hears so.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Block 0 sends to the right neighbour, block 1 receives from the left one. sum = the sum of what came.
    gpu.func @pass(%ctx: !symm.ctx, %slot: memref<2xi64>, %full: memref<1xi32>, %free: memref<1xi32>,
                   %sum: memref<2xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %hundred_one = arith.constant 101 : i32
      %thousand = arith.constant 1000 : i64
      %none = arith.constant 0 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %before = arith.subi %n, %one : i32
      %back = arith.addi %me, %before : i32
      %left = arith.remui %back, %n : i32
      %rank = arith.extsi %me : i32 to i64
      %mine = arith.muli %rank, %thousand : i64
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %sends = arith.cmpi eq, %block, %c0 : index
      %is_first = arith.cmpi eq, %thread, %c0 : index
      scf.if %is_first {
        scf.if %sends {
          scf.for %round = %one to %hundred_one step %one : i32 {
            %last = arith.subi %round, %one : i32
            symm.wait %ctx, %free[%c0] ge %last sem relaxed : memref<1xi32>, i32
            symm.fence
            %count = arith.extsi %round : i32 to i64
            %a = arith.addi %mine, %count : i64
            %b = arith.muli %a, %a : i64
            symm.remote_store %ctx, %slot[%c0], %a, %right : memref<2xi64>, i64
            symm.remote_store %ctx, %slot[%c1], %b, %right : memref<2xi64>, i64
            symm.fence sem release
            symm.signal set %ctx, %full[%c0], %round, %right sem relaxed : memref<1xi32>, i32
          }
        } else {
          %sums:2 = scf.for %round = %one to %hundred_one step %one iter_args(%s = %none, %t = %none)
              -> (i64, i64) : i32 {
            symm.wait %ctx, %full[%c0] ge %round sem relaxed : memref<1xi32>, i32
            symm.fence sem acquire
            %a = memref.load %slot[%c0] : memref<2xi64>
            %b = memref.load %slot[%c1] : memref<2xi64>
            symm.fence
            symm.signal set %ctx, %free[%c0], %round, %left sem relaxed : memref<1xi32>, i32
            %s_next = arith.addi %s, %a : i64
            %t_next = arith.addi %t, %b : i64
            scf.yield %s_next, %t_next : i64, i64
          }
          memref.store %sums#0, %sum[%c0] : memref<2xi64>
          memref.store %sums#1, %sum[%c1] : memref<2xi64>
        }
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1 : i32
    %none = arith.constant 0 : i64
    %first = arith.constant 1 : i64
    %last = arith.constant 101 : i64
    %thousand = arith.constant 1000 : i64
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %before = arith.subi %n, %one : i32
    %back = arith.addi %me, %before : i32
    %left = arith.remui %back, %n : i32
    %rank = arith.extsi %left : i32 to i64
    %theirs = arith.muli %rank, %thousand : i64
    %slot = symm.alloc %ctx : memref<2xi64>
    %full = symm.alloc %ctx : memref<1xi32>
    %free = symm.alloc %ctx : memref<1xi32>
    %sum = symm.alloc %ctx : memref<2xi64>
    gpu.launch_func @kernels::@pass blocks in (%c2, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %slot : memref<2xi64>, %full : memref<1xi32>, %free : memref<1xi32>, %sum : memref<2xi64>)

    %want:2 = scf.for %round = %first to %last step %first iter_args(%s = %none, %t = %none) -> (i64, i64) : i64 {
      %a = arith.addi %theirs, %round : i64
      %b = arith.muli %a, %a : i64
      %s_next = arith.addi %s, %a : i64
      %t_next = arith.addi %t, %b : i64
      scf.yield %s_next, %t_next : i64, i64
    }
    %got = memref.alloc() : memref<2xi64>
    gpu.memcpy %got, %sum : memref<2xi64>, memref<2xi64>
    %s = memref.load %got[%c0] : memref<2xi64>
    %same = arith.cmpi eq, %s, %want#0 : i64
    symm.check %same, "sum of messages is {}, expected {}"(%s, %want#0) : i64, i64
    %t = memref.load %got[%c1] : memref<2xi64>
    %same_squares = arith.cmpi eq, %t, %want#1 : i64
    symm.check %same_squares, "sum of squares is {}, expected {}"(%t, %want#1) : i64, i64
    memref.dealloc %got : memref<2xi64>
    return
  }
}
