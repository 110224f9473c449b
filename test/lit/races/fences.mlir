// A release fence orders what comes before it, and one that is too narrow is named.

// DEFINE: %{check} = not symm-check %s --as-written
// RUN: %{check} --entry early | FileCheck %s --check-prefix=EARLY
// RUN: %{check} --entry early --schedules 3 | FileCheck %s --check-prefix=EARLY
// RUN: %{check} --entry early --exhaustive | FileCheck %s --check-prefix=EARLY
// RUN: %{check} --entry early_narrow | FileCheck %s --check-prefix=EARLY
// RUN: %{check} --entry narrow | FileCheck %s --check-prefix=NARROW
// RUN: %{check} --entry narrow --exhaustive | FileCheck %s --check-prefix=NARROW
// RUN: symm-check %s --as-written --entry right --exhaustive | FileCheck %s --check-prefix=RIGHT

// EARLY: error: missing-release
// EARLY: note: rank 0 block 0 thread 0: announces the first access
// EARLY-NEXT: symm.signal
// EARLY: help: a release at scope sys has to come after the first access: what is released is before it
// EARLY: symm-check: 1 error;

// NARROW: error: narrow-release
// NARROW: note: rank 0 block 0 thread 0: announces the first access
// NARROW-NEXT: symm.signal
// NARROW: note: rank 0 block 0 thread 0: releases before it, at scope gpu
// NARROW-NEXT: symm.fence sem release scope gpu
// NARROW: help: the fence before it releases too narrowly: scope sys covers both
// NARROW: symm-check: 1 error;

// RIGHT: nothing found

!word = memref<2xi32>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @early(%ctx: !symm.ctx, %box: !word, %flag: !word) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.fence sem release scope sys
        symm.remote_store %ctx, %box[%c0], %one, %one : !word, i32
        symm.signal set %ctx, %flag[%c0], %one, %one sem relaxed : !word, i32
      } else {
        symm.wait %ctx, %flag[%c0] eq %one : !word, i32
        %v = memref.load %box[%c0] : !word
        memref.store %v, %box[%c1] : !word
      }
      gpu.return
    }

    gpu.func @early_narrow(%ctx: !symm.ctx, %box: !word, %flag: !word) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.fence sem release scope gpu
        symm.remote_store %ctx, %box[%c0], %one, %one : !word, i32
        symm.signal set %ctx, %flag[%c0], %one, %one sem relaxed : !word, i32
      } else {
        symm.wait %ctx, %flag[%c0] eq %one : !word, i32
        %v = memref.load %box[%c0] : !word
        memref.store %v, %box[%c1] : !word
      }
      gpu.return
    }

    gpu.func @narrow(%ctx: !symm.ctx, %box: !word, %flag: !word) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.fence sem release scope sys
        symm.remote_store %ctx, %box[%c0], %one, %one : !word, i32
        symm.fence sem release scope gpu
        symm.signal set %ctx, %flag[%c0], %one, %one sem relaxed : !word, i32
      } else {
        symm.wait %ctx, %flag[%c0] eq %one : !word, i32
        %v = memref.load %box[%c0] : !word
        memref.store %v, %box[%c1] : !word
      }
      gpu.return
    }

    gpu.func @right(%ctx: !symm.ctx, %box: !word, %flag: !word) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.remote_store %ctx, %box[%c0], %one, %one : !word, i32
        symm.fence sem release scope sys
        symm.signal set %ctx, %flag[%c0], %one, %one sem relaxed : !word, i32
      } else {
        symm.wait %ctx, %flag[%c0] eq %one : !word, i32
        %v = memref.load %box[%c0] : !word
        memref.store %v, %box[%c1] : !word
      }
      gpu.return
    }
  }

  func.func @early(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %box = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@early blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : !word, %flag : !word)
    return
  }

  func.func @early_narrow(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %box = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@early_narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : !word, %flag : !word)
    return
  }

  func.func @narrow(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %box = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@narrow blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : !word, %flag : !word)
    return
  }

  func.func @right(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %box = symm.alloc %ctx : !word
    %flag = symm.alloc %ctx : !word
    gpu.launch_func @kernels::@right blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %box : !word, %flag : !word)
    return
  }
}
