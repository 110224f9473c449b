// Rank 0 sends three messages to rank 1 through one slot: two kernels with a bug, and one that is right.
// docs/find-the-bug.md finds the bugs.

// RUN: not symm-check %s --ranks 2 --entry wrong --schedules 20 | FileCheck %s --check-prefix=WRONG
// RUN: not symm-check %s --ranks 2 --entry hangs | FileCheck %s --check-prefix=HANGS
// RUN: symm-check %s --ranks 2 --entry mended --exhaustive | FileCheck %s --check-prefix=MENDED
// RUN: symm-run %s --ranks 2 --entry mended

// WRONG: error: write-after-read (O1)
// HANGS: error: passed-by (O6)
// MENDED: symm-check: nothing found; 1 execution tried; there are no others that differ

!word = memref<1xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Nothing tells the sender that the slot has been read.
    gpu.func @wrong(%ctx: !symm.ctx, %slot: !word, %full: !word, %taken: !word) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %end = arith.constant 4 : i32
      %me = symm.rank %ctx
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        scf.for %m = %one to %end step %one : i32 {
          symm.remote_store %ctx, %slot[%c0], %m, %one : !word, i32
          symm.signal set %ctx, %full[%c0], %m, %one : !word, i32
        }
      } else {
        scf.for %m = %one to %end step %one : i32 {
          symm.wait %ctx, %full[%c0] ge %m : !word, i32
          %v = memref.load %slot[%c0] : !word
          %same = arith.cmpi eq, %v, %m : i32
          symm.check %same, "message {} is {}"(%m, %v) : i32, i32
        }
      }
      gpu.return
    }

    // The receiver waits for one value of a flag that goes on without it.
    gpu.func @hangs(%ctx: !symm.ctx, %slot: !word, %full: !word, %taken: !word) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %end = arith.constant 4 : i32
      %me = symm.rank %ctx
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        scf.for %m = %one to %end step %one : i32 {
          symm.remote_store %ctx, %slot[%c0], %m, %one : !word, i32
          symm.signal set %ctx, %full[%c0], %m, %one : !word, i32
        }
      } else {
        scf.for %m = %one to %end step %one : i32 {
          symm.wait %ctx, %full[%c0] eq %m : !word, i32
          %v = memref.load %slot[%c0] : !word
          %same = arith.cmpi eq, %v, %m : i32
          symm.check %same, "message {} is {}"(%m, %v) : i32, i32
        }
      }
      gpu.return
    }

    // The receiver tells what it has taken, and the sender waits for it.
    gpu.func @mended(%ctx: !symm.ctx, %slot: !word, %full: !word, %taken: !word) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %end = arith.constant 4 : i32
      %me = symm.rank %ctx
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.if %sends {
        scf.for %m = %one to %end step %one : i32 {
          // Message m goes into the slot when m - 1 is out of it.
          %before = arith.subi %m, %one : i32
          symm.wait %ctx, %taken[%c0] ge %before : !word, i32
          symm.remote_store %ctx, %slot[%c0], %m, %one : !word, i32
          symm.signal set %ctx, %full[%c0], %m, %one : !word, i32
        }
      } else {
        scf.for %m = %one to %end step %one : i32 {
          symm.wait %ctx, %full[%c0] ge %m : !word, i32
          %v = memref.load %slot[%c0] : !word
          symm.signal set %ctx, %taken[%c0], %m, %zero : !word, i32
          %same = arith.cmpi eq, %v, %m : i32
          symm.check %same, "message {} is {}"(%m, %v) : i32, i32
        }
      }
      gpu.return
    }
  }

  func.func @wrong(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slot = symm.alloc %ctx : !word
    %full = symm.alloc %ctx : !word
    %taken = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@wrong blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slot : !word, %full : !word, %taken : !word)
    return
  }

  func.func @hangs(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slot = symm.alloc %ctx : !word
    %full = symm.alloc %ctx : !word
    %taken = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@hangs blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slot : !word, %full : !word, %taken : !word)
    return
  }

  func.func @mended(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %slot = symm.alloc %ctx : !word
    %full = symm.alloc %ctx : !word
    %taken = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@mended blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %slot : !word, %full : !word, %taken : !word)
    return
  }
}
