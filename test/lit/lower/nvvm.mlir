// What the pass itself makes; the final text is in nvvm-*.mlir.
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 --canonicalize --cse -split-input-file | FileCheck %s
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 -split-input-file | FileCheck %s --check-prefix=ONCE

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

// O3: the group's barrier, then one thread. O5: some polls in order, then relaxed ones and one fence, then the barrier.
// CHECK-LABEL: gpu.func @group
// CHECK: gpu.barrier
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} atomic release {alignment = 8 : i64} : i64, !llvm.ptr<1>
// CHECK: scf.if %{{.*}} {
// CHECK: %[[LOOP:.*]]:2 = scf.while
// CHECK: llvm.load %{{.*}} atomic acquire {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: arith.cmpi slt, %{{.*}}, %c64
// CHECK: scf.if %[[LOOP]]#1
// CHECK: scf.while
// CHECK: nvvm.nanosleep
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

// -----

// Before a loop the start is translated once for all accesses, as a pointer of its own: LLVM's loop strength
// reduction would take a sum apart for each. The mask keeps what is known of the alignment, and changes nothing else.
// CHECK-LABEL: gpu.func @loop
// CHECK-SAME: !llvm.ptr, %[[DATA:[a-z0-9]*]]: !llvm.ptr {llvm.align = 16 : i64}, %{{[a-z0-9]*}}: i32, %[[DELTA:[a-z0-9]*]]: i64
// 2^61 - 16
// CHECK-DAG: %[[ALL:.*]] = arith.constant 2305843009213693936 : i64
// CHECK-DAG: %[[MASK:.*]] = arith.ori %[[DELTA]], %[[ALL]]
// CHECK-DAG: %[[GLOBAL:.*]] = llvm.addrspacecast %[[DATA]] : !llvm.ptr to !llvm.ptr<1>
// CHECK: %[[MOVED:.*]] = llvm.getelementptr %[[GLOBAL]][%[[DELTA]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK: %[[START:.*]] = llvm.intr.ptrmask %[[MOVED]], %[[MASK]]
// ONCE-LABEL: gpu.func @loop
// ONCE-COUNT-1: llvm.intr.ptrmask
// ONCE-NOT: llvm.intr.ptrmask
// CHECK-NOT: ptrmask
// CHECK: scf.for
// CHECK: %[[P:.*]] = llvm.getelementptr %[[START]][{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK: llvm.load %[[P]] {{.*}} : !llvm.ptr<1> -> f32
// CHECK: %[[Q:.*]] = llvm.getelementptr %[[START]][{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f64
// CHECK: llvm.store %{{.*}}, %[[Q]] {{.*}} : f32, !llvm.ptr<1>
gpu.module @kernels {
  gpu.func @loop(%ctx: !symm.ctx, %data: !llvm.ptr {llvm.align = 16 : i64}, %peer: i32, %delta: i64, %n: i64) kernel {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    scf.for %i = %c0 to %n step %c1 : i64 {
      %p = llvm.getelementptr %data[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = symm.remote_load %ctx, %p, %peer via %delta : !llvm.ptr -> f32
      %q = llvm.getelementptr %data[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      symm.remote_store %ctx, %q, %v, %peer via %delta : !llvm.ptr, f32
    }
    gpu.return
  }
}

// -----

// Outside of loops it is the sum, and one for all accesses too.
// CHECK-LABEL: gpu.func @straight
// CHECK-NOT: ptrmask
// ONCE-LABEL: gpu.func @straight
// ONCE-COUNT-1: (!llvm.ptr, i64) -> !llvm.ptr, i8
// ONCE-NOT: (!llvm.ptr, i64) -> !llvm.ptr, i8
gpu.module @kernels {
  gpu.func @straight(%ctx: !symm.ctx, %data: !llvm.ptr, %peer: i32, %delta: i64) kernel {
    %v = symm.remote_load %ctx, %data, %peer via %delta : !llvm.ptr -> f32
    %p = llvm.getelementptr %data[1] : (!llvm.ptr) -> !llvm.ptr, f32
    symm.remote_store %ctx, %p, %v, %peer via %delta : !llvm.ptr, f32
    gpu.return
  }
}

// -----

// Heaps that no addresses hold, as an inner module may have them: the rank is read from the table, as anywhere.
// ONCE-LABEL: gpu.func @beyond
// CHECK-LABEL: gpu.func @beyond
// CHECK-NOT: llvm.ptrtoint
// CHECK: llvm.load %{{.*}} invariant
// CHECK: llvm.store
module attributes {symm.num_ranks = 3 : i32, symm.heap_stride = 6291456 : i64, symm.table_in_heap} {
  gpu.module @kernels attributes {symm.num_ranks = 2147483647 : i32, symm.heap_stride = 4611686018427387904 : i64} {
    gpu.func @beyond(%ctx: !symm.ctx, %value: f32, %mine: !llvm.ptr, %peer: i32) kernel {
      symm.remote_store %ctx, %mine, %value, %peer : !llvm.ptr, f32
      gpu.return
    }
  }
}
