// What the pass itself makes; the final text is in nvvm-*.mlir.
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 --canonicalize --cse -split-input-file | FileCheck %s

// A read-modify-write is text that says its order and scope; LLVM's atomicrmw would lose both.
// CHECK-LABEL: gpu.func @update
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.inline_asm has_side_effects "atom.acq_rel.sys.global.add.u64 $0, [$1], $2;", "=l,l,l,~{memory}"
// CHECK: llvm.inline_asm has_side_effects "atom.release.sys.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"
// CHECK: llvm.cmpxchg {{.*}} acq_rel acquire {alignment = 8 : i64} : !llvm.ptr<1>, i64
gpu.module @kernels {
  gpu.func @update(%ctx: !symm.ctx, %f: memref<1xi64>, %g: memref<1xi32>, %v: i64, %w: i32, %peer: i32,
                    %delta: i64) kernel {
    %c0 = arith.constant 0 : index
    %old = symm.atomic_rmw add %ctx, %f[%c0], %v, %peer via %delta : memref<1xi64>, i64
    symm.signal add %ctx, %g[%c0], %w, %peer via %delta : memref<1xi32>, i32
    %was = symm.atomic_cas %ctx, %f[%c0], %old, %v, %peer via %delta : memref<1xi64>, i64
    gpu.return
  }
}

// -----

// O3: the group's barrier, then one thread. O5: relaxed polls, then one fence, then the barrier.
// CHECK-LABEL: gpu.func @group
// CHECK: gpu.barrier
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} atomic release {alignment = 8 : i64} : i64, !llvm.ptr<1>
// CHECK: scf.if %{{.*}} {
// CHECK: scf.while
// CHECK: llvm.load %{{.*}} atomic monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: nvvm.nanosleep
// CHECK: llvm.fence acquire
// CHECK: }
// CHECK-NEXT: gpu.barrier
gpu.module @kernels {
  gpu.func @group(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %peer: i32, %delta: i64) kernel {
    %c0 = arith.constant 0 : index
    symm.signal set %ctx, %f[%c0], %v, %peer via %delta group block : memref<1xi64>, i64
    symm.wait %ctx, %f[%c0] ge %v group block : memref<1xi64>, i64
    gpu.return
  }
}

// -----

// Offset and strides of a memref are kept: what the type says is a constant, the rest is the descriptor's.
// CHECK-LABEL: gpu.func @strided
// CHECK-DAG: %[[OFFSET:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK-DAG: %[[STRIDE:.*]] = llvm.extractvalue %{{.*}}[4, 0]
// CHECK: arith.muli %{{.*}}, %[[STRIDE]]
// CHECK: llvm.getelementptr %{{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr{{.*}} -> vector<4xf32>
gpu.module @kernels {
  gpu.func @strided(%ctx: !symm.ctx, %m: memref<?x?xf32, strided<[?, 1], offset: ?>>, %i: index,
                    %out: memref<?xvector<4xf32>>, %peer: i32, %delta: i64) kernel {
    %v = symm.remote_load %ctx, %m[%i, %i], %peer via %delta
      : memref<?x?xf32, strided<[?, 1], offset: ?>> -> vector<4xf32>
    memref.store %v, %out[%i] : memref<?xvector<4xf32>>
    gpu.return
  }
}
