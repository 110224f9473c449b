// A helper function may hold any op of the dialect and be inlined.
// RUN: symm-opt %s --inline | FileCheck %s

// CHECK-LABEL: func.func @caller(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[F:[a-z0-9]+]]: memref<i64>, %[[V:[a-z0-9]+]]: i64)
func.func @caller(%ctx: !symm.ctx, %f: memref<i64>, %v: i64) {
  // CHECK-NEXT: %[[ME:.*]] = symm.rank %[[CTX]]
  // CHECK-NEXT: symm.signal add %[[CTX]], %[[F]], %[[V]], %[[ME]] : memref<i64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[F]] ge %[[V]] : memref<i64>, i64
  // CHECK-NEXT: symm.barrier_all %[[CTX]]
  // CHECK-NEXT: return
  func.call @meet(%ctx, %f, %v) : (!symm.ctx, memref<i64>, i64) -> ()
  return
}
// CHECK-NOT: @meet
func.func private @meet(%ctx: !symm.ctx, %f: memref<i64>, %v: i64) {
  %me = symm.rank %ctx
  symm.signal add %ctx, %f, %v, %me : memref<i64>, i64
  symm.wait %ctx, %f ge %v : memref<i64>, i64
  symm.barrier_all %ctx
  return
}
