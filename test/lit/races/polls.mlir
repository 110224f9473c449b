// Loops that poll for what never comes are a deadlock, and a run that is given up is not taken for a right one.

// RUN: not symm-check %s --ranks 2 --entry vain | FileCheck %s --check-prefix=VAIN
// RUN: not symm-check %s --ranks 2 --entry vain --seed 3 | FileCheck %s --check-prefix=VAIN
// RUN: not symm-check %s --ranks 2 --entry vain --exhaustive --executions 4 | FileCheck %s --check-prefix=VAIN
// RUN: not symm-check %s --ranks 2 --entry locked | FileCheck %s --check-prefix=LOCKED
// RUN: symm-check %s --ranks 2 --entry counted --exhaustive | FileCheck %s --check-prefix=COUNTED
// RUN: symm-check %s --ranks 3 --entry counted --exhaustive | FileCheck %s --check-prefix=COUNTED
// RUN: symm-check %s --ranks 2 --entry right | FileCheck %s --check-prefix=RIGHT
// RUN: symm-check %s --ranks 2 --entry right --exhaustive | FileCheck %s --check-prefix=COUNTED
// RUN: symm-check %s --ranks 3 --entry each --exhaustive --executions 3 | FileCheck %s --check-prefix=RIGHT
// RUN: not symm-check %s --ranks 2 --entry right --steps 15 | FileCheck %s --check-prefix=SHORT
// RUN: not symm-check %s --ranks 2 --entry right --steps 15 --json | FileCheck %s --check-prefix=JSON

// VAIN: error: never-signalled
// VAIN: note: rank 0 block 0 thread 0: polls {{.*}} of rank 0's heap in vain, sees 0; nobody has signalled it
// VAIN-NEXT: symm.remote_load
// VAIN: symm-check: 1 error
// VAIN-NOT: given up

// Several spin for one lock: that each tries to take it does not wake the others.
// LOCKED: error: deadlock
// LOCKED: note: rank {{[01]}} block 0 thread {{[01]}}: polls {{.*}} of rank 0's heap in vain, sees 1
// LOCKED: symm-check: 1 error
// LOCKED-NOT: given up

// Who tries to take a lock again waits until the lock changes, and so does a loop that only polls: few executions.
// COUNTED: symm-check: nothing found; {{[0-9]+}} executions tried; there are no others that differ

// A poll by plain loads stays in the program, so that what it does not order is reported.
// RUN: not symm-check %s --ranks 2 --entry plain | FileCheck %s --check-prefix=PLAIN
// RUN: not symm-check %s --ranks 2 --entry plain --as-written --schedules 3 | FileCheck %s --check-prefix=PLAIN
// RUN: not symm-check %s --ranks 2 --entry plain --exhaustive | FileCheck %s --check-prefix=PLAIN
// PLAIN: error: {{race|write-after-read}}
// PLAIN: symm.signal set
// PLAIN: memref.load %flag[%c0]

// RIGHT: symm-check: nothing found
// SHORT: symm-check: nothing found; 1 execution tried; 1 given up after --steps 15, and nothing is known of what comes later
// JSON: "given_up": 1

!word = memref<1xi32>
!words = memref<4xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Polls its flag, which rank 1 sets on rank 0 if it is told to. What is read is volatile: each poll is a read.
    gpu.func @poll(%ctx: !symm.ctx, %flag: !word, %sets: i1) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        scf.while : () -> () {
          %seen = symm.remote_load %ctx, %flag[%c0], %me volatile : !word -> i32
          %missing = arith.cmpi eq, %seen, %zero : i32
          scf.condition(%missing)
        } do {
          scf.yield
        }
      } else {
        scf.if %sets {
          symm.remote_store %ctx, %flag[%c0], %one, %zero volatile : !word, i32
        }
      }
      gpu.return
    }

    // Rank 0 polls two flags in one loop that counts its rounds, so that all of them are tried. Each of the others sets
    // one of the flags. The loop has polled in vain before the second one comes.
    gpu.func @each(%ctx: !symm.ctx, %flag: !words, %box: !words) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        %rounds = scf.while (%round = %zero) : (i32) -> i32 {
          %seen = symm.remote_load %ctx, %flag[%c0], %me volatile : !words -> i32
          %other = symm.remote_load %ctx, %flag[%c1], %me volatile : !words -> i32
          %both = arith.andi %seen, %other : i32
          %missing = arith.cmpi eq, %both, %zero : i32
          scf.condition(%missing) %round : i32
        } do {
        ^bb0(%round: i32):
          %next = arith.addi %round, %one : i32
          scf.yield %next : i32
        }
        memref.store %rounds, %box[%c2] : !words
      } else {
        %before = arith.subi %me, %one : i32
        %at = arith.index_cast %before : i32 to index
        symm.signal set %ctx, %flag[%at], %one, %zero : !words, i32
      }
      gpu.return
    }

    // Takes a lock, counts on rank 0, and gives it back.
    gpu.func @count(%ctx: !symm.ctx, %lock: !word, %count: !word) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.while : () -> () {
        %was = symm.atomic_cas %ctx, %lock[%c0], %zero, %one, %zero sem acquire : !word, i32
        %busy = arith.cmpi ne, %was, %zero : i32
        scf.condition(%busy)
      } do {
        scf.yield
      }
      %old = symm.remote_load %ctx, %count[%c0], %zero : !word -> i32
      %new = arith.addi %old, %one : i32
      symm.remote_store %ctx, %count[%c0], %new, %zero : !word, i32
      %was = symm.atomic_rmw xchg %ctx, %lock[%c0], %zero, %zero sem release : !word, i32
      gpu.return
    }

    gpu.func @plain(%ctx: !symm.ctx, %flag: !word) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
        scf.while : () -> () {
          %seen = memref.load %flag[%c0] : !word
          %missing = arith.cmpi eq, %seen, %zero : i32
          scf.condition(%missing)
        } do {
          scf.yield
        }
      } else {
        symm.signal set %ctx, %flag[%c0], %one, %zero : !word, i32
      }
      gpu.return
    }

    // Takes a lock and does not give it back.
    gpu.func @lock(%ctx: !symm.ctx, %lock: !word) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.while : () -> () {
        %was = symm.atomic_cas %ctx, %lock[%c0], %zero, %one, %zero : !word, i32
        %busy = arith.cmpi ne, %was, %zero : i32
        scf.condition(%busy)
      } do {
        scf.yield
      }
      gpu.return
    }
  }

  func.func @counted(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %lock = symm.alloc %ctx : !word
    %count = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@count blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %lock : !word, %count : !word)
    return
  }

  func.func @locked(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %lock = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@lock blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %lock : !word)
    return
  }

  func.func @plain(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@plain blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : !word)
    return
  }

  func.func @each(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %flag = symm.alloc %ctx : !words
    %box = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@each blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : !words, %box : !words)
    return
  }

  func.func @vain(%ctx: !symm.ctx) {
    %false = arith.constant false
    func.call @run(%ctx, %false) : (!symm.ctx, i1) -> ()
    return
  }

  func.func @right(%ctx: !symm.ctx) {
    %true = arith.constant true
    func.call @run(%ctx, %true) : (!symm.ctx, i1) -> ()
    return
  }

  func.func private @run(%ctx: !symm.ctx, %sets: i1) {
    %c1 = arith.constant 1 : index
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@poll blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : !word, %sets : i1)
    return
  }
}
