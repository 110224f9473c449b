// RUN: %run-all
// symm.atomic_cas: a lock at rank 0 that protects plain counters from all blocks of all ranks, the largest of what all
// offer, and a masked one that does nothing.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // One thread of a block takes part: a lock is for threads that can wait for each other.
    gpu.func @count(%ctx: !symm.ctx, %lock: memref<1xi32>, %counters: memref<2xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c10 = arith.constant 10 : index
      %free = arith.constant 0 : i32
      %taken = arith.constant 1 : i32
      %zero = arith.constant 0 : i32
      %step = arith.constant 1 : i64
      %two = arith.constant 2 : i64
      %thread = gpu.thread_id x
      %is_first = arith.cmpi eq, %thread, %c0 : index
      scf.if %is_first {
        scf.for %i = %c0 to %c10 step %c1 {
          scf.while : () -> () {
            %was = symm.atomic_cas %ctx, %lock[%c0], %free, %taken, %zero : memref<1xi32>, i32
            %busy = arith.cmpi ne, %was, %free : i32
            scf.condition(%busy)
          } do {
            scf.yield
          }
          %a = symm.remote_load %ctx, %counters[%c0], %zero : memref<2xi64> -> i64
          %b = symm.remote_load %ctx, %counters[%c1], %zero : memref<2xi64> -> i64
          %a_next = arith.addi %a, %step : i64
          %b_next = arith.addi %b, %two : i64
          symm.remote_store %ctx, %counters[%c0], %a_next, %zero : memref<2xi64>, i64
          symm.remote_store %ctx, %counters[%c1], %b_next, %zero : memref<2xi64>, i64
          symm.signal set %ctx, %lock[%c0], %free, %zero : memref<1xi32>, i32
        }
      }
      gpu.return
    }

    // largest = the largest of all offers 100 rank + i, on every rank.
    gpu.func @offer(%ctx: !symm.ctx, %largest: memref<1xi64>) kernel {
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %none = arith.constant 0 : i64
      %million = arith.constant 1000000 : i64
      %hundred = arith.constant 100 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %never = arith.cmpi uge, %me, %n : i32
      %rank = arith.extsi %me : i32 to i64
      %mine = arith.muli %rank, %hundred : i64
      %first = gpu.global_id x
      %blocks = gpu.grid_dim x
      %threads = gpu.block_dim x
      %all = arith.muli %blocks, %threads : index
      scf.for %i = %first to %c64 step %all {
        %count = arith.index_cast %i : index to i64
        %offer = arith.addi %mine, %count : i64
        scf.for %peer = %zero to %n step %one : i32 {
          %last = scf.while (%expected = %none) : (i64) -> i64 {
            %was = symm.atomic_cas %ctx, %largest[%c0], %expected, %offer, %peer sem relaxed : memref<1xi64>, i64
            %lost = arith.cmpi ne, %was, %expected : i64
            %smaller = arith.cmpi slt, %was, %offer : i64
            %again = arith.andi %lost, %smaller : i1
            scf.condition(%again) %was : i64
          } do {
          ^bb0(%was: i64):
            scf.yield %was : i64
          }
        }
        %unused = symm.atomic_cas %ctx, %largest[%c0], %none, %million, %n mask %never : i1 : memref<1xi64>, i64
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0 : i32
    %two = arith.constant 2 : i64
    %forty = arith.constant 40 : i64
    %hundred = arith.constant 100 : i64
    %thirty_seven = arith.constant 37 : i64
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %ranks = arith.extsi %n : i32 to i64
    %lock = symm.alloc %ctx : memref<1xi32>
    %counters = symm.alloc %ctx : memref<2xi64>
    %largest = symm.alloc %ctx : memref<1xi64>
    gpu.launch_func @kernels::@count blocks in (%c4, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %lock : memref<1xi32>, %counters : memref<2xi64>)
    gpu.launch_func @kernels::@offer blocks in (%c4, %c1, %c1) threads in (%c8, %c1, %c1)
      args(%ctx : !symm.ctx, %largest : memref<1xi64>)
    symm.barrier_all %ctx

    %is_zero = arith.cmpi eq, %me, %zero : i32
    scf.if %is_zero {
      // 4 blocks of each rank, 10 times each.
      %times = arith.muli %ranks, %forty : i64
      %twice = arith.muli %times, %two : i64
      %got = memref.alloc() : memref<2xi64>
      gpu.memcpy %got, %counters : memref<2xi64>, memref<2xi64>
      %a = memref.load %got[%c0] : memref<2xi64>
      %same_a = arith.cmpi eq, %a, %times : i64
      symm.check %same_a, "counter 0 is {}, expected {}"(%a, %times) : i64, i64
      %b = memref.load %got[%c1] : memref<2xi64>
      %same_b = arith.cmpi eq, %b, %twice : i64
      symm.check %same_b, "counter 1 is {}, expected {}"(%b, %twice) : i64, i64
      memref.dealloc %got : memref<2xi64>
    }

    // The last rank offers 100 (n - 1) + 63.
    %bound = arith.muli %ranks, %hundred : i64
    %want = arith.subi %bound, %thirty_seven : i64
    %offer = memref.alloc() : memref<1xi64>
    gpu.memcpy %offer, %largest : memref<1xi64>, memref<1xi64>
    %v = memref.load %offer[%c0] : memref<1xi64>
    %same = arith.cmpi eq, %v, %want : i64
    symm.check %same, "the largest offer is {}, expected {}"(%v, %want) : i64, i64
    memref.dealloc %offer : memref<1xi64>
    return
  }
}
