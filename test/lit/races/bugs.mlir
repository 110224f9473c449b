// Bugs that others have shipped, each the smallest program that has it: what is reported of it.

// RUN: not symm-check %s --ranks 2 --entry gpu_scope_wait --as-written | FileCheck %s --check-prefix=GPU-SCOPE-WAIT
// RUN: not symm-check %s --ranks 2 --entry volatile_poll --as-written | FileCheck %s --check-prefix=VOLATILE-POLL
// RUN: not symm-check %s --ranks 2 --entry passed_by --as-written --schedules 20 | FileCheck %s --check-prefix=PASSED-BY
// RUN: not symm-check %s --ranks 2 --entry sum_of_two --as-written --schedules 20 | FileCheck %s --check-prefix=SUM-OF-TWO
// RUN: not symm-check %s --ranks 2 --entry no_credit --as-written --schedules 20 | FileCheck %s --check-prefix=NO-CREDIT
// RUN: not symm-check %s --ranks 2 --entry reset --as-written | FileCheck %s --check-prefix=RESET
// RUN: not symm-check %s --ranks 2 --entry stale --as-written | FileCheck %s --check-prefix=STALE
// RUN: not symm-check %s --ranks 2 --entry too_many --as-written --blocks 2 | FileCheck %s --check-prefix=TOO-MANY
// RUN: not symm-check %s --ranks 2 --entry set_and_add --as-written | FileCheck %s --check-prefix=SET-AND-ADD

// GPU-SCOPE-WAIT: error: narrow-acquire (O2)
// GPU-SCOPE-WAIT: help: it acquires too narrowly: scope sys covers both
// VOLATILE-POLL: error: missing-acquire (O1)
// VOLATILE-POLL: help: what sees it has to acquire at scope sys
// PASSED-BY: error: passed-by (O6)
// PASSED-BY: compare with ge
// SUM-OF-TWO: error: wrong-event
// SUM-OF-TWO: waits, and is satisfied by another event than the one that is meant
// SUM-OF-TWO: signals that the first access is done
// SUM-OF-TWO: satisfies the wait: the flag is 1
// SUM-OF-TWO: give each event a flag of its own
// NO-CREDIT: error: write-after-read (O1)
// NO-CREDIT: (a credit)
// RESET: error: passed-by (O6)
// RESET: was changed before the wait had looked: change it only after the wait
// STALE: error: wrong-event
// STALE: satisfies the wait: the flag is 1
// STALE: wait for a value that only this one can make
// TOO-MANY: error: too-many-blocks (O5)
// TOO-MANY: 2 blocks fit at once
// SET-AND-ADD: error: set-against-add
// SET-AND-ADD: let both set it, or both add

!word = memref<1xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // A wait polls at the scope of its GPU for what another rank signals.
    gpu.func @gpu_scope_wait(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      symm.signal set %ctx, %flag[%c0], %one, %next : !word, i32
      symm.wait %ctx, %flag[%c0] eq %one sem acquire scope gpu : !word, i32
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      gpu.return
    }

    // A loop polls with volatile loads, and nothing acquires after it.
    gpu.func @volatile_poll(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      symm.signal set %ctx, %flag[%c0], %one, %next : !word, i32
      scf.while : () -> () {
        %seen = symm.remote_load %ctx, %flag[%c0], %me volatile : !word -> i32
        %missing = arith.cmpi ne, %seen, %one : i32
        scf.condition(%missing)
      } do {
        scf.yield
      }
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      gpu.return
    }

    // A wait for equality, on a counter that may be past it.
    gpu.func @passed_by(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.signal add %ctx, %flag[%c0], %one, %next : !word, i32
      symm.signal add %ctx, %flag[%c0], %one, %next : !word, i32
      symm.wait %ctx, %flag[%c0] eq %one : !word, i32
      gpu.return
    }

    // Both ranks add to the flag of rank 0, and its wait for one of them takes the other.
    gpu.func @sum_of_two(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      %zero = arith.constant 0 : i32
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.signal add %ctx, %flag[%c0], %one, %zero : !word, i32
        symm.wait %ctx, %flag[%c0] ge %one : !word, i32
        %v = memref.load %mail[%c0] : !word
        memref.store %v, %got[%c0] : !word
      } else {
        symm.remote_store %ctx, %mail[%c0], %me, %zero : !word, i32
        symm.signal add %ctx, %flag[%c0], %one, %zero : !word, i32
      }
      gpu.return
    }

    // A slot is used again, and nothing tells its writer that it is free.
    gpu.func @no_credit(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      %three = arith.constant 3 : i32
      %zero = arith.constant 0 : i32
      %sends = arith.cmpi eq, %me, %zero : i32
      scf.for %round = %one to %three step %one : i32 {
        scf.if %sends {
          symm.remote_store %ctx, %mail[%c0], %round, %next : !word, i32
          symm.signal set %ctx, %flag[%c0], %round, %next : !word, i32
        } else {
          symm.wait %ctx, %flag[%c0] ge %round : !word, i32
          %v = memref.load %mail[%c0] : !word
          memref.store %v, %got[%c0] : !word
        }
      }
      gpu.return
    }

    // Who waits takes its flag back, while the next signal may be on its way.
    gpu.func @reset(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      %zero = arith.constant 0 : i32
      %three = arith.constant 3 : i32
      scf.for %round = %one to %three step %one : i32 {
        symm.signal set %ctx, %flag[%c0], %one, %next : !word, i32
        symm.wait %ctx, %flag[%c0] eq %one : !word, i32
        memref.store %zero, %flag[%c0] : !word
      }
      gpu.return
    }

    // The second launch finds the flag of the first.
    gpu.func @stale(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      symm.signal set %ctx, %flag[%c0], %one, %next : !word, i32
      symm.wait %ctx, %flag[%c0] eq %one : !word, i32
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      gpu.return
    }

    // Blocks wait for a block that does not fit beside them.
    gpu.func @too_many(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      %c2 = arith.constant 2 : index
      %block = gpu.block_id x
      %is_last = arith.cmpi eq, %block, %c2 : index
      scf.if %is_last {
        symm.signal set %ctx, %flag[%c0], %one, %me : !word, i32
      } else {
        symm.wait %ctx, %flag[%c0] eq %one : !word, i32
      }
      gpu.return
    }

    // One rank sets the flag that the other one adds to.
    gpu.func @set_and_add(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      %zero = arith.constant 0 : i32
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        symm.signal set %ctx, %flag[%c0], %one, %zero : !word, i32
      } else {
        symm.signal add %ctx, %flag[%c0], %one, %zero : !word, i32
      }
      gpu.return
    }
  }

  func.func @gpu_scope_wait(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@gpu_scope_wait blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @volatile_poll(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@volatile_poll blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @passed_by(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@passed_by blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @sum_of_two(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@sum_of_two blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @no_credit(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@no_credit blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @reset(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@reset blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @stale(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@stale blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    gpu.launch_func @kernels::@stale blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @too_many(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@too_many blocks in (%c3, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @set_and_add(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@set_and_add blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }
}
