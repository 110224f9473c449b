// Message passing from rank to rank, right and with one thing wrong at a time.

// RUN: symm-check %s --ranks 2 --entry right --exhaustive | FileCheck %s --check-prefix=RIGHT
// RUN: symm-check %s --ranks 4 --entry right --schedules 20 | FileCheck %s --check-prefix=SOME
// RUN: not symm-check %s --ranks 2 --entry relaxed --as-written | FileCheck %s --check-prefix=RELAXED
// RUN: symm-check %s --ranks 2 --entry relaxed | FileCheck %s --check-prefix=REPAIRED
// RUN: symm-check %s --ranks 2 --entry relaxed --json | FileCheck %s --check-prefix=REPAIRS
// RUN: not symm-check %s --ranks 3 --entry not_awaited --schedules 5 > %t.once
// RUN: not symm-check %s --ranks 3 --entry not_awaited --schedules 5 > %t.again
// RUN: cmp %t.once %t.again
// RUN: not symm-check %s --ranks 2 --entry not_acquired --as-written | FileCheck %s --check-prefix=ACQUIRE
// RUN: not symm-check %s --ranks 2 --entry narrow --as-written | FileCheck %s --check-prefix=NARROW
// RUN: not symm-check %s --ranks 2 --entry not_awaited | FileCheck %s --check-prefix=RACE
// RUN: not symm-check %s --ranks 2 --entry silent | FileCheck %s --check-prefix=SILENT

// RIGHT: symm-check: nothing found; {{[0-9]+}} execution{{s?}} tried; there are no others that differ
// SOME: symm-check: nothing found; 21 executions tried; nothing is known of other schedules

// The place of the first access, then both accesses with their lines, then what was to hand over the first.
// RELAXED: message.mlir:{{[0-9]+}}:7: error: missing-release (O1)
// RELAXED-NEXT: message.mlir:{{[0-9]+}}:7: note: rank [[R:[01]]] block 0 thread 0: writes 4 bytes at 0x200000 of rank {{[01]}}'s heap
// RELAXED-NEXT: {{^}}      symm.remote_store %ctx, %mail
// RELAXED-NEXT: {{^      \^$}}
// RELAXED: note: rank {{[01]}} block 0 thread 0: reads 4 bytes at 0x200000
// RELAXED: note: rank [[R]] block 0 thread 0: announces the first access
// RELAXED-NEXT: symm.signal
// RELAXED: help: what announces the first access has to release at scope sys
// RELAXED-NEXT: again: {{.*}}symm-check {{.*}}message.mlir --ranks 2 --entry relaxed --as-written --replay '
// RELAXED: symm-check: 1 error; 1 execution tried; nothing is known of other schedules

// What is repaired in kernels that are not launched is not listed.
// REPAIRED: remark: {{.*}}release
// REPAIRED-NEXT: symm.signal set
// REPAIRED-NOT: remark:
// REPAIRED: symm-check: nothing found; 1 execution tried; 1 repair of what was checked

// REPAIRS: "repairs": [
// REPAIRS-NEXT: {{.*}}message.mlir:{{.*}}remark: {{.*}}release

!word = memref<1xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @relaxed(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      symm.signal set %ctx, %flag[%c0], %one, %next sem relaxed : !word, i32
      symm.wait %ctx, %flag[%c0] eq %one : !word, i32
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      gpu.return
    }

    gpu.func @right(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
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

    // ACQUIRE: error: missing-acquire (O1)
    // ACQUIRE: sees it before the second
    // ACQUIRE-NEXT: symm.wait
    // ACQUIRE: help: what sees it has to acquire at scope sys
    gpu.func @not_acquired(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      symm.signal set %ctx, %flag[%c0], %one, %next : !word, i32
      symm.wait %ctx, %flag[%c0] eq %one sem relaxed : !word, i32
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      gpu.return
    }

    // NARROW: error: narrow-release (O2)
    gpu.func @narrow(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      symm.signal set %ctx, %flag[%c0], %one, %next scope gpu : !word, i32
      symm.wait %ctx, %flag[%c0] eq %one : !word, i32
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      gpu.return
    }

    // RACE: error: {{race|write-after-read}} (O1)
    gpu.func @not_awaited(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %next = arith.remui %after, %n : i32
      symm.remote_store %ctx, %mail[%c0], %me, %next : !word, i32
      %v = memref.load %mail[%c0] : !word
      memref.store %v, %got[%c0] : !word
      gpu.return
    }

    // SILENT: error: deadlock
    // SILENT: rank 0 block 0 thread 0: waits for {{.*}} of rank 0's heap == 1, sees 0; nobody has signalled it
    // SILENT-NEXT: symm.wait
    gpu.func @silent(%ctx: !symm.ctx, %mail: !word, %flag: !word, %got: !word) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      symm.wait %ctx, %flag[%c0] eq %one : !word, i32
      gpu.return
    }
  }

  func.func @relaxed(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@relaxed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @right(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@right blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @not_acquired(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@not_acquired blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @narrow(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @not_awaited(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@not_awaited blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }

  func.func @silent(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %mail = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    %got = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@silent blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %mail : !word, %flag : !word, %got : !word)
    return
  }
}

// RIGHT-NEXT: symm-check: each error is in a real execution of the model; nothing is said of other ranks, threads or
