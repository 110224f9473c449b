// RUN: %run-all
// RANKS: 2 4
// Load buffering (LB) as in lb.mlir, with order missing on one side or both: counts how often the outcome shows that
// is forbidden there, and never fails. Whether it shows depends on the hardware.
// README.md: rounds, instances, stress, and how the outcomes are printed.

!places = memref<64x64xi32>
!wide = memref<64x64xi64>
!outcomes = memref<4x64x64xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rounds(%ctx: !symm.ctx, %variant: index, %e: i32, %instances: index,
                    %x: !places, %y: !places, %z: !places, %f: !places, %g: !places, %f64: !wide, %out:
                    !outcomes, %gate: memref<4x64xi32>, %done: memref<1xi32>, %src: memref<65536xi32>, %dst:
                    memref<65536xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %actors = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %others = arith.constant 1 : i32
      %per_epoch = arith.constant 64 : i32
      %brief = arith.constant 2000 : i64
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %next = arith.addi %me, %one : i32
      %right = arith.remui %next, %n : i32
      %e_old = arith.subi %e, %one : i32
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %is_first = arith.cmpi eq, %thread, %c0 : index

      // Actor a of an instance is on the rank a places right of the instance's home.
      %block = gpu.block_id x
      %actor = arith.remui %block, %actors : index
      %inst = arith.divui %block, %actors : index
      %place = arith.index_cast %actor : index to i32
      %cycle = arith.muli %n, %others : i32
      %up = arith.addi %me, %cycle : i32
      %down = arith.subi %up, %place : i32
      %home = arith.remui %down, %n : i32
      %h1 = arith.addi %home, %one : i32
      %r1 = arith.remui %h1, %n : i32
      %acts = arith.cmpi ult, %inst, %instances : index
      scf.if %acts {
        %epochs = arith.muli %e_old, %per_epoch : i32
        scf.for %i = %c0 to %c64 step %c1 {
          // All actors of the instance begin a round at about the same time.
          %round = arith.index_cast %i : index to i32
          %before = arith.addi %epochs, %round : i32
          %count = arith.addi %before, %one : i32
          %told = arith.muli %count, %others : i32
          %is_0 = arith.cmpi ne, %actor, %c0 : index
          scf.if %is_0 {
            symm.signal add %ctx, %gate[%c0, %inst], %one, %home group block : memref<4x64xi32>, i32
          }
          %is_1 = arith.cmpi ne, %actor, %c1 : index
          scf.if %is_1 {
            symm.signal add %ctx, %gate[%c1, %inst], %one, %r1 group block : memref<4x64xi32>, i32
          }
          symm.wait %ctx, %gate[%actor, %inst] ge %told group block : memref<4x64xi32>, i32
          scf.index_switch %variant
          // volatile
          case 0 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_first {
                %v = symm.remote_load %ctx, %x[%inst, %i], %home volatile : !places -> i32
                symm.remote_store %ctx, %e, %y[%inst, %i], %r1 volatile : i32, !places
                symm.remote_store %ctx, %v, %out[%c0, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            case 1 {
              scf.if %is_first {
                %v = symm.remote_load %ctx, %y[%inst, %i], %r1 volatile : !places -> i32
                symm.remote_store %ctx, %e, %x[%inst, %i], %home volatile : i32, !places
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // relaxed atomics
          case 1 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_first {
                %v = symm.atomic_rmw add %ctx, %x[%inst, %i], %zero, %home sem relaxed : !places, i32
                %old_y = symm.atomic_rmw xchg %ctx, %y[%inst, %i], %e, %r1 sem relaxed : !places, i32
                symm.remote_store %ctx, %v, %out[%c0, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            case 1 {
              scf.if %is_first {
                %v = symm.atomic_rmw add %ctx, %y[%inst, %i], %zero, %r1 sem relaxed : !places, i32
                %old_x = symm.atomic_rmw xchg %ctx, %x[%inst, %i], %e, %home sem relaxed : !places, i32
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // relaxed reads, atomic_rmw release
          case 2 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_first {
                %v = symm.atomic_rmw add %ctx, %x[%inst, %i], %zero, %home sem relaxed : !places, i32
                %old_y = symm.atomic_rmw xchg %ctx, %y[%inst, %i], %e, %r1 sem release : !places, i32
                symm.remote_store %ctx, %v, %out[%c0, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            case 1 {
              scf.if %is_first {
                %v = symm.atomic_rmw add %ctx, %y[%inst, %i], %zero, %r1 sem relaxed : !places, i32
                %old_x = symm.atomic_rmw xchg %ctx, %x[%inst, %i], %e, %home sem release : !places, i32
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // atomic_rmw acquire, relaxed writes
          case 3 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_first {
                %v = symm.atomic_rmw add %ctx, %x[%inst, %i], %zero, %home sem acquire : !places, i32
                %old_y = symm.atomic_rmw xchg %ctx, %y[%inst, %i], %e, %r1 sem relaxed : !places, i32
                symm.remote_store %ctx, %v, %out[%c0, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            case 1 {
              scf.if %is_first {
                %v = symm.atomic_rmw add %ctx, %y[%inst, %i], %zero, %r1 sem acquire : !places, i32
                %old_x = symm.atomic_rmw xchg %ctx, %x[%inst, %i], %e, %home sem relaxed : !places, i32
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
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
    %v0 = arith.constant 0 : index
    %threads0 = arith.constant 64 : index
    %h0:2 = func.call @try(%ctx, %v0, %threads0, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k0 = arith.constant 3 : index
    %f0 = memref.load %h0#0[%k0] : memref<4xi64>
    scf.if %tells {
      symm.print "LB: volatile: {} of {} weak"(%f0, %h0#1) : i64, i64
    }
    memref.dealloc %h0#0 : memref<4xi64>
    %v1 = arith.constant 1 : index
    %threads1 = arith.constant 64 : index
    %h1:2 = func.call @try(%ctx, %v1, %threads1, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k1 = arith.constant 3 : index
    %f1 = memref.load %h1#0[%k1] : memref<4xi64>
    scf.if %tells {
      symm.print "LB: relaxed atomics: {} of {} weak"(%f1, %h1#1) : i64, i64
    }
    memref.dealloc %h1#0 : memref<4xi64>
    %v2 = arith.constant 2 : index
    %threads2 = arith.constant 64 : index
    %h2:2 = func.call @try(%ctx, %v2, %threads2, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k2 = arith.constant 3 : index
    %f2 = memref.load %h2#0[%k2] : memref<4xi64>
    scf.if %tells {
      symm.print "LB: relaxed reads, atomic_rmw release: {} of {} weak"(%f2, %h2#1) : i64, i64
    }
    memref.dealloc %h2#0 : memref<4xi64>
    %v3 = arith.constant 3 : index
    %threads3 = arith.constant 64 : index
    %h3:2 = func.call @try(%ctx, %v3, %threads3, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k3 = arith.constant 3 : index
    %f3 = memref.load %h3#0[%k3] : memref<4xi64>
    scf.if %tells {
      symm.print "LB: atomic_rmw acquire, relaxed writes: {} of {} weak"(%f3, %h3#1) : i64, i64
    }
    memref.dealloc %h3#0 : memref<4xi64>
    return
  }

  // Counts the outcomes of a variant: bit k of an outcome is whether r<k> was new. Also how many rounds there were.
  func.func private @try(%ctx: !symm.ctx, %variant: index, %threads: index, %rounds: i64, %instances: i64, %stress: i64)
      -> (memref<4xi64>, i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %outs = arith.constant 2 : index
    %outcomes = arith.constant 4 : index
    %actors = arith.constant 2 : i64
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
    %counts = memref.alloc() : memref<4xi64>
    scf.for %k = %c0 to %outcomes step %c1 {
      memref.store %none, %counts[%k] : memref<4xi64>
    }
    %at_once = arith.muli %instances, %per_epoch : i64
    %times = arith.ceildivui %rounds, %at_once : i64
    %epochs = arith.trunci %times : i64 to i32
    %end = arith.addi %epochs, %one : i32
    %acting = arith.muli %instances, %actors : i64
    %all = arith.addi %acting, %stress : i64
    %blocks = arith.index_cast %all : i64 to index
    %width = arith.index_cast %instances : i64 to index
    scf.for %e = %one to %end step %one : i32 {
      symm.barrier_all %ctx
      gpu.launch_func @kernels::@rounds blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%ctx : !symm.ctx, %variant : index, %e : i32, %width : index,
             %x : !places, %y : !places, %z : !places, %f : !places, %g : !places, %f64 : !wide, %out :
             !outcomes, %gate : memref<4x64xi32>, %done : memref<1xi32>, %src : memref<65536xi32>, %dst
             : memref<65536xi32>)
      symm.barrier_all %ctx
      gpu.memcpy %results, %out : !outcomes, !outcomes
      scf.for %inst = %c0 to %width step %c1 {
        scf.for %i = %c0 to %c64 step %c1 {
          %outcome = scf.for %k = %c0 to %outs step %c1 iter_args(%bits = %c0) -> (index) {
            %r = memref.load %results[%k, %inst, %i] : !outcomes
            %is_new = arith.cmpi eq, %r, %e : i32
            %bit = arith.shli %c1, %k : index
            %with = arith.ori %bits, %bit : index
            %next = arith.select %is_new, %with, %bits : index
            scf.yield %next : index
          }
          %count = memref.load %counts[%outcome] : memref<4xi64>
          %plus = arith.addi %count, %more : i64
          memref.store %plus, %counts[%outcome] : memref<4xi64>
        }
      }
    }
    %is_rank_0 = arith.cmpi eq, %me, %zero : i32
    scf.if %is_rank_0 {
      %k0 = arith.constant 0 : index
      %n0 = memref.load %counts[%k0] : memref<4xi64>
      %k1 = arith.constant 1 : index
      %n1 = memref.load %counts[%k1] : memref<4xi64>
      %k2 = arith.constant 2 : index
      %n2 = memref.load %counts[%k2] : memref<4xi64>
      %k3 = arith.constant 3 : index
      %n3 = memref.load %counts[%k3] : memref<4xi64>
      symm.print "00: {}, 10: {}, 01: {}, 11: {}"(%n0, %n1, %n2, %n3) : i64, i64, i64, i64
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
    return %counts, %done_rounds : memref<4xi64>, i64
  }
}
