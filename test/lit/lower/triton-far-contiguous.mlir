// A copy to a far rank in one piece: where its blocks are made of scalars and one range, the scalars tell whether both
// ends are contiguous, without a reduction.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.9.0 --split-input-file | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.6.0 --split-input-file | FileCheck %s

module attributes {symm.engine = "nvshmem"} {
// CHECK-LABEL: sym_name = "plain"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, !tt.ptr<f32>, i32, i32) -> (), sym_name = "plain"}> ({
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<f32>, %[[Q:.*]]: !tt.ptr<f32>, %[[START:.*]]: i32,
// CHECK-SAME: %{{.*}}: i32)
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %start: i32, %r: i32):
  // CHECK: %[[REACH:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
  // CHECK: %[[PE:.*]] = arith.trunci %[[REACH]] : i64 to i32
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %range = "tt.make_range"() {start = 4 : i32, end = 12 : i32} : () -> tensor<8xi32>
  %first = "tt.splat"(%start) : (i32) -> tensor<8xi32>
  %at = arith.addi %first, %range : tensor<8xi32>
  %ps = "tt.splat"(%p) : (!tt.ptr<f32>) -> tensor<8x!tt.ptr<f32>>
  %from = "tt.addptr"(%ps, %at) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> tensor<8x!tt.ptr<f32>>
  %qs = "tt.splat"(%q) : (!tt.ptr<f32>) -> tensor<8x!tt.ptr<f32>>
  %two = arith.constant dense<2> : tensor<8xi64>
  %wide = arith.extsi %range : tensor<8xi32> to tensor<8xi64>
  %more = arith.subi %wide, %two : tensor<8xi64>
  %to = "tt.addptr"(%qs, %more) : (tensor<8x!tt.ptr<f32>>, tensor<8xi64>) -> tensor<8x!tt.ptr<f32>>
  // The first and the last element of both ends: narrow arithmetic may have wrapped around in between.
  // CHECK: scf.if
  // CHECK: } else {
  // CHECK-NOT: "tt.reduce"
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
  // CHECK: %[[AT0:.*]] = arith.addi %[[START]], %[[C4]]
  // CHECK: %[[P0:.*]] = "tt.addptr"(%[[P]], %[[AT0]]) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  // CHECK: %[[C11:.*]] = arith.constant 11 : i32
  // CHECK: %[[AT7:.*]] = arith.addi %[[START]], %[[C11]]
  // CHECK: %[[P7:.*]] = "tt.addptr"(%[[P]], %[[AT7]]) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  // CHECK: %[[BEGIN:.*]] = "tt.ptr_to_int"(%[[P0]])
  // CHECK: %[[END:.*]] = "tt.ptr_to_int"(%[[P7]])
  // CHECK: %[[C28:.*]] = arith.constant 28 : i64
  // CHECK: %[[WANTED:.*]] = arith.addi %[[BEGIN]], %[[C28]]
  // CHECK: %[[FOLLOWS:.*]] = arith.cmpi eq, %[[END]], %[[WANTED]]
  // CHECK: %[[BOTH:.*]] = arith.andi %[[FOLLOWS]],
  // CHECK: %[[ONE:.*]] = arith.andi %[[BOTH]],
  // CHECK: %[[HERE:.*]] = "tt.ptr_to_int"(%[[P0]])
  // CHECK: scf.if %[[ONE]] {
  // CHECK-NEXT: "tt.extern_elementwise"(%{{.*}}, %[[HERE]], %{{.*}}, %[[PE]]) {{.*}}symbol = "symm_far_put"}
  // CHECK-NEXT: } else {
  // CHECK: symbol = "symm_far_p4"}
  symm.put %ctx, %from, %to, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK: "tt.return"
  "tt.return"() : () -> ()
}) : () -> ()
}

// -----

