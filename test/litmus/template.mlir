@HEAD@

!places = memref<64x64xi32>
!wide = memref<64x64xi64>
!outcomes = memref<4x64x64xi32>
!row = memref<64xi32, strided<[1], offset: ?>>
!word = memref<1xi32, strided<[1], offset: ?>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rounds(%ctx: !symm.ctx, %variant: index, %e: i32, %instances: index,
                    %x: !places, %y: !places, %z: !places, %f: !places, %g: !places, %f64: !wide, %out:
                    !outcomes, %gate: memref<4x64xi32>, %done: memref<1xi32>, %src: memref<65536xi32>, %dst:
                    memref<65536xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c64 = arith.constant 64 : index
      %actors = arith.constant @ACTORS@ : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %one_wide = arith.constant 1 : i64
      %others = arith.constant @OTHERS@ : i32
      %per_epoch = arith.constant 64 : i32
      %brief = arith.constant 2000 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %e_old = arith.subi %e, %one : i32
      %e_wide = arith.extsi %e : i32 to i64
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %after = arith.addi %thread, %c1 : index
      %is_first = arith.cmpi eq, %thread, %c0 : index
      %is_last = arith.cmpi eq, %after, %threads : index

      // Actor a of an instance is on the rank a places right of the instance's home.
      %block = gpu.block_id x
      %actor = arith.remui %block, %actors : index
      %inst = arith.divui %block, %actors : index
      %place = arith.index_cast %actor : index to i32
      %cycle = arith.muli %n, %others : i32
      %up = arith.addi %me, %cycle : i32
      %down = arith.subi %up, %place : i32
      %home = arith.remui %down, %n : i32
      @RANKS@
      %acts = arith.cmpi ult, %inst, %instances : index
      scf.if %acts {
        %epochs = arith.muli %e_old, %per_epoch : i32
        scf.for %i = %c0 to %c64 step %c1 {
          // All actors of the instance begin a round at about the same time.
          %round = arith.index_cast %i : index to i32
          %before = arith.addi %epochs, %round : i32
          %count = arith.addi %before, %one : i32
          %told = arith.muli %count, %others : i32
          @GATES@
          symm.wait %ctx, %gate[%actor, %inst] ge %told group block : memref<4x64xi32>, i32
          scf.index_switch %variant
          @CASES@
          default {
          }
        }
        symm.signal add %ctx, %done[%c0], %one, %me group block : memref<1xi32>, i32
      } else {
        // Stress: bulk stores to a neighbour until all actors of this rank are done.
        %blocks = arith.muli %instances, %actors : index
        %blocks32 = arith.index_cast %blocks : index to i32
        %all = arith.muli %blocks32, %e : i32
        scf.while : () -> () {
          symm.put %ctx, %src, %dst, %right group block : memref<65536xi32>, memref<65536xi32>
          %over = symm.wait %ctx, %done[%c0] ge %all timeout %brief group block : memref<1xi32>, i32 -> i1
          %true = arith.constant true
          %again = arith.xori %over, %true : i1
          scf.condition(%again)
        } do {
          scf.yield
        }
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %rounds: i64 {symm.name = "rounds", symm.default = 128 : i64},
                  %instances: i64 {symm.name = "instances", symm.default = 2 : i64},
                  %stress: i64 {symm.name = "stress", symm.default = 1 : i64}) {
    %zero = arith.constant 0 : i32
    %none = arith.constant 0 : i64
    %me = symm.rank %ctx
    %tells = arith.cmpi eq, %me, %zero : i32
    @RUNS@
    return
  }

  // Counts the outcomes of a variant: bit k of an outcome is whether r<k> was new. Also how many rounds there were, and
  // how many values were neither this launch's (new) nor that of the one before (old): whatever the order, none is.
  func.func private @try(%ctx: !symm.ctx, %variant: index, %threads: index, %rounds: i64, %instances: i64, %stress: i64)
      -> (@COUNTS@, i64, i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %outs = arith.constant @ACTORS@ : index
    %outcomes = arith.constant @OUTCOMES@ : index
    %actors = arith.constant @ACTORS@ : i64
    %none = arith.constant 0 : i64
    %more = arith.constant 1 : i64
    %per_epoch = arith.constant 64 : i64
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %x = symm.alloc %ctx : !places
    %y = symm.alloc %ctx : !places
    %z = symm.alloc %ctx : !places
    %f = symm.alloc %ctx : !places
    %g = symm.alloc %ctx : !places
    %f64 = symm.alloc %ctx : !wide
    %out = symm.alloc %ctx : !outcomes
    %gate = symm.alloc %ctx : memref<4x64xi32>
    %done = symm.alloc %ctx : memref<1xi32>
    %src = symm.alloc %ctx : memref<65536xi32>
    %dst = symm.alloc %ctx : memref<65536xi32>
    %results = memref.alloc() : !outcomes
    %counts = memref.alloc() : @COUNTS@
    scf.for %k = %c0 to %outcomes step %c1 {
      memref.store %none, %counts[%k] : @COUNTS@
    }
    %at_once = arith.muli %instances, %per_epoch : i64
    %times = arith.ceildivui %rounds, %at_once : i64
    %epochs = arith.trunci %times : i64 to i32
    %end = arith.addi %epochs, %one : i32
    %acting = arith.muli %instances, %actors : i64
    %all = arith.addi %acting, %stress : i64
    %blocks = arith.index_cast %all : i64 to index
    %width = arith.index_cast %instances : i64 to index
    %strange = scf.for %e = %one to %end step %one iter_args(%strange_before = %none) -> (i64) : i32 {
      %e_old = arith.subi %e, %one : i32
      symm.barrier_all %ctx
      gpu.launch_func @kernels::@rounds blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%ctx : !symm.ctx, %variant : index, %e : i32, %width : index,
             %x : !places, %y : !places, %z : !places, %f : !places, %g : !places, %f64 : !wide, %out :
             !outcomes, %gate : memref<4x64xi32>, %done : memref<1xi32>, %src : memref<65536xi32>, %dst
             : memref<65536xi32>)
      symm.barrier_all %ctx
      gpu.memcpy %results, %out : !outcomes, !outcomes
      %strange_now = scf.for %inst = %c0 to %width step %c1 iter_args(%s0 = %strange_before) -> (i64) {
        %s1 = scf.for %i = %c0 to %c64 step %c1 iter_args(%s2 = %s0) -> (i64) {
          %outcome, %s3 = scf.for %k = %c0 to %outs step %c1 iter_args(%bits = %c0, %s4 = %s2) -> (index, i64) {
            %r = memref.load %results[%k, %inst, %i] : !outcomes
            %is_new = arith.cmpi eq, %r, %e : i32
            %bit = arith.shli %c1, %k : index
            %with = arith.ori %bits, %bit : index
            %next = arith.select %is_new, %with, %bits : index
            %is_old = arith.cmpi eq, %r, %e_old : i32
            %is_known = arith.ori %is_new, %is_old : i1
            %s5 = arith.addi %s4, %more : i64
            %s6 = arith.select %is_known, %s4, %s5 : i64
            scf.yield %next, %s6 : index, i64
          }
          %count = memref.load %counts[%outcome] : @COUNTS@
          %plus = arith.addi %count, %more : i64
          memref.store %plus, %counts[%outcome] : @COUNTS@
          scf.yield %s3 : i64
        }
        scf.yield %s1 : i64
      }
      scf.yield %strange_now : i64
    }
    %is_rank_0 = arith.cmpi eq, %me, %zero : i32
    scf.if %is_rank_0 {
      @HISTOGRAM@
    }
    %done_rounds = arith.muli %times, %at_once : i64
    symm.free %ctx, %dst : memref<65536xi32>
    symm.free %ctx, %src : memref<65536xi32>
    symm.free %ctx, %done : memref<1xi32>
    symm.free %ctx, %gate : memref<4x64xi32>
    symm.free %ctx, %out : !outcomes
    symm.free %ctx, %f64 : !wide
    symm.free %ctx, %g : !places
    symm.free %ctx, %f : !places
    symm.free %ctx, %z : !places
    symm.free %ctx, %y : !places
    symm.free %ctx, %x : !places
    memref.dealloc %results : !outcomes
    return %counts, %done_rounds, %strange : @COUNTS@, i64, i64
  }
}
