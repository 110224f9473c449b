// Signals, polls and barriers of one's own, right and with the mistakes of others: in each one line is another.

// RUN: symm-check %s --ranks 3 --as-written --schedules 5 | FileCheck %s --check-prefix=RIGHT
// RIGHT: symm-check: nothing found

// One thread signals what all have written, with no barrier of the block before it.
// RUN: sed '/BEFORE THE SIGNAL/d' %s > %t.early.mlir
// RUN: not symm-check %t.early.mlir --ranks 3 --as-written --schedules 5 | FileCheck %s --check-prefix=EARLY
// EARLY: error: {{race|write-after-read|never-written}}
// EARLY: note: rank {{.}} block 0 thread 1: writes 4 bytes

// Who has not polled himself reads with no barrier after the poll.
// RUN: sed '/AFTER THE POLL/d' %s > %t.late.mlir
// RUN: not symm-check %t.late.mlir --ranks 3 --as-written --schedules 5 | FileCheck %s --check-prefix=LATE
// LATE: error: {{race|write-after-read|never-written}}
// LATE: note: rank {{.}} block 0 thread 1: reads 4 bytes

// The signal releases, or the poll of another rank's flag acquires, at the scope of a GPU; or the poll does not at all.
// RUN: sed '/signal set/s/ : !word/ scope gpu&/' %s > %t.release.mlir
// RUN: not symm-check %t.release.mlir --ranks 3 --as-written | FileCheck %s --check-prefix=RELEASE
// RELEASE: error: narrow-release (O2)
// RELEASE: help: it releases too narrowly: scope sys covers both
// RUN: sed 's/sem acquire/& scope gpu/' %s > %t.poll.mlir
// RUN: not symm-check %t.poll.mlir --ranks 3 --as-written | FileCheck %s --check-prefix=POLL
// POLL: error: narrow-acquire (O2)
// POLL: sees it before the second
// POLL-NEXT: symm.atomic_rmw
// POLL: help: it acquires too narrowly: scope sys covers both
// RUN: sed 's/sem acquire/sem relaxed/' %s > %t.relaxed.mlir
// RUN: not symm-check %t.relaxed.mlir --ranks 3 --as-written | FileCheck %s --check-prefix=RELAXED
// RELAXED: error: missing-acquire (O1)
// RELAXED: help: what sees it has to acquire at scope sys

// A barrier of one's own that tells one rank too few.
// RUN: sed 's/%zero to %n /%one to %n /' %s > %t.few.mlir
// RUN: not symm-check %t.few.mlir --ranks 3 --as-written | FileCheck %s --check-prefix=FEW
// FEW: error: never-signalled
// FEW: note: rank 0 block 0 thread 0: waits for {{.*}} of rank 0's heap >= 3, sees 0; nobody has signalled it

// The same with flags that are set, waited for as if they were added to.
// RUN: sed 's/signal add/signal set/' %s > %t.set.mlir
// RUN: not symm-check %t.set.mlir --ranks 3 --as-written | FileCheck %s --check-prefix=SET
// SET: error: deadlock
// SET: waits for {{.*}} of rank 0's heap >= 3, sees 1; signalled by rank

// An atomic whose scope was lost: two of different GPUs are not atomic for each other.
// RUN: sed '/COUNT/s/sem relaxed/& scope gpu/' %s > %t.lost.mlir
// RUN: not symm-check %t.lost.mlir --ranks 3 --as-written | FileCheck %s --check-prefix=LOST
// LOST: error: narrow-atomic (O2)

// A put_signal that releases at the scope of a GPU.
// RUN: sed 's/peer group block$/peer scope gpu group block/' %S/../../../examples/all_to_all.mlir > %t.put.mlir
// RUN: not symm-check %t.put.mlir --ranks 2 --threads 2 --as-written | FileCheck %s --check-prefix=PUT
// PUT: error: narrow-release (O2)
// PUT: announces the first access
// PUT-NEXT: symm.put_signal

!word = memref<1xi32>
!mail = memref<2xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Both threads write to the next rank, the first one tells it and polls for what the rank before tells.
    gpu.func @exchange(%ctx: !symm.ctx, %mail: !mail, %flag: !word, %got: !mail) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      %thread = gpu.thread_id x
      %is_first = arith.cmpi eq, %thread, %c0 : index
      symm.remote_store %ctx, %mail[%thread], %me, %next : !mail, i32
      gpu.barrier // BEFORE THE SIGNAL
      scf.if %is_first {
        symm.signal set %ctx, %flag[%c0], %one, %next : !word, i32
        scf.while : () -> () {
          %seen = symm.atomic_rmw add %ctx, %flag[%c0], %zero, %me sem acquire : !word, i32
          %missing = arith.cmpi ne, %seen, %one : i32
          scf.condition(%missing)
        } do {
          scf.yield
        }
      }
      gpu.barrier // AFTER THE POLL
      %v = memref.load %mail[%thread] : !mail
      memref.store %v, %got[%thread] : !mail
      gpu.return
    }

    // Every rank writes to the next one, all meet, and each reads. They count how many they were on rank 0.
    gpu.func @meet(%ctx: !symm.ctx, %mail: !word, %arrived: !word, %got: !word, %count: !word) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      scf.for %p = %zero to %n step %one : i32 {
        symm.signal add %ctx, %arrived[%c0], %one, %p : !word, i32
      }
      symm.wait %ctx, %arrived[%c0] ge %n : !word, i32
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      %old = symm.atomic_rmw add %ctx, %count[%c0], %one, %zero sem relaxed : !word, i32 // COUNT
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %mail = symm.alloc %ctx : !mail
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !mail
    gpu.launch_func @kernels::@exchange blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !mail, %flag : !word, %got : !mail)

    %word = symm.alloc %ctx : !word
    %arrived = symm.alloc %ctx : !word
    %seen = symm.alloc %ctx : !word
    %count = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@meet blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %word : !word, %arrived : !word, %seen : !word, %count : !word)
    return
  }
}
