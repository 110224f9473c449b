// RUN: %run-all
// Protocol: all-gather by pulling. Every rank raises a counter on all ranks when its shard is ready, waits until its
// own counter says that all are, and gets their shards; a second counter tells everyone when all have read.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // counters = [shards that are ready, ranks that have read them], raised by one block of each rank.
    gpu.func @gather(%ctx: !symm.ctx, %shard: memref<100xi32>, %all: memref<?x100xi32>,
                     %counters: memref<2xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c100 = arith.constant 100 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %thousand = arith.constant 1000 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %mine = arith.muli %me, %thousand : i32
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x

      // Element i of rank r's shard is 1000 r + i.
      scf.for %i = %thread to %c100 step %threads {
        %count = arith.index_cast %i : index to i32
        %v = arith.addi %mine, %count : i32
        memref.store %v, %shard[%i] : memref<100xi32>
      }
      scf.for %peer = %zero to %n step %one : i32 {
        symm.signal add %ctx, %counters[%c0], %one, %peer group block : memref<2xi32>, i32
      }
      symm.wait %ctx, %counters[%c0] ge %n group block : memref<2xi32>, i32
      scf.for %peer = %zero to %n step %one : i32 {
        %row = arith.index_cast %peer : i32 to index
        %dst = memref.subview %all[%row, 0] [1, 100] [1, 1]
          : memref<?x100xi32> to memref<100xi32, strided<[1], offset: ?>>
        symm.get %ctx, %shard, %dst, %peer group block : memref<100xi32>, memref<100xi32, strided<[1], offset: ?>>
      }
      scf.for %peer = %zero to %n step %one : i32 {
        symm.signal add %ctx, %counters[%c1], %one, %peer group block : memref<2xi32>, i32
      }
      symm.wait %ctx, %counters[%c1] ge %n group block : memref<2xi32>, i32

      // Nobody reads it any more.
      scf.for %i = %thread to %c100 step %threads {
        memref.store %one, %shard[%i] : memref<100xi32>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    %thousand = arith.constant 1000 : i32
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    %shard = symm.alloc %ctx : memref<100xi32>
    %all = symm.alloc %ctx(%ranks) : memref<?x100xi32>
    %counters = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@gather blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %shard : memref<100xi32>, %all : memref<?x100xi32>, %counters : memref<2xi32>)

    %got = memref.alloc(%ranks) : memref<?x100xi32>
    gpu.memcpy %got, %all : memref<?x100xi32>, memref<?x100xi32>
    scf.for %r = %c0 to %ranks step %c1 {
      %rank = arith.index_cast %r : index to i32
      %theirs = arith.muli %rank, %thousand : i32
      scf.for %i = %c0 to %c100 step %c1 {
        %count = arith.index_cast %i : index to i32
        %want = arith.addi %theirs, %count : i32
        %v = memref.load %got[%r, %i] : memref<?x100xi32>
        %same = arith.cmpi eq, %v, %want : i32
        symm.check %same, "element {} of rank {} is {}, expected {}"(%i, %r, %v, %want) : index, index, i32, i32
      }
    }
    memref.dealloc %got : memref<?x100xi32>
    return
  }
}
