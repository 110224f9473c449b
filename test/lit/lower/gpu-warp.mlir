// The threads of a warp: all of them where blocks are known to be whole warps, else what is left of the block. A copy's
// threads step by as many as there are, and a barrier's signal to all ranks.
// RUN: symm-opt %s --symm-lower-to-nvvm --canonicalize --cse | FileCheck %s -D'$WARP'=32
// RUN: symm-opt %s --symm-lower-to-rocdl --canonicalize --cse | FileCheck %s -D'$WARP'=64

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @whole(
  // CHECK-DAG: %[[SIZE:.*]] = arith.constant [[$WARP]] : i64
  // CHECK-DAG: %[[ID:.*]] = gpu.lane_id
  // CHECK: %[[LANE:.*]] = arith.index_cast %[[ID]] : index to i64
  // CHECK: call @_symm_copy_4x8(%{{.*}}, %{{.*}}, %{{.*}}, %[[LANE]], %[[SIZE]])
  gpu.func @whole(%ctx: !symm.ctx, %m: memref<1024xf32>, %p: i32) kernel
      attributes {known_block_size = array<i32: 64, 2, 1>} {
    symm.get %ctx, %m, %m, %p group warp : memref<1024xf32>, memref<1024xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @less_than_one(
  // CHECK-DAG: %[[SIZE:.*]] = arith.constant 16 : i64
  // CHECK-DAG: %[[ID:.*]] = gpu.lane_id
  // CHECK: %[[LANE:.*]] = arith.index_cast %[[ID]] : index to i64
  // CHECK: call @_symm_copy_4x8(%{{.*}}, %{{.*}}, %{{.*}}, %[[LANE]], %[[SIZE]])
  gpu.func @less_than_one(%ctx: !symm.ctx, %m: memref<1024xf32>, %p: i32) kernel
      attributes {known_block_size = array<i32: 4, 2, 2>} {
    symm.get %ctx, %m, %m, %p group warp : memref<1024xf32>, memref<1024xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @barrier(
  // CHECK-DAG: %[[SIZE:.*]] = arith.constant 16 : i64
  // CHECK: scf.for %{{.*}} step %[[SIZE]] : i64
  // CHECK: scf.for %{{.*}} step %[[SIZE]] : i64
  gpu.func @barrier(%ctx: !symm.ctx) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    symm.barrier %ctx group warp
    gpu.return
  }

  // The last warp of 104 threads has 8; on AMD 40.
  // CHECK-LABEL: gpu.func @known(
  // CHECK-DAG: %[[WHOLE:.*]] = arith.constant [[$WARP]] : i64
  // CHECK-DAG: %[[THREADS:.*]] = arith.constant 104 : i64
  // CHECK-DAG: %[[ID:.*]] = gpu.lane_id
  // CHECK-DAG: %[[LANE:.*]] = arith.index_cast %[[ID]] : index to i64
  // CHECK: %[[FIRST:.*]] = arith.subi %{{.*}}, %[[LANE]] : i64
  // CHECK: %[[LEFT:.*]] = arith.subi %[[THREADS]], %[[FIRST]] : i64
  // CHECK: %[[SIZE:.*]] = arith.minsi %[[LEFT]], %[[WHOLE]] : i64
  // CHECK: call @_symm_copy_4x4(%{{.*}}, %{{.*}}, %{{.*}}, %[[LANE]], %[[SIZE]])
  gpu.func @known(%ctx: !symm.ctx, %m: memref<1024xf32>, %f: memref<1xi64>, %v: i64, %p: i32) kernel
      attributes {known_block_size = array<i32: 104, 1, 1>} {
    %c0 = arith.constant 0 : index
    symm.put_signal set %ctx, %m, %m, %f[%c0], %v, %p group warp
      : memref<1024xf32>, memref<1024xf32>, memref<1xi64>, i64
    gpu.return
  }

  // Elements without rows.
  // CHECK-LABEL: gpu.func @unknown(
  // CHECK-DAG: %[[WHOLE:.*]] = arith.constant [[$WARP]] : i64
  // CHECK-DAG: %[[ID:.*]] = gpu.lane_id
  // CHECK-DAG: %[[LANE:.*]] = arith.index_cast %[[ID]] : index to i64
  // CHECK: %[[FIRST:.*]] = arith.subi %{{.*}}, %[[LANE]] : i64
  // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]] : i64
  // CHECK: %[[SIZE:.*]] = arith.minsi %[[LEFT]], %[[WHOLE]] : i64
  // CHECK: %[[STEP:.*]] = arith.index_cast %[[SIZE]] : i64 to index
  // CHECK: scf.for %{{.*}} step %[[STEP]]
  gpu.func @unknown(%ctx: !symm.ctx, %m: memref<64xf16, strided<[3]>>, %p: i32) kernel {
    symm.put %ctx, %m, %m, %p group warp : memref<64xf16, strided<[3]>>, memref<64xf16, strided<[3]>>
    gpu.return
  }

  // The word in which a wait finds its answer is the warp's own, however many threads it has.
  // CHECK-LABEL: gpu.func @wait(
  // CHECK-DAG: %[[WHOLE:.*]] = arith.constant [[$WARP]] : i64
  // CHECK: arith.divui %{{.*}}, %[[WHOLE]] : i64
  gpu.func @wait(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %out: memref<1xi1>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %seen = symm.wait %ctx, %f[%c0] ge %v timeout %v group warp : memref<1xi64>, i64 -> i1
    memref.store %seen, %out[%c0] : memref<1xi1>
    gpu.return
  }
}
