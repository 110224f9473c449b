// RUN: %run-all
// Protocol: ping-pong. Block 0 of each rank pings its right neighbour and waits for the answer, 1000 times; block 1
// answers the left neighbour's. Each answer carries what the ping carried, plus one.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // ball = [what came with the ping, what came with the pong]; rounds = [pings seen, pongs seen].
    gpu.func @play(%ctx: !symm.ctx, %ball: memref<2xi64>, %rounds: memref<2xi64>, %wrong: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %first = arith.constant 1 : i64
      %end = arith.constant 1001 : i64
      %none = arith.constant 0 : i32
      %million = arith.constant 1000000 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %before = arith.subi %n, %one : i32
      %back = arith.addi %me, %before : i32
      %left = arith.remui %back, %n : i32
      %rank = arith.extsi %me : i32 to i64
      %mine = arith.muli %rank, %million : i64
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %serves = arith.cmpi eq, %block, %c0 : index
      %is_first = arith.cmpi eq, %thread, %c0 : index
      scf.if %is_first {
        scf.if %serves {
          %errors = scf.for %round = %first to %end step %first iter_args(%count = %none) -> i32 : i64 {
            %v = arith.addi %mine, %round : i64
            symm.remote_store %ctx, %ball[%c0], %v, %right : memref<2xi64>, i64
            symm.signal set %ctx, %rounds[%c0], %round, %right : memref<2xi64>, i64
            symm.wait %ctx, %rounds[%c1] eq %round : memref<2xi64>, i64
            %got = memref.load %ball[%c1] : memref<2xi64>
            %want = arith.addi %v, %first : i64
            %differs = arith.cmpi ne, %got, %want : i64
            %error = arith.extui %differs : i1 to i32
            %count_next = arith.addi %count, %error : i32
            scf.yield %count_next : i32
          }
          memref.store %errors, %wrong[%c0] : memref<1xi32>
        } else {
          scf.for %round = %first to %end step %first : i64 {
            symm.wait %ctx, %rounds[%c0] eq %round : memref<2xi64>, i64
            %v = memref.load %ball[%c0] : memref<2xi64>
            %answer = arith.addi %v, %first : i64
            symm.remote_store %ctx, %ball[%c1], %answer, %left : memref<2xi64>, i64
            symm.signal set %ctx, %rounds[%c1], %round, %left : memref<2xi64>, i64
          }
        }
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %thousand = arith.constant 1000 : i64
    %ball = symm.alloc %ctx : memref<2xi64>
    %rounds = symm.alloc %ctx : memref<2xi64>
    %wrong = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@play blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %ball : memref<2xi64>, %rounds : memref<2xi64>, %wrong : memref<1xi32>)

    %got = memref.alloc() : memref<1xi32>
    gpu.memcpy %got, %wrong : memref<1xi32>, memref<1xi32>
    %errors = memref.load %got[%c0] : memref<1xi32>
    %none = arith.cmpi eq, %errors, %zero : i32
    symm.check %none, "{} answers are wrong"(%errors) : i32
    memref.dealloc %got : memref<1xi32>
    %seen = memref.alloc() : memref<2xi64>
    gpu.memcpy %seen, %rounds : memref<2xi64>, memref<2xi64>
    scf.for %i = %c0 to %c2 step %c1 {
      %count = memref.load %seen[%i] : memref<2xi64>
      %all = arith.cmpi eq, %count, %thousand : i64
      symm.check %all, "counter {} is {}, expected 1000"(%i, %count) : index, i64
    }
    memref.dealloc %seen : memref<2xi64>
    return
  }
}
