// Packets on the CPU (P1): each half of a line is one 64-bit access, whose epoch the runtime waits for.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s
// RUN: symm-opt %s --symm-cpu | FileCheck %s --check-prefix=LLVM
// LLVM: llvm.func @put(

// CHECK-LABEL: func.func @put(
func.func @put(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i64, %e: i32, %r: i32, %d: i64) {
  // CHECK: %[[LINE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  // CHECK-DAG: %[[LOW:.*]] = arith.andi %{{.*}}, %c4294967295_i64 : i64
  // CHECK-DAG: %[[HIGH:.*]] = arith.shrui %{{.*}}, %c32_i64 : i64
  // CHECK-DAG: %[[FIRST:.*]] = arith.ori %[[LOW]], %[[EPOCH:.*]] : i64
  // CHECK-DAG: %[[SECOND:.*]] = arith.ori %[[HIGH]], %[[EPOCH]] : i64
  // CHECK: llvm.store %[[FIRST]], %{{.*}} atomic monotonic {alignment = 8 : i64} : i64, !llvm.ptr
  // CHECK: call @symm_rt_wake
  // CHECK: llvm.store %[[SECOND]], %{{.*}} atomic monotonic {alignment = 8 : i64} : i64, !llvm.ptr
  // CHECK: call @symm_rt_wake
  symm.put_packet %ctx, %p, %v, %e, %r via %d : !llvm.ptr, i64
  return
}

// CHECK-LABEL: func.func @wait(
func.func @wait(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32) -> vector<3xf32> {
  // Two lines, of two epochs each.
  // CHECK-COUNT-4: call @symm_rt_wait32
  // CHECK-COUNT-4: llvm.load %{{.*}} atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
  // CHECK: llvm.shufflevector %{{.*}} [0, 1, 2] : vector<4xi32>
  %v = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> vector<3xf32>
  return %v : vector<3xf32>
}

// CHECK-LABEL: func.func @look(
func.func @look(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32) -> (f64, i1) {
  // CHECK-NOT: call
  // CHECK-COUNT-2: llvm.load %{{.*}} atomic monotonic
  %v, %valid = symm.try_packet %ctx, %p, %e : !llvm.ptr -> f64, i1
  return %v, %valid : f64, i1
}
