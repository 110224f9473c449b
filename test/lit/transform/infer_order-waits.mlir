// Where a fence costs more than acquires, waits stay as they are; signals do not.
// RUN: symm-opt %s --symm-infer-order=fence-waits=false | FileCheck %s

// CHECK-LABEL: func.func @gather(
func.func @gather(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %v: i64, %p: i32, %q: i32) {
  // CHECK-NEXT: symm.fence sem release
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed :
  // CHECK-NEXT: symm.wait %{{.*}}, %{{.*}}[%{{.*}}] ge %{{[a-z0-9]+}} :
  // CHECK-NEXT: symm.wait %{{.*}}, %{{.*}}[%{{.*}}] ge %{{[a-z0-9]+}} :
  // CHECK-NEXT: return
  symm.signal set %ctx, %flag[%i], %v, %p : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %q : memref<8xi64>, i64
  symm.wait %ctx, %flag[%i] ge %v : memref<8xi64>, i64
  symm.wait %ctx, %flag[%j] ge %v : memref<8xi64>, i64
  return
}