module attributes {symm.engine = "nvshmem"} {
// CHECK-LABEL: sym_name = "masked"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, i32, i1, i32) -> (), sym_name = "masked"}> ({
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %{{.*}}: !tt.ptr<f32>, %[[N:.*]]: i32, %[[ON:.*]]: i1, %{{.*}}: i32)
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %n: i32, %on: i1, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %range = "tt.make_range"() {start = 0 : i32, end = 8 : i32} : () -> tensor<8xi32>
  %ps = "tt.splat"(%p) : (!tt.ptr<f32>) -> tensor<8x!tt.ptr<f32>>
  %at = "tt.addptr"(%ps, %range) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> tensor<8x!tt.ptr<f32>>
  %limit = "tt.splat"(%n) : (i32) -> tensor<8xi32>
  %below = arith.cmpi slt, %range, %limit : tensor<8xi32>
  %all = "tt.splat"(%on) : (i1) -> tensor<8xi1>
  %mask = arith.andi %below, %all : tensor<8xi1>
  // As many as are below the limit, or none.
  // CHECK-NOT: "tt.reduce"
  // CHECK: %[[LIMIT:.*]] = arith.extsi %[[N]] : i32 to i64
  // CHECK: %[[LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST:.*]] : i64
  // CHECK: %[[SOME:.*]] = arith.minui %[[LEFT]],
  // CHECK: %[[IS_SOME:.*]] = arith.cmpi slt, %[[FIRST]], %[[LIMIT]] : i64
  // CHECK: %[[BELOW:.*]] = arith.select %[[IS_SOME]], %[[SOME]],
  // CHECK: %[[ALL:.*]] = arith.select %[[ON]],
  // CHECK: %[[COUNT:.*]] = arith.minui %[[BELOW]], %[[ALL]] : i64
  // CHECK: %[[BYTES:.*]] = arith.muli %[[COUNT]],
  // CHECK: "tt.extern_elementwise"(%{{.*}}, %{{.*}}, %[[BYTES]], %{{.*}}) {{.*}}symbol = "symm_far_get"}
  // CHECK: symbol = "symm_far_g4"}
  symm.get %ctx, %at, %at, %r mask %mask : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK: "tt.return"
  "tt.return"() : () -> ()
}) : () -> ()
}

// -----

// What is made in another way is looked at as a whole: two ranges, a range times a number, a limit that is a range,
// another comparison.
module attributes {symm.engine = "nvshmem"} {
// CHECK-LABEL: sym_name = "others"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, i32, i32) -> (), sym_name = "others"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %n: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %range = "tt.make_range"() {start = 0 : i32, end = 8 : i32} : () -> tensor<8xi32>
  %ps = "tt.splat"(%p) : (!tt.ptr<f32>) -> tensor<8x!tt.ptr<f32>>
  %at = "tt.addptr"(%ps, %range) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> tensor<8x!tt.ptr<f32>>
  %twice = "tt.addptr"(%at, %range) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> tensor<8x!tt.ptr<f32>>
  // CHECK: "tt.reduce"
  // CHECK: symbol = "symm_far_put"}
  symm.put %ctx, %at, %twice, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  %two = arith.constant dense<2> : tensor<8xi32>
  %even = arith.muli %range, %two : tensor<8xi32>
  %apart = "tt.addptr"(%ps, %even) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> tensor<8x!tt.ptr<f32>>
  // CHECK: "tt.reduce"
  // CHECK: symbol = "symm_far_put"}
  symm.put %ctx, %apart, %at, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  %down = arith.subi %two, %range : tensor<8xi32>
  %back = "tt.addptr"(%ps, %down) : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> tensor<8x!tt.ptr<f32>>
  // CHECK: "tt.reduce"
  // CHECK: symbol = "symm_far_put"}
  symm.put %ctx, %back, %at, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  %limit = "tt.splat"(%n) : (i32) -> tensor<8xi32>
  %above = arith.cmpi sgt, %range, %limit : tensor<8xi32>
  // CHECK: "tt.reduce"
  // CHECK: symbol = "symm_far_put"}
  symm.put %ctx, %at, %at, %r mask %above : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  %same = arith.cmpi slt, %range, %even : tensor<8xi32>
  // CHECK: "tt.reduce"
  // CHECK: symbol = "symm_far_put"}
  symm.put %ctx, %at, %at, %r mask %same : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK: "tt.return"
  "tt.return"() : () -> ()
}) : () -> ()
}
