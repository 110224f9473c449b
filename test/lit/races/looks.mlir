// Looks at a flag after a wait for it: what the wait has ordered needs no more, whatever the look's scope; what it has not
// ordered is told of the op that was to order it.

// DEFINE: %{check} = symm-check %s --as-written
// RUN: %{check} --entry ordered | FileCheck %s --check-prefix=RIGHT
// RUN: %{check} --entry ordered --schedules 10 | FileCheck %s --check-prefix=RIGHT
// RUN: %{check} --entry ordered --exhaustive | FileCheck %s --check-prefix=RIGHT
// RIGHT: symm-check: nothing found

// The next signal is not the one that was waited for: a second wait at the scope of a GPU does not see it.
// RUN: not %{check} --entry next --schedules 10 | FileCheck %s --check-prefix=NEXT
// RUN: not %{check} --entry next --exhaustive | FileCheck %s --check-prefix=NEXT
// NEXT: error: narrow-acquire
// NEXT: note: rank 1 block 0 thread 0: sees it before the second
// NEXT-NEXT: symm.wait {{.*}} ge %two scope gpu
// NEXT: help: it acquires too narrowly: scope sys covers both

// The wait is too narrow, and the look after it was never meant to order anything.
// RUN: not %{check} --entry narrow | FileCheck %s --check-prefix=NARROW
// RUN: not %{check} --entry narrow --schedules 10 | FileCheck %s --check-prefix=NARROW
// RUN: not %{check} --entry narrow --exhaustive | FileCheck %s --check-prefix=NARROW
// NARROW-NOT: missing-acquire
// NARROW: error: narrow-acquire
// NARROW: note: rank 1 block 0 thread 0: sees it before the second
// NARROW-NEXT: symm.wait {{.*}} ge %one scope gpu
// NARROW: help: it acquires too narrowly: scope sys covers both
// NARROW-NOT: missing-acquire

!words = memref<4xi32>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @ordered(%ctx: !symm.ctx, %box: !words, %flag: !words) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.remote_store %ctx, %box[%c0], %one, %one : !words, i32
        symm.signal set %ctx, %flag[%c0], %one, %one : !words, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one : !words, i32
        symm.wait %ctx, %flag[%c0] ge %one scope gpu : !words, i32
        %seen = symm.remote_load %ctx, %flag[%c0], %me volatile : !words -> i32
        %same = symm.atomic_rmw or %ctx, %flag[%c0], %zero, %me sem relaxed scope gpu : !words, i32
        %v = memref.load %box[%c0] : !words
        memref.store %v, %box[%c1] : !words
        memref.store %seen, %box[%c2] : !words
        memref.store %same, %box[%c3] : !words
      }
      gpu.return
    }

    gpu.func @next(%ctx: !symm.ctx, %box: !words, %flag: !words) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.signal set %ctx, %flag[%c0], %one, %one : !words, i32
        symm.remote_store %ctx, %box[%c1], %one, %one : !words, i32
        symm.signal set %ctx, %flag[%c0], %two, %one : !words, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one : !words, i32
        symm.wait %ctx, %flag[%c0] ge %two scope gpu : !words, i32
        %v = memref.load %box[%c1] : !words
        memref.store %v, %box[%c2] : !words
      }
      gpu.return
    }

    gpu.func @narrow(%ctx: !symm.ctx, %box: !words, %flag: !words) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.remote_store %ctx, %box[%c0], %one, %one : !words, i32
        symm.signal set %ctx, %flag[%c0], %one, %one : !words, i32
      } else {
        symm.wait %ctx, %flag[%c0] ge %one scope gpu : !words, i32
        %seen = symm.remote_load %ctx, %flag[%c0], %me volatile : !words -> i32
        %v = memref.load %box[%c0] : !words
        memref.store %v, %box[%c1] : !words
        memref.store %seen, %box[%c2] : !words
      }
      gpu.return
    }
  }

  func.func @ordered(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %box = symm.alloc %ctx : !words
    %flag = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@ordered blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : !words, %flag : !words)
    return
  }

  func.func @next(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %box = symm.alloc %ctx : !words
    %flag = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@next blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : !words, %flag : !words)
    return
  }

  func.func @narrow(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %box = symm.alloc %ctx : !words
    %flag = symm.alloc %ctx : !words
    gpu.launch_func @kernels::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : !words, %flag : !words)
    return
  }
}
