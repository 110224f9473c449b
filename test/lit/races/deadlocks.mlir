// Who could have signalled: each task that waits is let through its wait, alone, up to the first read.

// RUN: not symm-check %s --entry cycle | FileCheck %s --check-prefix=CYCLE
// RUN: not symm-check %s --entry ring --ranks 3 | FileCheck %s --check-prefix=RING
// RUN: not symm-check %s --entry lost | FileCheck %s --check-prefix=LOST
// RUN: not symm-check %s --entry reset | FileCheck %s --check-prefix=RESET
// RUN: not symm-check %s --entry itself | FileCheck %s --check-prefix=ITSELF
// RUN: not symm-check %s --entry reads | FileCheck %s --check-prefix=READS
// RUN: not symm-check %s --entry two | FileCheck %s --check-prefix=TWO
// RUN: not symm-check %s --entry left_out | FileCheck %s --check-prefix=LEFT-OUT
// RUN: not symm-check %s --entry behind | FileCheck %s --check-prefix=BEHIND

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CYCLE: error: deadlock
    // CYCLE: rank [[A:[01]]] block 0 thread 0: waits for [[F:0x[0-9a-f]+]] of rank [[A]]'s heap >= 1, sees 0;
    // CYCLE-SAME: nobody has signalled it;
    // CYCLE-SAME: rank [[B:[01]]] block 0 thread 0 signals it at {{.*}}deadlocks.mlir:[[#@LINE+11]]:7, after its own wait
    // CYCLE: rank [[B]] block 0 thread 0: waits for [[F]] of rank [[B]]'s heap >= 1, sees 0; nobody has signalled it;
    // CYCLE-SAME: rank [[A]] block 0 thread 0 signals it at {{.*}}, after its own wait
    // CYCLE: help: rank [[A]] block 0 thread 0 waits for rank [[B]] block 0 thread 0,
    // CYCLE-SAME: which waits for rank [[A]] block 0 thread 0: one of them has to signal before it waits
    // RING: help: rank [[A:[012]]] block 0 thread 0 waits for rank [[B:[012]]] block 0 thread 0, which waits for
    // RING-SAME: rank [[C:[012]]] block 0 thread 0, which waits for rank [[A]] block 0 thread 0: one of them has to
    gpu.func @cycle(%ctx: !symm.ctx, %flags: memref<4xi32>, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      symm.wait %ctx, %flags[%c0] ge %one : memref<4xi32>, i32
      symm.signal set %ctx, %flags[%c0], %one, %peer : memref<4xi32>, i32
      gpu.return
    }

    // LOST: error: deadlock
    // LOST: waits for {{.*}} >= 1, sees 0; nobody has signalled it; rank {{[01]}} block 0 thread 0 has signalled
    // LOST-SAME: 0x200004 of rank {{[01]}}'s heap ({{.*}}deadlocks.mlir:[[#@LINE+8]]:7), which nobody waits for
    // LOST: help: nobody would end these waits, even if the others of them ended: a signal is missing, or goes to
    // LOST-SAME: another flag
    gpu.func @lost(%ctx: !symm.ctx, %flags: memref<4xi32>, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      // Meant for another flag.
      symm.signal set %ctx, %flags[%c1], %one, %peer : memref<4xi32>, i32
      symm.wait %ctx, %flags[%c0] ge %one : memref<4xi32>, i32
      gpu.return
    }

    // Who sets the flag back does not end the wait.
    // RESET-NOT: signals it
    // RESET: help: nobody would end these waits
    gpu.func @reset(%ctx: !symm.ctx, %flags: memref<4xi32>, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      symm.wait %ctx, %flags[%c0] ge %one : memref<4xi32>, i32
      symm.signal set %ctx, %flags[%c0], %zero, %me : memref<4xi32>, i32
      gpu.return
    }

    // ITSELF: help: rank {{[01]}} block 0 thread 0 waits for what it signals itself only after this wait: signal first
    gpu.func @itself(%ctx: !symm.ctx, %flags: memref<4xi32>, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      symm.wait %ctx, %flags[%c0] ge %one : memref<4xi32>, i32
      symm.signal set %ctx, %flags[%c0], %one, %me : memref<4xi32>, i32
      gpu.return
    }

    // What it reads may be another value after the wait, and nothing is known of what it does then.
    // READS-NOT: signals it
    // READS: help: nobody has sent any of these: a signal or a packet is missing, or each is sent only after another wait
    gpu.func @reads(%ctx: !symm.ctx, %flags: memref<4xi32>, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      symm.wait %ctx, %flags[%c0] ge %one : memref<4xi32>, i32
      %to = memref.load %flags[%c1] : memref<4xi32>
      symm.signal set %ctx, %flags[%c0], %one, %to : memref<4xi32>, i32
      gpu.return
    }

    // One of the two signals that a wait needs.
    // TWO: waits for {{.*}} >= 2, sees 0; nobody has signalled it; rank {{[01]}} block 0 thread 0 signals it at
    // TWO: help: nobody has sent any of these: a signal or a packet is missing, or each is sent only after another wait
    gpu.func @two(%ctx: !symm.ctx, %flags: memref<4xi32>, %peer: i32) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      symm.wait %ctx, %flags[%c0] ge %two : memref<4xi32>, i32
      symm.signal add %ctx, %flags[%c0], %one, %peer : memref<4xi32>, i32
      gpu.return
    }
  }

  func.func @cycle(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@cycle blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4xi32>, %peer : i32)
    return
  }

  func.func @ring(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@cycle blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4xi32>, %peer : i32)
    return
  }

  func.func @lost(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@lost blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4xi32>, %peer : i32)
    return
  }

  func.func @reset(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@reset blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4xi32>, %peer : i32)
    return
  }

  func.func @itself(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@itself blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4xi32>, %peer : i32)
    return
  }

  func.func @reads(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4xi32>, %peer : i32)
    return
  }

  func.func @two(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    %next = arith.addi %me, %one : i32
    %peer = arith.remui %next, %n : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@two blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4xi32>, %peer : i32)
    return
  }

  // LEFT-OUT: deadlocks.mlir:[[#@LINE+9]]:7: error: barrier-divergence (O3)
  // LEFT-OUT: rank 0 host: is at a barrier of all hosts, to which the host of rank 1 does not come: it has ended
  // LEFT-OUT: help: every rank's host has to come to it, as often as the others
  func.func @left_out(%ctx: !symm.ctx) {
    %zero = arith.constant 0 : i32
    %me = symm.rank %ctx
    %is_first = arith.cmpi eq, %me, %zero : i32
    symm.barrier_all %ctx
    scf.if %is_first {
      symm.barrier_all %ctx
    }
    return
  }

  // The wait comes first, whatever the ranks' numbers: the host of rank 0 is at a barrier because of it.
  // BEHIND: error: never-signalled
  // BEHIND-NEXT: note: rank 1 block 0 thread 0: waits for
  // BEHIND: rank 0 host: is at a barrier of all hosts, to which the host of rank 1 does not come: it waits for its kernel
  func.func @behind(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    %is_last = arith.cmpi eq, %me, %one : i32
    %flags = symm.alloc %ctx : memref<4xi32>
    scf.if %is_last {
      gpu.launch_func @kernels::@cycle blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%ctx : !symm.ctx, %flags : memref<4xi32>, %zero : i32)
    }
    symm.barrier_all %ctx
    return
  }
}
