// What stands around an order for LLVM alone, which no instruction shows: a memory clobber after every acquire, so that
// nothing after it is loaded through the scalar cache; fences on both sides of a wave's barrier; and what a barrier waits
// for where a function that the kernel calls releases.
// RUN: symm-opt %s --symm-lower-to-rocdl | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @atomics(
  // CHECK:       llvm.atomicrmw add {{.*}} acquire
  // CHECK-NEXT:  llvm.inline_asm has_side_effects "", "~{memory}"
  // CHECK:       llvm.cmpxchg {{.*}} acquire acquire
  // CHECK-NOT:   llvm.atomicrmw
  // CHECK:       llvm.inline_asm has_side_effects "", "~{memory}"
  // CHECK:       llvm.atomicrmw add {{.*}} monotonic
  // CHECK-NOT:   llvm.inline_asm
  // CHECK:       gpu.return
  gpu.func @atomics(%ctx: !symm.ctx, %a: memref<8xi32>, %i: index, %v: i32, %p: i32) kernel {
    %0 = symm.atomic_rmw add %ctx, %a[%i], %v, %p sem acquire : memref<8xi32>, i32
    %1 = symm.atomic_cas %ctx, %a[%i], %0, %v, %p : memref<8xi32>, i32
    %2 = symm.atomic_rmw add %ctx, %a[%i], %1, %p sem release : memref<8xi32>, i32
    gpu.return
  }

  // CHECK-LABEL: gpu.func @wave(
  // CHECK:       llvm.fence syncscope("wavefront") acq_rel
  // CHECK-NEXT:  llvm.call_intrinsic "llvm.amdgcn.wave.barrier"
  // CHECK-NEXT:  llvm.fence syncscope("wavefront") acq_rel
  // CHECK:       gpu.return
  gpu.func @wave(%ctx: !symm.ctx, %f: memref<8xi64>, %i: index, %v: i64, %p: i32) kernel {
    symm.signal set %ctx, %f[%i], %v, %p group warp : memref<8xi64>, i64
    gpu.return
  }

  func.func private @tell(%ctx: !symm.ctx, %f: memref<8xi64>, %i: index, %v: i64, %p: i32) {
    symm.signal set %ctx, %f[%i], %v, %p : memref<8xi64>, i64
    return
  }
  // CHECK-LABEL: gpu.func @calls(
  // CHECK:       memref.store
  // CHECK-NEXT:  llvm.fence syncscope("workgroup") release
  // CHECK-NEXT:  rocdl.s.waitcnt
  // CHECK-NEXT:  gpu.barrier
  gpu.func @calls(%ctx: !symm.ctx, %f: memref<8xi64>, %a: memref<8xi64>, %i: index, %v: i64, %p: i32, %c: i1) kernel {
    memref.store %v, %a[%i] : memref<8xi64>
    gpu.barrier
    scf.if %c {
      func.call @tell(%ctx, %f, %i, %v, %p) : (!symm.ctx, memref<8xi64>, index, i64, i32) -> ()
    }
    gpu.return
  }
}
