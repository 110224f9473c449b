// What the pass itself makes; the final text is in rocdl-*.mlir.
// RUN: symm-opt %s --symm-lower-to-rocdl=chip=gfx942 --canonicalize --cse -split-input-file | FileCheck %s

// A release is a fence that is waited for, before a relaxed access; an acquire and release one splits alike.
// CHECK-LABEL: gpu.func @update
// CHECK: llvm.fence release
// CHECK-NEXT: rocdl.s.waitcnt 3952
// CHECK-NEXT: llvm.store %{{.*}} atomic monotonic {alignment = 8 : i64} : i64, !llvm.ptr<1>
// CHECK: llvm.fence release
// CHECK-NEXT: rocdl.s.waitcnt 3952
// CHECK-NEXT: llvm.atomicrmw add %{{.*}} acquire {alignment = 8 : i64} : !llvm.ptr<1>, i64
// CHECK: llvm.fence release
// CHECK-NEXT: rocdl.s.waitcnt 3952
// CHECK-NEXT: llvm.fence acquire
gpu.module @kernels {
  gpu.func @update(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %peer: i32, %delta: i64) kernel {
    %c0 = arith.constant 0 : index
    symm.signal set %ctx, %f[%c0], %v, %peer via %delta : memref<1xi64>, i64
    %old = symm.atomic_rmw add %ctx, %f[%c0], %v, %peer via %delta : memref<1xi64>, i64
    symm.fence
    gpu.return
  }
}

// -----

// O3: every thread of the group releases to the GPU before the barrier, the first one to its peers after it.
// CHECK-LABEL: gpu.func @group
// CHECK: llvm.fence syncscope("agent") release
// CHECK-NEXT: rocdl.s.waitcnt 3952
// CHECK-NEXT: gpu.barrier
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: llvm.fence release
// CHECK-NEXT: rocdl.s.waitcnt 3952
// CHECK-NEXT: llvm.store %{{.*}} atomic monotonic
// CHECK: scf.while
// CHECK: rocdl.s.sleep
// CHECK: llvm.load %{{.*}} atomic monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.fence acquire
// CHECK: gpu.barrier
gpu.module @kernels {
  gpu.func @group(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %peer: i32, %delta: i64) kernel {
    %c0 = arith.constant 0 : index
    symm.signal set %ctx, %f[%c0], %v, %peer via %delta group block : memref<1xi64>, i64
    symm.wait %ctx, %f[%c0] ge %v group block : memref<1xi64>, i64
    gpu.return
  }
}

// -----

// The sizes of blocks and grids are words of the implicit arguments, and no block is empty.
// CHECK-LABEL: gpu.func @sizes
// CHECK: %[[WORDS:.*]] = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"() : () -> !llvm.ptr<4>
// CHECK: %[[WIDTH:.*]] = llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<4> -> i16
// CHECK: %[[SOME:.*]] = arith.cmpi ne, %[[WIDTH]], %c0_i16
// CHECK: llvm.intr.assume %[[SOME]]
// CHECK: llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr<4> -> i32
gpu.module @kernels {
  gpu.func @sizes(%out: memref<2xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %width = gpu.block_dim x
    %blocks = gpu.grid_dim x
    memref.store %width, %out[%c0] : memref<2xindex>
    memref.store %blocks, %out[%c1] : memref<2xindex>
    gpu.return
  }
}
