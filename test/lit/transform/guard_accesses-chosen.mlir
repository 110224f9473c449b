// Pointers of several tensors and ranks: the ends that each element is checked against are chosen as the pointers are.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-guard-accesses --mlir-print-op-generic | FileCheck %s

!words = !tt.ptr<i64>
!pointers = tensor<64x!tt.ptr<f32>>
!rows = tensor<64x1x!tt.ptr<f32>>

// CHECK-LABEL: sym_name = "select"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, !tt.ptr<f32>, i1, f32) -> (), sym_name = "select"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %which: i1, %v: f32):
  // CHECK: symm.ctx
  // CHECK-DAG: %[[HEAP:.*]]:3 = "scf.while"
  // CHECK-DAG: %[[ONE:.*]]:3 = "scf.while"
  // CHECK-DAG: %[[TWO:.*]]:3 = "scf.while"
  %ctx = symm.ctx %table : !words
  // CHECK: %[[P:.*]] = "arith.select"(%[[WHICH:[^,]*]], %{{.*}}, %{{.*}}) : (i1, !tt.ptr<f32>, !tt.ptr<f32>)
  %p = "arith.select"(%which, %a, %b) : (i1, !tt.ptr<f32>, !tt.ptr<f32>) -> !tt.ptr<f32>
  // CHECK-DAG: %[[START:.*]] = "arith.select"(%[[WHICH]], %{{.*}}#1, %{{.*}}#1) : (i1, i64, i64) -> i64
  // CHECK-DAG: %[[END:.*]] = "arith.select"(%[[WHICH]], %{{.*}}#2, %{{.*}}#2) : (i1, i64, i64) -> i64
  // CHECK: "arith.subi"(%[[END]], %[[START]])
  // CHECK: "tt.store"(%[[P]], %{{.*}}) : (!tt.ptr<f32>, f32)
  "tt.store"(%p, %v) : (!tt.ptr<f32>, f32) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "each"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, !tt.ptr<f32>, tensor<64xi1>, i32) -> (), sym_name = "each"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %which: tensor<64xi1>, %peer: i32):
  %ctx = symm.ctx %table : !words
  %as = "tt.splat"(%a) : (!tt.ptr<f32>) -> !pointers
  %bs = "tt.splat"(%b) : (!tt.ptr<f32>) -> !pointers
  %each = "arith.select"(%which, %as, %bs) : (tensor<64xi1>, !pointers, !pointers) -> !pointers
  // CHECK: %[[ROWS:.*]] = "tt.expand_dims"({{.*}} -> tensor<64x1x!tt.ptr<f32>>
  %rows = "tt.expand_dims"(%each) <{axis = 1 : i32}> : (!pointers) -> !rows
  // CHECK: "arith.select"({{.*}} : (tensor<64xi1>, tensor<64xi64>, tensor<64xi64>)
  // CHECK: "arith.select"({{.*}} : (tensor<64xi1>, tensor<64xi64>, tensor<64xi64>)
  // CHECK: %[[START:.*]] = "tt.expand_dims"(%{{.*}}) {axis = 1 : i32} : (tensor<64xi64>) -> tensor<64x1xi64>
  // CHECK: %[[END:.*]] = "tt.expand_dims"(%{{.*}}) {axis = 1 : i32} : (tensor<64xi64>) -> tensor<64x1xi64>
  // CHECK: "arith.subi"(%[[END]], %[[START]]) {{.*}} : (tensor<64x1xi64>, tensor<64x1xi64>)
  // CHECK: "symm.remote_load"(%{{.*}}, %[[ROWS]]
  %v = symm.remote_load %ctx, %rows, %peer : !rows -> tensor<64x1xf32>
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "ranks"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, tensor<64xi32>) -> (), sym_name = "ranks"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %ranks: tensor<64xi32>):
  %ctx = symm.ctx %table : !words
  // CHECK: %[[HERE:.*]] = "tt.splat"({{.*}} -> tensor<64x!tt.ptr<f32>>
  %as = "tt.splat"(%a) : (!tt.ptr<f32>) -> !pointers
  // CHECK: %[[THERE:.*]] = "symm.as_remote"
  %there = symm.as_remote %ctx, %as, %ranks each tensor<64xi32> : !pointers
  // CHECK: %[[TO:.*]] = "tt.ptr_to_int"(%[[THERE]])
  // CHECK: %[[FROM:.*]] = "tt.ptr_to_int"(%[[HERE]])
  // CHECK: %[[FAR:.*]] = "arith.subi"(%[[TO]], %[[FROM]])
  // CHECK: %[[AT:.*]] = "tt.ptr_to_int"(%[[THERE]])
  // CHECK: "arith.subi"(%[[AT]], %[[FAR]])
  // CHECK: "scf.if"
  // CHECK: "tt.load"(%[[THERE]])
  %v = "tt.load"(%there) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!pointers) -> tensor<64xf32>
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "branch"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, !tt.ptr<f32>, i1, f32) -> (), sym_name = "branch"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %which: i1, %v: f32):
  %ctx = symm.ctx %table : !words
  %p = "scf.if"(%which) ({
    "scf.yield"(%a) : (!tt.ptr<f32>) -> ()
  }, {
    "scf.yield"(%b) : (!tt.ptr<f32>) -> ()
  }) : (i1) -> !tt.ptr<f32>
  // CHECK: "arith.select"(%[[WHICH:[^,]*]], %{{[^,]*}}#1, %{{.*}}#1)
  // CHECK: "arith.select"(%[[WHICH]], %{{.*}}#2, %{{.*}}#2)
  // CHECK: "tt.store"(%{{.*}}, %{{.*}}) : (!tt.ptr<f32>, f32)
  "tt.store"(%p, %v) : (!tt.ptr<f32>, f32) -> ()
  "tt.return"() : () -> ()
}) : () -> ()
