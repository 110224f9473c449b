// A mask that is known to be true goes, and so does an access whose mask is known to be false
// (dialect/src/canonicalize.rs).
// RUN: symm-opt %s --allow-unregistered-dialect --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @true_mask(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[R:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[V:[a-z0-9]+]]: i32, %[[DELTA:[a-z0-9]+]]: i64)
func.func @true_mask(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %v: i32, %delta: i64) -> (i32, i32, i32) {
  %true = arith.constant true
  // CHECK-NEXT: %[[A:.*]] = symm.remote_load %[[CTX]], %[[P]], %[[R]] via %[[DELTA]] cache cg volatile
  // CHECK-SAME: {alignment = 8 : i64} : !llvm.ptr -> i32{{$}}
  %0 = symm.remote_load %ctx, %p, %r via %delta mask %true : i1 other %v : i32 cache cg volatile
    {alignment = 8 : i64} : !llvm.ptr -> i32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[V]], %[[R]] via %[[DELTA]] : !llvm.ptr, i32{{$}}
  symm.remote_store %ctx, %p, %v, %r via %delta mask %true : i1 : !llvm.ptr, i32
  // CHECK-NEXT: %[[B:.*]] = symm.atomic_rmw add %[[CTX]], %[[P]], %[[V]], %[[R]] via %[[DELTA]] sem relaxed
  // CHECK-SAME: : !llvm.ptr, i32{{$}}
  %1 = symm.atomic_rmw add %ctx, %p, %v, %r via %delta mask %true : i1 sem relaxed : !llvm.ptr, i32
  // CHECK-NEXT: %[[C:.*]] = symm.atomic_cas %[[CTX]], %[[P]], %[[V]], %[[V]], %[[R]] : !llvm.ptr, i32{{$}}
  %2 = symm.atomic_cas %ctx, %p, %v, %v, %r mask %true : i1 : !llvm.ptr, i32
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
  return %0, %1, %2 : i32, i32, i32
}

// CHECK-LABEL: func.func @true_lanes(
func.func @true_lanes(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %v: vector<4xf32>) -> vector<4xf32> {
  %true = arith.constant dense<true> : vector<4xi1>
  // CHECK-NEXT: symm.remote_load %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : !llvm.ptr -> vector<4xf32>{{$}}
  %0 = symm.remote_load %ctx, %p, %r mask %true : vector<4xi1> other %v : vector<4xf32> : !llvm.ptr -> vector<4xf32>
  return %0 : vector<4xf32>
}

// CHECK-LABEL: func.func @true_tensor(
func.func @true_tensor(%ctx: !symm.ctx, %src: tensor<8x!tt.ptr<f32>>, %r: i32, %flag: !tt.ptr<i32>, %v: i32) {
  %true = arith.constant dense<true> : tensor<8xi1>
  // CHECK-NEXT: symm.put %{{.*}}, %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : tensor<8x
  symm.put %ctx, %src, %src, %r mask %true : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: symm.put_signal set %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} :
  symm.put_signal set %ctx, %src, %src, %flag, %v, %r mask %true : tensor<8xi1>
    : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, !tt.ptr<i32>, i32
  return
}

// CHECK-LABEL: func.func @false_mask(
// CHECK-SAME: %[[OTHER:[a-z0-9]+]]: f32)
func.func @false_mask(%ctx: !symm.ctx, %p: !llvm.ptr, %src: tensor<8x!tt.ptr<f32>>, %r: i32, %other: f32) -> f32 {
  // CHECK-NEXT: return %[[OTHER]]
  %false = arith.constant false
  %none = arith.constant dense<false> : tensor<8xi1>
  %0 = symm.remote_load %ctx, %p, %r mask %false : i1 other %other : f32 volatile : !llvm.ptr -> f32
  symm.remote_store %ctx, %p, %other, %r mask %false : i1 volatile : !llvm.ptr, f32
  symm.get %ctx, %src, %src, %r mask %none : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  symm.put %ctx, %src, %src, %r mask %none : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  symm.copy %ctx, %src at %r, %src at %r mask %none : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  return %0 : f32
}

// Without `other` the value is undefined but there; an op that orders memory is never removed (O4).
// CHECK-LABEL: func.func @false_mask_stays(
func.func @false_mask_stays(%ctx: !symm.ctx, %p: !llvm.ptr, %src: tensor<8x!tt.ptr<f32>>, %flag: !tt.ptr<i32>,
    %r: i32, %v: i32) -> i32 {
  %false = arith.constant false
  %none = arith.constant dense<false> : tensor<8xi1>
  // CHECK: symm.remote_load {{.*}} mask
  %0 = symm.remote_load %ctx, %p, %r mask %false : i1 : !llvm.ptr -> i32
  // CHECK-NEXT: symm.atomic_rmw {{.*}} mask
  %1 = symm.atomic_rmw add %ctx, %p, %v, %r mask %false : i1 : !llvm.ptr, i32
  // CHECK-NEXT: symm.atomic_cas {{.*}} mask
  %2 = symm.atomic_cas %ctx, %p, %v, %v, %r mask %false : i1 : !llvm.ptr, i32
  // CHECK-NEXT: symm.put_signal {{.*}} mask
  symm.put_signal set %ctx, %src, %src, %flag, %v, %r mask %none : tensor<8xi1>
    : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, !tt.ptr<i32>, i32
  return %0 : i32
}

// Lanes that differ, and masks that are not known.
// CHECK-LABEL: func.func @unknown_mask(
func.func @unknown_mask(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %in: i1, %v: vector<2xf32>, %x: f32)
    -> (vector<2xf32>, f32) {
  %lanes = arith.constant dense<[true, false]> : vector<2xi1>
  // CHECK: symm.remote_load {{.*}} mask %{{.*}} : vector<2xi1> other
  %0 = symm.remote_load %ctx, %p, %r mask %lanes : vector<2xi1> other %v : vector<2xf32> : !llvm.ptr -> vector<2xf32>
  // CHECK: symm.remote_load {{.*}} mask %{{.*}} : i1 other
  %1 = symm.remote_load %ctx, %p, %r mask %in : i1 other %x : f32 : !llvm.ptr -> f32
  return %0, %1 : vector<2xf32>, f32
}
