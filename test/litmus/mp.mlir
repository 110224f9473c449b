// RUN: %run-all
// RANKS: 2 4
// Message passing (MP). Actor 0 writes data, then a flag; actor 1 reads the flag, then the data. The data is not old
// where the flag is new: r0 = 1, r1 = 0 never shows. Where actor 1 waits, r0 is always 1.
// README.md: rounds, instances, stress, and how the outcomes are printed.

!places = memref<64x64xi32>
!wide = memref<64x64xi64>
!outcomes = memref<4x64x64xi32>
!row = memref<64xi32, strided<[1], offset: ?>>

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
      %one = arith.constant 1 : i32
      %one_wide = arith.constant 1 : i64
      %others = arith.constant 1 : i32
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
          // signal set i32 thread
          case 0 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
                symm.signal set %ctx, %f[%inst, %i], %e, %r1 : !places, i32
              }
              scf.yield
            }
            case 1 {
              scf.if %is_last {
                symm.wait %ctx, %f[%inst, %i] eq %e : !places, i32
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // signal set i64 thread
          case 1 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
                symm.signal set %ctx, %f64[%inst, %i], %e_wide, %r1 : !wide, i64
              }
              scf.yield
            }
            case 1 {
              scf.if %is_last {
                symm.wait %ctx, %f64[%inst, %i] eq %e_wide : !wide, i64
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // signal add i32 thread
          case 2 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
                symm.signal add %ctx, %f[%inst, %i], %one, %r1 : !places, i32
              }
              scf.yield
            }
            case 1 {
              scf.if %is_last {
                symm.wait %ctx, %f[%inst, %i] ge %e : !places, i32
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // signal add i64 thread
          case 3 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
                symm.signal add %ctx, %f64[%inst, %i], %one_wide, %r1 : !wide, i64
              }
              scf.yield
            }
            case 1 {
              scf.if %is_last {
                symm.wait %ctx, %f64[%inst, %i] ge %e_wide : !wide, i64
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // signal set i32 warp
          case 4 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
              }
              symm.signal set %ctx, %f[%inst, %i], %e, %r1 group warp : !places, i32
              scf.yield
            }
            case 1 {
              symm.wait %ctx, %f[%inst, %i] eq %e group warp : !places, i32
              scf.if %is_last {
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // signal add i64 warp
          case 5 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
              }
              symm.signal add %ctx, %f64[%inst, %i], %one_wide, %r1 group warp : !wide, i64
              scf.yield
            }
            case 1 {
              symm.wait %ctx, %f64[%inst, %i] ge %e_wide group warp : !wide, i64
              scf.if %is_last {
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // signal set i32 block
          case 6 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
              }
              symm.signal set %ctx, %f[%inst, %i], %e, %r1 group block : !places, i32
              scf.yield
            }
            case 1 {
              symm.wait %ctx, %f[%inst, %i] eq %e group block : !places, i32
              scf.if %is_last {
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // signal add i64 block
          case 7 {
            scf.index_switch %actor
            case 0 {
              scf.if %is_last {
                symm.remote_store %ctx, %e, %x[%inst, %i], %r1 : i32, !places
              }
              symm.signal add %ctx, %f64[%inst, %i], %one_wide, %r1 group block : !wide, i64
              scf.yield
            }
            case 1 {
              symm.wait %ctx, %f64[%inst, %i] ge %e_wide group block : !wide, i64
              scf.if %is_last {
                %v = symm.remote_load %ctx, %x[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // put_signal thread
          case 8 {
            scf.index_switch %actor
            case 0 {
              %row = memref.subview %x[%inst, 0] [1, 64] [1, 1] : !places to !row
              %row_out = memref.subview %y[%inst, 0] [1, 64] [1, 1] : !places to !row
              scf.if %is_last {
                memref.store %e, %x[%inst, %i] : !places
                symm.put_signal set %ctx, %row, %row_out, %f[%inst, %i], %e, %r1
                  : !row, !row, !places, i32
              }
              scf.yield
            }
            case 1 {
              scf.if %is_last {
                symm.wait %ctx, %f[%inst, %i] eq %e : !places, i32
                %v = symm.remote_load %ctx, %y[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
                symm.remote_store %ctx, %v, %out[%c1, %inst, %i], %home : i32, !outcomes
              }
              scf.yield
            }
            default {
            }
            scf.yield
          }
          // put_signal block
          case 9 {
            scf.index_switch %actor
            case 0 {
              %row = memref.subview %x[%inst, 0] [1, 64] [1, 1] : !places to !row
              %row_out = memref.subview %y[%inst, 0] [1, 64] [1, 1] : !places to !row
              scf.if %is_last {
                memref.store %e, %x[%inst, %i] : !places
              }
              symm.put_signal set %ctx, %row, %row_out, %f[%inst, %i], %e, %r1 group block
                : !row, !row, !places, i32
              scf.yield
            }
            case 1 {
              symm.wait %ctx, %f[%inst, %i] eq %e group block : !places, i32
              scf.if %is_last {
                %v = symm.remote_load %ctx, %y[%inst, %i], %r1 : !places -> i32
                symm.remote_store %ctx, %e, %out[%c0, %inst, %i], %home : i32, !outcomes
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
    %k0 = arith.constant 1 : index
    %f0 = memref.load %h0#0[%k0] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal set i32 thread: {} of {} forbidden"(%f0, %h0#1) : i64, i64
    }
    %ok0 = arith.cmpi eq, %f0, %none : i64
    symm.check %ok0, "MP: signal set i32 thread: forbidden outcome seen {} times"(%f0) : i64
    memref.dealloc %h0#0 : memref<4xi64>
    %v1 = arith.constant 1 : index
    %threads1 = arith.constant 64 : index
    %h1:2 = func.call @try(%ctx, %v1, %threads1, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k1 = arith.constant 1 : index
    %f1 = memref.load %h1#0[%k1] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal set i64 thread: {} of {} forbidden"(%f1, %h1#1) : i64, i64
    }
    %ok1 = arith.cmpi eq, %f1, %none : i64
    symm.check %ok1, "MP: signal set i64 thread: forbidden outcome seen {} times"(%f1) : i64
    memref.dealloc %h1#0 : memref<4xi64>
    %v2 = arith.constant 2 : index
    %threads2 = arith.constant 64 : index
    %h2:2 = func.call @try(%ctx, %v2, %threads2, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k2 = arith.constant 1 : index
    %f2 = memref.load %h2#0[%k2] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal add i32 thread: {} of {} forbidden"(%f2, %h2#1) : i64, i64
    }
    %ok2 = arith.cmpi eq, %f2, %none : i64
    symm.check %ok2, "MP: signal add i32 thread: forbidden outcome seen {} times"(%f2) : i64
    memref.dealloc %h2#0 : memref<4xi64>
    %v3 = arith.constant 3 : index
    %threads3 = arith.constant 64 : index
    %h3:2 = func.call @try(%ctx, %v3, %threads3, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k3 = arith.constant 1 : index
    %f3 = memref.load %h3#0[%k3] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal add i64 thread: {} of {} forbidden"(%f3, %h3#1) : i64, i64
    }
    %ok3 = arith.cmpi eq, %f3, %none : i64
    symm.check %ok3, "MP: signal add i64 thread: forbidden outcome seen {} times"(%f3) : i64
    memref.dealloc %h3#0 : memref<4xi64>
    %v4 = arith.constant 4 : index
    %threads4 = arith.constant 32 : index
    %h4:2 = func.call @try(%ctx, %v4, %threads4, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k4 = arith.constant 1 : index
    %f4 = memref.load %h4#0[%k4] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal set i32 warp: {} of {} forbidden"(%f4, %h4#1) : i64, i64
    }
    %ok4 = arith.cmpi eq, %f4, %none : i64
    symm.check %ok4, "MP: signal set i32 warp: forbidden outcome seen {} times"(%f4) : i64
    memref.dealloc %h4#0 : memref<4xi64>
    %v5 = arith.constant 5 : index
    %threads5 = arith.constant 32 : index
    %h5:2 = func.call @try(%ctx, %v5, %threads5, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k5 = arith.constant 1 : index
    %f5 = memref.load %h5#0[%k5] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal add i64 warp: {} of {} forbidden"(%f5, %h5#1) : i64, i64
    }
    %ok5 = arith.cmpi eq, %f5, %none : i64
    symm.check %ok5, "MP: signal add i64 warp: forbidden outcome seen {} times"(%f5) : i64
    memref.dealloc %h5#0 : memref<4xi64>
    %v6 = arith.constant 6 : index
    %threads6 = arith.constant 64 : index
    %h6:2 = func.call @try(%ctx, %v6, %threads6, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k6 = arith.constant 1 : index
    %f6 = memref.load %h6#0[%k6] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal set i32 block: {} of {} forbidden"(%f6, %h6#1) : i64, i64
    }
    %ok6 = arith.cmpi eq, %f6, %none : i64
    symm.check %ok6, "MP: signal set i32 block: forbidden outcome seen {} times"(%f6) : i64
    memref.dealloc %h6#0 : memref<4xi64>
    %v7 = arith.constant 7 : index
    %threads7 = arith.constant 64 : index
    %h7:2 = func.call @try(%ctx, %v7, %threads7, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k7 = arith.constant 1 : index
    %f7 = memref.load %h7#0[%k7] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: signal add i64 block: {} of {} forbidden"(%f7, %h7#1) : i64, i64
    }
    %ok7 = arith.cmpi eq, %f7, %none : i64
    symm.check %ok7, "MP: signal add i64 block: forbidden outcome seen {} times"(%f7) : i64
    memref.dealloc %h7#0 : memref<4xi64>
    %v8 = arith.constant 8 : index
    %threads8 = arith.constant 64 : index
    %h8:2 = func.call @try(%ctx, %v8, %threads8, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k8 = arith.constant 1 : index
    %f8 = memref.load %h8#0[%k8] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: put_signal thread: {} of {} forbidden"(%f8, %h8#1) : i64, i64
    }
    %ok8 = arith.cmpi eq, %f8, %none : i64
    symm.check %ok8, "MP: put_signal thread: forbidden outcome seen {} times"(%f8) : i64
    memref.dealloc %h8#0 : memref<4xi64>
    %v9 = arith.constant 9 : index
    %threads9 = arith.constant 64 : index
    %h9:2 = func.call @try(%ctx, %v9, %threads9, %rounds, %instances, %stress)
      : (!symm.ctx, index, index, i64, i64, i64) -> (memref<4xi64>, i64)
    %k9 = arith.constant 1 : index
    %f9 = memref.load %h9#0[%k9] : memref<4xi64>
    scf.if %tells {
      symm.print "MP: put_signal block: {} of {} forbidden"(%f9, %h9#1) : i64, i64
    }
    %ok9 = arith.cmpi eq, %f9, %none : i64
    symm.check %ok9, "MP: put_signal block: forbidden outcome seen {} times"(%f9) : i64
    memref.dealloc %h9#0 : memref<4xi64>
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
