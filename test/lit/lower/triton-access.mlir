// Remote loads, stores and copies in a Triton kernel, in the words of each version.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.9.0 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NEW
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.6.0 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,OLD

"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, tensor<8xi1>,
  tensor<8xf32>,
  !tt.ptr<bf16>, i1, i32, i32) -> (), sym_name = "kernel"}> ({
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[Q:.*]]: tensor<8x!tt.ptr<f32>>,
// CHECK-SAME: %[[M:.*]]: tensor<8xi1>, %[[Z:.*]]: tensor<8xf32>, %[[S:.*]]: !tt.ptr<bf16>, %[[SM:.*]]: i1,
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>,
     %z: tensor<8xf32>, %s: !tt.ptr<bf16>, %sm: i1, %r: i32, %to: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // NEW: %[[V:.*]] = "tt.load"(%[[REMOTE:[^,]*]], %[[M]], %[[Z]]) {cachePolicy = #tt.cache_policy<cache_modifier = cg,
  // NEW-SAME: eviction_policy = evict_normal>, operandSegmentSizes = array<i32: 1, 1, 1>}
  // OLD: %[[V:.*]] = "tt.load"(%[[REMOTE:[^,]*]], %[[M]], %[[Z]]) {cache = 3 : i32,
  // OLD-SAME: operandSegmentSizes = array<i32: 1, 1, 1>}
  // CHECK-SAME: : (tensor<8x!tt.ptr<f32>>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
  %v = symm.remote_load %ctx, %p, %r mask %m : tensor<8xi1> other %z : tensor<8xf32> cache cg
    : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // CHECK: "tt.load"(%{{[^,]*}}, %[[M]]) {isVolatile = true, operandSegmentSizes = array<i32: 1, 1, 0>}
  %w = symm.remote_load %ctx, %p, %r mask %m : tensor<8xi1> volatile : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // NEW: "tt.load"({{.*}}) {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>,
  // OLD: "tt.load"({{.*}}) {evict = 2 : i32,
  %first = symm.remote_load %ctx, %p, %r eviction evict_first : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // NEW: {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>, isVolatile = true,
  // OLD: {cache = 2 : i32, evict = 3 : i32, isVolatile = true,
  %last = symm.remote_load %ctx, %p, %r cache ca eviction evict_last volatile
    : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // CHECK: %[[REMOTE:.*]] = "tt.addptr"(%[[Q]], %{{.*}})
  // NEW-NEXT: "tt.store"(%[[REMOTE]], %[[V]], %[[M]]) {cachePolicy = #tt.cache_policy<cache_modifier = wt,
  // OLD-NEXT: "tt.store"(%[[REMOTE]], %[[V]], %[[M]]) {cache = 6 : i32}
  symm.remote_store %ctx, %q, %v, %r mask %m : tensor<8xi1> cache wt : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  // The remote end of a copy is moved, the other one not.
  // CHECK: %[[REMOTE:.*]] = "tt.addptr"(%[[P]], %{{.*}})
  // CHECK-NEXT: barrier
  // CHECK-NEXT: %[[V:.*]] = "tt.load"(%[[REMOTE]], %[[M]]) {operandSegmentSizes = array<i32: 1, 1, 0>}
  // CHECK-NEXT: "tt.store"(%[[Q]], %[[V]], %[[M]]) :
  // CHECK-NEXT: barrier
  symm.get %ctx, %p, %q, %r mask %m : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK: %[[REMOTE:.*]] = "tt.addptr"(%[[Q]], %{{.*}})
  // CHECK-NEXT: %[[V:.*]] = "tt.load"(%[[P]]) {operandSegmentSizes = array<i32: 1, 0, 0>}
  // CHECK-NEXT: "tt.store"(%[[REMOTE]], %[[V]]) :
  symm.put %ctx, %p, %q, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // One element, between two other ranks.
  // CHECK: %[[FROM:.*]] = "tt.addptr"(%[[S]], %{{.*}})
  // CHECK: %[[TO:.*]] = "tt.addptr"(%[[S]], %{{.*}})
  // CHECK-NEXT: barrier
  // CHECK-NEXT: %[[V:.*]] = "tt.load"(%[[FROM]], %[[SM]]) {operandSegmentSizes = array<i32: 1, 1, 0>}
  // CHECK-SAME: (!tt.ptr<bf16>, i1) -> bf16
  // CHECK-NEXT: "tt.store"(%[[TO]], %[[V]], %[[SM]]) : (!tt.ptr<bf16>, bf16, i1) -> ()
  symm.copy %ctx, %s at %r, %s at %to mask %sm : i1 : !tt.ptr<bf16>, !tt.ptr<bf16>
  "tt.return"() : () -> ()
}) : () -> ()
