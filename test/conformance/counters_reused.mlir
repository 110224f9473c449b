// RUN: %run-all
// Protocol: flags that are never reset. In 20 launches of 10 rounds all ranks exchange a word with all others, and say
// so with the number of the round; the count goes on through all launches, and begins at -100, below zero (O6).

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // told[r] and read[r] are the last round of which rank r has told, and that it has read.
    gpu.func @rounds(%ctx: !symm.ctx, %words: memref<?xi64>, %told: memref<?xi32>, %read: memref<?xi32>,
                     %wrong: memref<1xi32>, %start: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %ten = arith.constant 10 : i32
      %thousand = arith.constant 1000 : i64
      %me32 = symm.rank %ctx
      %n32 = symm.num_ranks %ctx
      %me = arith.index_cast %me32 : i32 to index
      %n = arith.index_cast %n32 : i32 to index
      %rank = arith.extsi %me32 : i32 to i64
      %mine = arith.muli %rank, %thousand : i64
      %thread = gpu.thread_id x
      %is_first = arith.cmpi eq, %thread, %c0 : index
      %end = arith.addi %start, %ten : i32
      %errors = scf.for %round = %start to %end step %one iter_args(%sum = %zero) -> i32 : i32 {
        %last = arith.subi %round, %one : i32
        %wide = arith.extsi %round : i32 to i64
        %v = arith.addi %mine, %wide : i64
        scf.for %p = %c0 to %n step %c1 {
          %peer = arith.index_cast %p : index to i32
          symm.wait %ctx, %read[%p] ge %last group block : memref<?xi32>, i32
          symm.remote_store %ctx, %words[%me], %v, %peer : memref<?xi64>, i64
          symm.signal set %ctx, %told[%me], %round, %peer group block : memref<?xi32>, i32
        }
        %found = scf.for %p = %c0 to %n step %c1 iter_args(%count = %sum) -> i32 {
          symm.wait %ctx, %told[%p] ge %round group block : memref<?xi32>, i32
          %got = memref.load %words[%p] : memref<?xi64>
          %place = arith.index_cast %p : index to i64
          %theirs = arith.muli %place, %thousand : i64
          %want = arith.addi %theirs, %wide : i64
          %differs = arith.cmpi ne, %got, %want : i64
          %error = arith.extui %differs : i1 to i32
          %count_next = arith.addi %count, %error : i32
          %peer = arith.index_cast %p : index to i32
          symm.signal set %ctx, %read[%me], %round, %peer group block : memref<?xi32>, i32
          scf.yield %count_next : i32
        }
        scf.yield %found : i32
      }
      scf.if %is_first {
        %before = memref.load %wrong[%c0] : memref<1xi32>
        %after = arith.addi %before, %errors : i32
        memref.store %after, %wrong[%c0] : memref<1xi32>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0 : i32
    %ten = arith.constant 10 : i32
    %first = arith.constant -100 : i32
    %end = arith.constant 100 : i32
    %before = arith.constant -101 : i32
    %last = arith.constant 99 : i32
    %n32 = symm.num_ranks %ctx
    %n = arith.index_cast %n32 : i32 to index
    %words = symm.alloc %ctx(%n) : memref<?xi64>
    %told = symm.alloc %ctx(%n) : memref<?xi32>
    %read = symm.alloc %ctx(%n) : memref<?xi32>
    %wrong = symm.alloc %ctx : memref<1xi32>
    %host = memref.alloc(%n) : memref<?xi32>
    scf.for %p = %c0 to %n step %c1 {
      memref.store %before, %host[%p] : memref<?xi32>
    }
    gpu.memcpy %told, %host : memref<?xi32>, memref<?xi32>
    gpu.memcpy %read, %host : memref<?xi32>, memref<?xi32>
    symm.barrier_all %ctx
    scf.for %start = %first to %end step %ten : i32 {
      gpu.launch_func @kernels::@rounds blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%ctx : !symm.ctx, %words : memref<?xi64>, %told : memref<?xi32>, %read : memref<?xi32>,
          %wrong : memref<1xi32>, %start : i32)
    }

    %got = memref.alloc() : memref<1xi32>
    gpu.memcpy %got, %wrong : memref<1xi32>, memref<1xi32>
    %errors = memref.load %got[%c0] : memref<1xi32>
    %none = arith.cmpi eq, %errors, %zero : i32
    symm.check %none, "{} words are of another round or rank"(%errors) : i32
    gpu.memcpy %host, %told : memref<?xi32>, memref<?xi32>
    scf.for %p = %c0 to %n step %c1 {
      %round = memref.load %host[%p] : memref<?xi32>
      %done = arith.cmpi eq, %round, %last : i32
      symm.check %done, "rank {} has told of round {}, expected 99"(%p, %round) : index, i32
    }
    memref.dealloc %got : memref<1xi32>
    memref.dealloc %host : memref<?xi32>
    return
  }
}
