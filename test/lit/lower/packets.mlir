// How values lie in the lines of packets (P1): padded to words, a word in two halves, each with the epoch above it.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s

// 12 bytes are two lines, the second of which has four bytes of zeros.
// CHECK-LABEL: func.func @put(
func.func @put(%ctx: !symm.ctx, %v: vector<3xf32>, %p: !llvm.ptr, %e: i32, %peer: i32) {
  // CHECK-DAG: %[[E:.*]] = arith.extui %arg3 : i32 to i64
  // CHECK-DAG: %[[EPOCH:.*]] = arith.shli %[[E]], %c32_i64
  // CHECK: %[[PADDED:.*]] = llvm.shufflevector %{{.*}}, %{{.*}} [0, 1, 2, 3] : vector<3xi32>
  // CHECK: %[[WORDS:.*]] = llvm.bitcast %[[PADDED]] : vector<4xi32> to vector<2xi64>
  // CHECK-COUNT-2: llvm.extractelement %[[WORDS]]
  // CHECK-COUNT-4: llvm.store {{.*}} atomic monotonic {alignment = 8 : i64}
  // CHECK-NOT: llvm.store
  // CHECK: return
  symm.put_packet %ctx, %p, %v, %e, %peer : !llvm.ptr, vector<3xf32>
  return
}

// What is looked at is valid if both halves are of the epoch.
// CHECK-LABEL: func.func @look(
func.func @look(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32) -> (i16, i1) {
  // CHECK-COUNT-2: arith.cmpi ne, %{{.*}}, %arg2 : i32
  // CHECK: arith.ori
  // CHECK: arith.trunci %{{.*}} : i64 to i16
  %v, %valid = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i16, i1
  return %v, %valid : i16, i1
}

// A mask for each lane: a line is waited for if one of its lanes is on.
// CHECK-LABEL: func.func @masked(
func.func @masked(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %on: vector<3xi1>) -> vector<3xf32> {
  // CHECK: %[[ANY:.*]] = arith.ori %{{.*}}, %{{.*}} : i1
  // CHECK: scf.if %[[ANY]]
  // CHECK-COUNT-2: call @symm_rt_wait32
  // CHECK: arith.select %arg3, %{{.*}}, %{{.*}} : vector<3xi1>, vector<3xi32>
  %v = symm.wait_packet %ctx, %p, %e mask %on : vector<3xi1> : !llvm.ptr -> vector<3xf32>
  return %v : vector<3xf32>
}
