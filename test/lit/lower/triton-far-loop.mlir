// Whether a rank is near is looked up once, where the rank is known: outside loops in which it stays the same (N1).
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.9.0 | FileCheck %s

module attributes {symm.engine = "nvshmem"} {
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, f32, i32, i32) -> (), sym_name = "kernel"}> ({
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %{{.*}}: !tt.ptr<f32>, %{{.*}}: f32, %[[R:.*]]: i32, %{{.*}}: i32)
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %v: f32, %r: i32, %n: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK-DAG: arith.cmpi ult, %[[R]]
  // CHECK-DAG: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
  // CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[R]]
  // CHECK: arith.cmpi ult, %[[NEXT]]
  // CHECK: %[[SECOND:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
  %next = arith.addi %r, %one : i32
  // CHECK: scf.for %[[I:.*]] =
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: arith.cmpi ult, %[[I]]
    // CHECK: %[[EACH:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
    // CHECK-NOT: arith.cmpi slt
    // CHECK: scf.if %[[FIRST]]
    symm.remote_store %ctx, %p, %v, %r : !tt.ptr<f32>, f32
    // CHECK-NOT: arith.cmpi slt
    // CHECK: scf.if %[[SECOND]]
    symm.remote_store %ctx, %p, %v, %next : !tt.ptr<f32>, f32
    // CHECK-NOT: arith.cmpi slt
    // CHECK: scf.if %[[EACH]]
    symm.remote_store %ctx, %p, %v, %i : !tt.ptr<f32>, f32
    // Asked before, and answered.
    // CHECK-NOT: arith.cmpi slt
    // CHECK: scf.if %[[FIRST]]
    symm.remote_store %ctx, %p, %v, %r : !tt.ptr<f32>, f32
  }
  "tt.return"() : () -> ()
}) : () -> ()
}
