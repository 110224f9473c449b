// Peers that an engine reaches: for a near one what there is without it, for a far one a call (N1 to N4).
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.9.0 | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.6.0 | FileCheck %s

module attributes {symm.engine = "nvshmem"} {
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8xi1>,
  tensor<8xf32>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "kernel"}> ({
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[Q:.*]]: tensor<8x!tt.ptr<f32>>,
// CHECK-SAME: %[[M:.*]]: tensor<8xi1>, %[[Z:.*]]: tensor<8xf32>, %[[F:.*]]: !tt.ptr<i32>, %[[V:.*]]: i32,
// CHECK-SAME: %{{.*}}: i32)
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>,
     %z: tensor<8xf32>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // Whether it is near is the sign of a word of the table, and its lower half the engine's number of the rank; a rank
  // that is out of range is not the engine's.
  // CHECK: %[[REACH:.*]] = arith.select %{{.*}}, %{{.*}}, %c-9223372036854775808_i64{{.*}} : i64
  // CHECK: %[[IS_NEAR:.*]] = arith.cmpi slt, %[[REACH]], %c0_i64{{.*}} : i64
  // CHECK: %[[PE:.*]] = arith.trunci %[[REACH]] : i64 to i32
  // CHECK: scf.if %[[IS_NEAR]]
  // CHECK-NEXT: "tt.store"(%{{.*}}, %[[Z]], %[[M]])
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[AT:.*]] = "tt.ptr_to_int"(%[[P]]) : (tensor<8x!tt.ptr<f32>>) -> tensor<8xi64>
  // CHECK: %[[RANKS:.*]] = "tt.splat"(%[[PE]]) : (i32) -> tensor<8xi32>
  // CHECK: %[[ON:.*]] = arith.extui %[[M]] : tensor<8xi1> to tensor<8xi32>
  // CHECK: "tt.extern_elementwise"(%[[AT]], %{{.*}}, %[[RANKS]], %[[ON]]) {libname = "", libpath = "", pure = false,
  // CHECK-SAME: symbol = "symm_far_p4"} : (tensor<8xi64>, tensor<8xi64>, tensor<8xi32>, tensor<8xi32>)
  // CHECK: "tt.extern_elementwise"(%{{.*}}) {{.*}}symbol = "symm_far_quiet"} : (i32) -> i32
  symm.remote_store %ctx, %p, %z, %r mask %m : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  // CHECK: %[[LOADED:.*]] = scf.if %{{.*}} -> (tensor<8xf32>)
  // CHECK-NEXT: %[[HERE:.*]] = "tt.load"(%{{.*}}, %[[M]], %[[Z]])
  // CHECK-NEXT: scf.yield %[[HERE]]
  // CHECK: symbol = "symm_far_g4"}
  // CHECK: scf.yield
  %loaded = symm.remote_load %ctx, %p, %r mask %m : tensor<8xi1> other %z : tensor<8xf32>
    : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // In one piece, where it is one; else element by element.
  // CHECK: scf.if
  // CHECK: "tt.load"(%[[P]])
  // CHECK: } else {
  // CHECK: "tt.make_range"()
  // CHECK: scf.if
  // CHECK-NEXT: "tt.extern_elementwise"({{.*}}symbol = "symm_far_put"}
  // CHECK: } else {
  // CHECK: symbol = "symm_far_p4"}
  symm.put %ctx, %p, %q, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // All threads are there before one of them signals.
  // CHECK: barrier
  // CHECK: scf.if
  // CHECK-NEXT: "tt.atomic_rmw"
  // CHECK-NEXT: } else {
  // CHECK: symbol = "symm_far_signal"}
  symm.signal set %ctx, %f, %v, %r group block : !tt.ptr<i32>, i32
  // CHECK: scf.if %{{.*}} -> (i32)
  // CHECK: symbol = "symm_far_update"}
  %old = symm.atomic_rmw add %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  // What is known to be here is near.
  // CHECK-NOT: scf.if
  // CHECK: "tt.store"(%[[F]], %{{.*}})
  %none = arith.constant 0 : i64
  symm.remote_store %ctx, %f, %old, %r via %none : !tt.ptr<i32>, i32
  // CHECK: "test.use"
  "test.use"(%loaded) : (tensor<8xf32>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// A block of ranks: where one is far all are the engine's, also those that are near; a rank that is out of range is
// given a number that no rank has.
// CHECK-LABEL: sym_name = "block"
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> (), sym_name = "block"}> ({
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[P:.*]]: tensor<8x!tt.ptr<i32>>, %[[R:.*]]: tensor<8xi32>)
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<i32>>, %r: tensor<8xi32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[R]], %{{.*}} : tensor<8xi32>
  // CHECK: %[[REACHES:.*]] = "tt.load"(%{{.*}}) {{.*}} : (tensor<8x!tt.ptr<i64>>) -> tensor<8xi64>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<8xi64>
  // CHECK: %[[IS_FAR:.*]] = arith.cmpi sge, %[[REACHES]], %[[ZERO]] : tensor<8xi64>
  // CHECK: arith.andi %[[IS_FAR]], %[[IN]] : tensor<8xi1>
  // CHECK: "tt.reduce"
  // CHECK: %[[NOBODY:.*]] = arith.constant dense<2147483647> : tensor<8xi32>
  // CHECK: %[[NUMBERS:.*]] = arith.trunci %[[REACHES]] : tensor<8xi64> to tensor<8xi32>
  // CHECK: %[[PES:.*]] = arith.select %[[IN]], %[[NUMBERS]], %[[NOBODY]] : tensor<8xi1>, tensor<8xi32>
  // CHECK: "tt.extern_elementwise"(%{{.*}}, %{{.*}}, %[[PES]], %{{.*}}) {{.*}}symbol = "symm_far_p4"}
  symm.remote_store %ctx, %p, %r, %r each tensor<8xi32> : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "barrier"
"tt.func"() <{function_type = (!tt.ptr<i64>) -> (), sym_name = "barrier"}> ({
^bb0(%table: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: scf.for
  // CHECK: %[[REACH:.*]] = "tt.load"
  // CHECK: %[[IS_NEAR:.*]] = arith.cmpi slt, %[[REACH]],
  // CHECK: scf.if %[[IS_NEAR]]
  // CHECK: } else {
  // CHECK: %[[PE:.*]] = arith.trunci %[[REACH]] : i64 to i32
  // CHECK: "tt.extern_elementwise"({{.*}}, %[[PE]]) {{.*}}symbol = "symm_far_signal"}
  symm.barrier %ctx
  "tt.return"() : () -> ()
}) : () -> ()
}
