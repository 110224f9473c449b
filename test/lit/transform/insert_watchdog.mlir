// RUN: symm-opt %s --symm-insert-watchdog=timeout-ms=250 | FileCheck %s
// RUN: not symm-opt %s --symm-insert-watchdog=timeout-ms=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: option 'timeout-ms' takes a whole number from 1 to 9223372036854775807, got '0'

// CHECK-LABEL: @wait
// CHECK-SAME: (%[[CTX:.*]]: !symm.ctx, %[[FLAGS:.*]]: memref<4xi64>, %[[I:.*]]: index, %[[V:.*]]: i64)
// CHECK: %[[DEADLINE:.*]] = arith.constant 250000000 : i64
// CHECK: %[[SEEN:.*]] = symm.wait %[[CTX]], %[[FLAGS]][%[[I]]] unsigned gt %[[V]] timeout %[[DEADLINE]] scope gpu group block : memref<4xi64>, i64 -> i1
// CHECK: %[[LATE:.*]] = arith.xori %[[SEEN]]
// CHECK: scf.if %[[LATE]] {
// CHECK: %[[SAW:.*]] = llvm.load volatile
// CHECK: symm.fault %[[CTX]], "wait on heap offset {}: saw {}, expected gt {}"(%{{.*}}, %[[SAW]], %[[V]]) : i64, i64, i64
func.func @wait(%ctx: !symm.ctx, %flags: memref<4xi64>, %i: index, %v: i64) {
  symm.wait %ctx, %flags[%i] unsigned gt %v scope gpu group block : memref<4xi64>, i64
  return
}

// A wait with a timeout of its own stays.
// CHECK-LABEL: @own_timeout
// CHECK-NOT: symm.fault
// CHECK: return
func.func @own_timeout(%ctx: !symm.ctx, %flag: !llvm.ptr, %v: i32, %ns: i64) -> i1 {
  %seen = symm.wait %ctx, %flag eq %v timeout %ns : !llvm.ptr, i32 -> i1
  return %seen : i1
}

// A packet is waited for by the epochs of its lines, with the deadline, and then taken.
// CHECK-LABEL: @packet
// CHECK: %[[SEEN:.*]] = symm.wait %{{.*}}, %{{.*}} eq %[[E:.*]] timeout %{{.*}} sem relaxed : !llvm.ptr, i32 -> i1
// CHECK: symm.fault %{{.*}}, "wait_packet on heap offset {}: saw epoch {}, expected {}"(%{{.*}}, %{{.*}}, %[[E]]) : i64, i32, i32
// CHECK-COUNT-3: symm.wait
// CHECK: symm.wait_packet
func.func @packet(%ctx: !symm.ctx, %slots: memref<?xi32>, %i: index, %e: i32) -> vector<4xf32> {
  %v = symm.wait_packet %ctx, %slots[%i], %e : memref<?xi32> -> vector<4xf32>
  return %v : vector<4xf32>
}

// CHECK-LABEL: @masked_packet
// CHECK: scf.if %[[ON:.*]] {
// CHECK: symm.wait
// CHECK: symm.wait_packet {{.*}} mask %[[ON]]
func.func @masked_packet(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %on: i1) -> i64 {
  %v = symm.wait_packet %ctx, %p, %e mask %on : i1 : !llvm.ptr -> i64
  return %v : i64
}

// Of floats, for each word.
// CHECK-LABEL: @floats
// CHECK: symm.wait %{{.*}}, %{{.*}} ne %[[SIGN:.*]] timeout %{{.*}} sem relaxed : !llvm.ptr, i32 -> i1
// CHECK: symm.fault %{{.*}}, "wait_packet on heap offset {}: saw {}, expected anything but {}"
// CHECK-COUNT-3: symm.wait
// CHECK: symm.wait_packet
func.func @floats(%ctx: !symm.ctx, %slots: memref<?xi32>, %i: index) -> vector<4xf32> {
  %v = symm.wait_packet %ctx, %slots[%i], sentinel 32 : memref<?xi32> -> vector<4xf32>
  return %v : vector<4xf32>
}
