// Reading and writing another rank's memory: every form of dialect/td/Data.td.
// RUN: symm-opt %s --allow-unregistered-dialect | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --emit-bytecode | symm-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @load_types(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[R:[a-z0-9]+]]: i32
func.func @load_types(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> i1{{$}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i1
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> i8{{$}}
  %1 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i8
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> i16{{$}}
  %2 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i16
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> i32{{$}}
  %3 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> i64{{$}}
  %4 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i64
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> index{{$}}
  %5 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> index
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> f8E4M3FN{{$}}
  %6 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f8E4M3FN
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> f16{{$}}
  %7 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f16
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> bf16{{$}}
  %8 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> bf16
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> f32{{$}}
  %9 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> f64{{$}}
  %10 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f64
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> vector<4xf32>{{$}}
  %11 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> vector<4xf32>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> vector<16xf8E5M2>{{$}}
  %12 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> vector<16xf8E5M2>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] : !llvm.ptr -> vector<2xindex>{{$}}
  %13 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> vector<2xindex>
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @load_pointers(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[G:[a-z0-9]+]]: !llvm.ptr<1>, %[[A:[a-z0-9]+]]: memref<8x8xf32>,
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x8xf16, strided<[128, 1], offset: ?>>,
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<4xi8, strided<[2], offset: 3>>, %[[D:[a-z0-9]+]]: memref<bf16>,
// CHECK-SAME: %[[E:[a-z0-9]+]]: memref<16xf64, 1>, %[[T:[a-z0-9]+]]: !tt.ptr<f32>,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f16>>, %[[LAID:[a-z0-9]+]]: tensor<8x4x!tt.ptr<i32>, "layout">,
// CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index, %[[R:[a-z0-9]+]]: i32
func.func @load_pointers(%ctx: !symm.ctx, %g: !llvm.ptr<1>, %a: memref<8x8xf32>,
    %b: memref<?x8xf16, strided<[128, 1], offset: ?>>, %c: memref<4xi8, strided<[2], offset: 3>>, %d: memref<bf16>,
    %e: memref<16xf64, 1>, %t: !tt.ptr<f32>, %many: tensor<8x!tt.ptr<f16>>, %laid: tensor<8x4x!tt.ptr<i32>, "layout">,
    %i: index, %j: index, %r: i32) {
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[G]], %[[R]] : !llvm.ptr<1> -> f32{{$}}
  %0 = symm.remote_load %ctx, %g, %r : !llvm.ptr<1> -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[A]][%[[I]], %[[J]]], %[[R]] : memref<8x8xf32> -> f32{{$}}
  %1 = symm.remote_load %ctx, %a[%i, %j], %r : memref<8x8xf32> -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[B]][%[[I]], %[[J]]], %[[R]]
  // CHECK-SAME: : memref<?x8xf16, strided<[128, 1], offset: ?>> -> vector<8xf16>{{$}}
  %2 = symm.remote_load %ctx, %b[%i, %j], %r : memref<?x8xf16, strided<[128, 1], offset: ?>> -> vector<8xf16>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[C]][%[[I]]], %[[R]]
  // CHECK-SAME: : memref<4xi8, strided<[2], offset: 3>> -> i8{{$}}
  %3 = symm.remote_load %ctx, %c[%i], %r : memref<4xi8, strided<[2], offset: 3>> -> i8
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[D]], %[[R]] : memref<bf16> -> bf16{{$}}
  %4 = symm.remote_load %ctx, %d, %r : memref<bf16> -> bf16
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[E]][%[[I]]], %[[R]] : memref<16xf64, 1> -> f64{{$}}
  %5 = symm.remote_load %ctx, %e[%i], %r : memref<16xf64, 1> -> f64
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[T]], %[[R]] : !tt.ptr<f32> -> f32{{$}}
  %6 = symm.remote_load %ctx, %t, %r : !tt.ptr<f32> -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[MANY]], %[[R]] : tensor<8x!tt.ptr<f16>> -> tensor<8xf16>{{$}}
  %7 = symm.remote_load %ctx, %many, %r : tensor<8x!tt.ptr<f16>> -> tensor<8xf16>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[LAID]], %[[R]]
  // CHECK-SAME: : tensor<8x4x!tt.ptr<i32>, "layout"> -> tensor<8x4xi32, "layout">{{$}}
  %8 = symm.remote_load %ctx, %laid, %r : tensor<8x4x!tt.ptr<i32>, "layout"> -> tensor<8x4xi32, "layout">
  // CHECK-NEXT: return{{$}}
  return
}

// A rank for each pointer, and how soon a cache may give up what was loaded.
// CHECK-LABEL: func.func @each(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f32>>,
// CHECK-SAME: %[[RANKS:[a-z0-9]+]]: tensor<8xi32>, %[[R:[a-z0-9]+]]: i32
func.func @each(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %ranks: tensor<8xi32>, %r: i32) {
  // CHECK-NEXT: %[[V:.*]] = symm.remote_load %[[CTX]], %[[MANY]], %[[RANKS]] each tensor<8xi32>
  // CHECK-SAME: : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>{{$}}
  %v = symm.remote_load %ctx, %many, %ranks each tensor<8xi32> : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[MANY]], %[[V]], %[[RANKS]] each tensor<8xi32>
  // CHECK-SAME: : tensor<8x!tt.ptr<f32>>, tensor<8xf32>{{$}}
  symm.remote_store %ctx, %many, %v, %ranks each tensor<8xi32> : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  // CHECK-NEXT: symm.as_remote %[[CTX]], %[[MANY]], %[[RANKS]] each tensor<8xi32> : tensor<8x!tt.ptr<f32>>{{$}}
  %p = symm.as_remote %ctx, %many, %ranks each tensor<8xi32> : tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: symm.remote_load %[[CTX]], %[[MANY]], %[[R]] cache cg eviction evict_first volatile :
  %w = symm.remote_load %ctx, %many, %r cache cg eviction evict_first volatile
    : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // CHECK-NEXT: symm.remote_load %[[CTX]], %[[MANY]], %[[R]] eviction evict_last :
  %x = symm.remote_load %ctx, %many, %r eviction evict_last : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @load_options(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[M:[a-z0-9]+]]: memref<8xf32>,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f32>>, %[[I:[a-z0-9]+]]: index, %[[R:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[DELTA:[a-z0-9]+]]: i64, %[[IN:[a-z0-9]+]]: i1, %[[LANES:[a-z0-9]+]]: vector<4xi1>,
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<8xi1>, %[[X:[a-z0-9]+]]: f32, %[[V:[a-z0-9]+]]: vector<4xf32>,
// CHECK-SAME: %[[OTHER:[a-z0-9]+]]: tensor<8xf32>
func.func @load_options(%ctx: !symm.ctx, %p: !llvm.ptr, %m: memref<8xf32>, %many: tensor<8x!tt.ptr<f32>>, %i: index,
    %r: i32, %delta: i64, %in: i1, %lanes: vector<4xi1>, %mask: tensor<8xi1>, %x: f32, %v: vector<4xf32>,
    %other: tensor<8xf32>) {
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] via %[[DELTA]] : !llvm.ptr -> f32{{$}}
  %0 = symm.remote_load %ctx, %p, %r via %delta : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] mask %[[IN]] : i1 : !llvm.ptr -> f32{{$}}
  %1 = symm.remote_load %ctx, %p, %r mask %in : i1 : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[M]][%[[I]]], %[[R]] mask %[[IN]] : i1 other %[[X]] : f32
  // CHECK-SAME: : memref<8xf32> -> f32{{$}}
  %2 = symm.remote_load %ctx, %m[%i], %r mask %in : i1 other %x : f32 : memref<8xf32> -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[M]][%[[I]]], %[[R]] mask %[[LANES]]
  // CHECK-SAME: : vector<4xi1> other %[[V]] : vector<4xf32> : memref<8xf32> -> vector<4xf32>{{$}}
  %3 = symm.remote_load %ctx, %m[%i], %r mask %lanes : vector<4xi1> other %v : vector<4xf32>
    : memref<8xf32> -> vector<4xf32>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] mask %[[IN]] : i1 : !llvm.ptr -> vector<4xf32>{{$}}
  %4 = symm.remote_load %ctx, %p, %r mask %in : i1 : !llvm.ptr -> vector<4xf32>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[MANY]], %[[R]] mask %[[MASK]]
  // CHECK-SAME: : tensor<8xi1> other %[[OTHER]] : tensor<8xf32> : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>{{$}}
  %5 = symm.remote_load %ctx, %many, %r mask %mask : tensor<8xi1> other %other : tensor<8xf32>
    : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] cache ca : !llvm.ptr -> f32{{$}}
  %6 = symm.remote_load %ctx, %p, %r cache ca : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] cache cg : !llvm.ptr -> f32{{$}}
  %7 = symm.remote_load %ctx, %p, %r cache cg : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] cache cs : !llvm.ptr -> f32{{$}}
  %8 = symm.remote_load %ctx, %p, %r cache cs : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] cache cv : !llvm.ptr -> f32{{$}}
  %9 = symm.remote_load %ctx, %p, %r cache cv : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] volatile : !llvm.ptr -> f32{{$}}
  %10 = symm.remote_load %ctx, %p, %r volatile : !llvm.ptr -> f32
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[P]], %[[R]] {alignment = 16 : i64}
  // CHECK-SAME: : !llvm.ptr -> vector<4xf32>{{$}}
  %11 = symm.remote_load %ctx, %p, %r {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
  // CHECK-NEXT: %{{.*}} = symm.remote_load %[[CTX]], %[[M]][%[[I]]], %[[R]] via %[[DELTA]] mask %[[IN]]
  // CHECK-SAME: : i1 other %[[X]] : f32 cache cg volatile {alignment = 2097152 : i64} : memref<8xf32> -> f32{{$}}
  %12 = symm.remote_load %ctx, %m[%i], %r via %delta mask %in : i1 other %x
    : f32 cache cg volatile {alignment = 2097152 : i64} : memref<8xf32> -> f32
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @store(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[M:[a-z0-9]+]]: memref<8xf32>,
// CHECK-SAME: %[[S:[a-z0-9]+]]: memref<2x8xf16, strided<[?, 1], offset: ?>, 1>, %[[T:[a-z0-9]+]]: !tt.ptr<f32>,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f32>>, %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: index,
// CHECK-SAME: %[[R:[a-z0-9]+]]: i32, %[[DELTA:[a-z0-9]+]]: i64, %[[IN:[a-z0-9]+]]: i1,
// CHECK-SAME: %[[LANES:[a-z0-9]+]]: vector<4xi1>, %[[MASK:[a-z0-9]+]]: tensor<8xi1>, %[[X:[a-z0-9]+]]: f32,
// CHECK-SAME: %[[H:[a-z0-9]+]]: f16, %[[V:[a-z0-9]+]]: vector<4xf32>, %[[W:[a-z0-9]+]]: tensor<8xf32>
func.func @store(%ctx: !symm.ctx, %p: !llvm.ptr, %m: memref<8xf32>,
    %s: memref<2x8xf16, strided<[?, 1], offset: ?>, 1>, %t: !tt.ptr<f32>, %many: tensor<8x!tt.ptr<f32>>, %i: index,
    %j: index, %r: i32, %delta: i64, %in: i1, %lanes: vector<4xi1>, %mask: tensor<8xi1>, %x: f32, %h: f16,
    %v: vector<4xf32>, %w: tensor<8xf32>) {
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[X]], %[[R]] : !llvm.ptr, f32{{$}}
  symm.remote_store %ctx, %p, %x, %r : !llvm.ptr, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[M]][%[[I]]], %[[X]], %[[R]] : memref<8xf32>, f32{{$}}
  symm.remote_store %ctx, %m[%i], %x, %r : memref<8xf32>, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[S]][%[[I]], %[[J]]], %[[H]], %[[R]]
  // CHECK-SAME: : memref<2x8xf16, strided<[?, 1], offset: ?>, 1>, f16{{$}}
  symm.remote_store %ctx, %s[%i, %j], %h, %r : memref<2x8xf16, strided<[?, 1], offset: ?>, 1>, f16
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[M]][%[[I]]], %[[V]], %[[R]] : memref<8xf32>, vector<4xf32>{{$}}
  symm.remote_store %ctx, %m[%i], %v, %r : memref<8xf32>, vector<4xf32>
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[T]], %[[X]], %[[R]] : !tt.ptr<f32>, f32{{$}}
  symm.remote_store %ctx, %t, %x, %r : !tt.ptr<f32>, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[MANY]], %[[W]], %[[R]] : tensor<8x!tt.ptr<f32>>, tensor<8xf32>{{$}}
  symm.remote_store %ctx, %many, %w, %r : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[X]], %[[R]] via %[[DELTA]] : !llvm.ptr, f32{{$}}
  symm.remote_store %ctx, %p, %x, %r via %delta : !llvm.ptr, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[X]], %[[R]] mask %[[IN]] : i1 : !llvm.ptr, f32{{$}}
  symm.remote_store %ctx, %p, %x, %r mask %in : i1 : !llvm.ptr, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[V]], %[[R]] mask %[[LANES]] : vector<4xi1>
  // CHECK-SAME: : !llvm.ptr, vector<4xf32>{{$}}
  symm.remote_store %ctx, %p, %v, %r mask %lanes : vector<4xi1> : !llvm.ptr, vector<4xf32>
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[MANY]], %[[W]], %[[R]] mask %[[MASK]] : tensor<8xi1>
  // CHECK-SAME: : tensor<8x!tt.ptr<f32>>, tensor<8xf32>{{$}}
  symm.remote_store %ctx, %many, %w, %r mask %mask : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[X]], %[[R]] cache wb : !llvm.ptr, f32{{$}}
  symm.remote_store %ctx, %p, %x, %r cache wb : !llvm.ptr, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[X]], %[[R]] cache wt : !llvm.ptr, f32{{$}}
  symm.remote_store %ctx, %p, %x, %r cache wt : !llvm.ptr, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[P]], %[[X]], %[[R]] volatile : !llvm.ptr, f32{{$}}
  symm.remote_store %ctx, %p, %x, %r volatile : !llvm.ptr, f32
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[M]][%[[I]]], %[[X]], %[[R]] via %[[DELTA]] mask %[[IN]]
  // CHECK-SAME: : i1 cache cg volatile {alignment = 4 : i64} : memref<8xf32>, f32{{$}}
  symm.remote_store %ctx, %m[%i], %x, %r via %delta mask %in : i1 cache cg volatile {alignment = 4 : i64}
    : memref<8xf32>, f32
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @get(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<1024xf32>,
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?xf32, strided<[2], offset: 1>>, %[[LOCAL:[a-z0-9]+]]: memref<?xf32, 3>,
// CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr, %[[G:[a-z0-9]+]]: !llvm.ptr<1>, %[[T:[a-z0-9]+]]: !tt.ptr<f32>,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f32>>, %[[MASK:[a-z0-9]+]]: tensor<8xi1>, %[[R:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[DELTA:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: index, %[[K:[a-z0-9]+]]: i64
func.func @get(%ctx: !symm.ctx, %a: memref<1024xf32>, %b: memref<?xf32, strided<[2], offset: 1>>,
    %local: memref<?xf32, 3>, %p: !llvm.ptr, %g: !llvm.ptr<1>, %t: !tt.ptr<f32>, %many: tensor<8x!tt.ptr<f32>>,
    %mask: tensor<8xi1>, %r: i32, %delta: i64, %n: index, %k: i64) {
  // CHECK-NEXT: symm.get %[[CTX]], %[[A]], %[[A]], %[[R]] : memref<1024xf32>, memref<1024xf32>{{$}}
  symm.get %ctx, %a, %a, %r : memref<1024xf32>, memref<1024xf32>
  // CHECK-NEXT: symm.get %[[CTX]], %[[A]], %[[B]], %[[R]]
  // CHECK-SAME: : memref<1024xf32>, memref<?xf32, strided<[2], offset: 1>>{{$}}
  symm.get %ctx, %a, %b, %r : memref<1024xf32>, memref<?xf32, strided<[2], offset: 1>>
  // CHECK-NEXT: symm.get %[[CTX]], %[[A]], %[[LOCAL]], %[[R]] : memref<1024xf32>, memref<?xf32, 3>{{$}}
  symm.get %ctx, %a, %local, %r : memref<1024xf32>, memref<?xf32, 3>
  // CHECK-NEXT: symm.get %[[CTX]], %[[P]], %[[G]], %[[R]] count %[[N]] : index of f16 : !llvm.ptr, !llvm.ptr<1>{{$}}
  symm.get %ctx, %p, %g, %r count %n : index of f16 : !llvm.ptr, !llvm.ptr<1>
  // CHECK-NEXT: symm.get %[[CTX]], %[[P]], %[[P]], %[[R]] count %[[K]] : i64 of i8 : !llvm.ptr, !llvm.ptr{{$}}
  symm.get %ctx, %p, %p, %r count %k : i64 of i8 : !llvm.ptr, !llvm.ptr
  // CHECK-NEXT: symm.get %[[CTX]], %[[T]], %[[T]], %[[R]] count %[[N]] : index of f32 : !tt.ptr<f32>, !tt.ptr<f32>{{$}}
  symm.get %ctx, %t, %t, %r count %n : index of f32 : !tt.ptr<f32>, !tt.ptr<f32>
  // CHECK-NEXT: symm.get %[[CTX]], %[[MANY]], %[[MANY]], %[[R]] : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>{{$}}
  symm.get %ctx, %many, %many, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: symm.get %[[CTX]], %[[MANY]], %[[MANY]], %[[R]] mask %[[MASK]] : tensor<8xi1>
  // CHECK-SAME: : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>{{$}}
  symm.get %ctx, %many, %many, %r mask %mask : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: symm.get %[[CTX]], %[[A]], %[[A]], %[[R]] group warp : memref<1024xf32>, memref<1024xf32>{{$}}
  symm.get %ctx, %a, %a, %r group warp : memref<1024xf32>, memref<1024xf32>
  // CHECK-NEXT: symm.get %[[CTX]], %[[A]], %[[A]], %[[R]] via %[[DELTA]] cache cg group block {alignment = 16
  // CHECK-SAME: : i64} : memref<1024xf32>, memref<1024xf32>{{$}}
  symm.get %ctx, %a, %a, %r via %delta cache cg group block {alignment = 16 : i64} : memref<1024xf32>, memref<1024xf32>
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @put(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<2x4xf32>,
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x?xf32, strided<[?, ?], offset: ?>>,
// CHECK-SAME: %[[LOCAL:[a-z0-9]+]]: memref<2x4xf32, #gpu.address_space<workgroup>>, %[[Z:[a-z0-9]+]]: memref<f32>,
// CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr, %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f32>>,
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<8xi1>, %[[R:[a-z0-9]+]]: i32, %[[DELTA:[a-z0-9]+]]: i64,
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
func.func @put(%ctx: !symm.ctx, %a: memref<2x4xf32>, %b: memref<?x?xf32, strided<[?, ?], offset: ?>>,
    %local: memref<2x4xf32, #gpu.address_space<workgroup>>, %z: memref<f32>, %p: !llvm.ptr,
    %many: tensor<8x!tt.ptr<f32>>, %mask: tensor<8xi1>, %r: i32, %delta: i64, %n: index) {
  // CHECK-NEXT: symm.put %[[CTX]], %[[A]], %[[A]], %[[R]] : memref<2x4xf32>, memref<2x4xf32>{{$}}
  symm.put %ctx, %a, %a, %r : memref<2x4xf32>, memref<2x4xf32>
  // CHECK-NEXT: symm.put %[[CTX]], %[[A]], %[[B]], %[[R]]
  // CHECK-SAME: : memref<2x4xf32>, memref<?x?xf32, strided<[?, ?], offset: ?>>{{$}}
  symm.put %ctx, %a, %b, %r : memref<2x4xf32>, memref<?x?xf32, strided<[?, ?], offset: ?>>
  // CHECK-NEXT: symm.put %[[CTX]], %[[LOCAL]], %[[A]], %[[R]]
  // CHECK-SAME: : memref<2x4xf32, #gpu.address_space<workgroup>>, memref<2x4xf32>{{$}}
  symm.put %ctx, %local, %a, %r : memref<2x4xf32, #gpu.address_space<workgroup>>, memref<2x4xf32>
  // CHECK-NEXT: symm.put %[[CTX]], %[[Z]], %[[Z]], %[[R]] : memref<f32>, memref<f32>{{$}}
  symm.put %ctx, %z, %z, %r : memref<f32>, memref<f32>
  // CHECK-NEXT: symm.put %[[CTX]], %[[P]], %[[P]], %[[R]] count %[[N]] : index of index : !llvm.ptr, !llvm.ptr{{$}}
  symm.put %ctx, %p, %p, %r count %n : index of index : !llvm.ptr, !llvm.ptr
  // CHECK-NEXT: symm.put %[[CTX]], %[[MANY]], %[[MANY]], %[[R]] mask %[[MASK]] : tensor<8xi1> cache cs
  // CHECK-SAME: : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>{{$}}
  symm.put %ctx, %many, %many, %r mask %mask : tensor<8xi1> cache cs : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: symm.put %[[CTX]], %[[P]], %[[P]], %[[R]] via %[[DELTA]] count %[[N]]
  // CHECK-SAME: : index of f64 cache wt group block {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr{{$}}
  symm.put %ctx, %p, %p, %r via %delta count %n : index of f64 cache wt group block {alignment = 8 : i64}
    : !llvm.ptr, !llvm.ptr
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<16xi32>, %[[P:[a-z0-9]+]]: !llvm.ptr,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f32>>, %[[MASK:[a-z0-9]+]]: tensor<8xi1>,
// CHECK-SAME: %[[FROM:[a-z0-9]+]]: i32, %[[TO:[a-z0-9]+]]: i32, %[[DF:[a-z0-9]+]]: i64, %[[DT:[a-z0-9]+]]: i64,
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
func.func @copy(%ctx: !symm.ctx, %a: memref<16xi32>, %p: !llvm.ptr, %many: tensor<8x!tt.ptr<f32>>,
    %mask: tensor<8xi1>, %from: i32, %to: i32, %df: i64, %dt: i64, %n: index) {
  // CHECK-NEXT: symm.copy %[[CTX]], %[[A]] at %[[FROM]], %[[A]] at %[[TO]] : memref<16xi32>, memref<16xi32>{{$}}
  symm.copy %ctx, %a at %from, %a at %to : memref<16xi32>, memref<16xi32>
  // CHECK-NEXT: symm.copy %[[CTX]], %[[A]] at %[[FROM]] via %[[DF]], %[[A]] at %[[TO]]
  // CHECK-SAME: : memref<16xi32>, memref<16xi32>{{$}}
  symm.copy %ctx, %a at %from via %df, %a at %to : memref<16xi32>, memref<16xi32>
  // CHECK-NEXT: symm.copy %[[CTX]], %[[A]] at %[[FROM]], %[[A]] at %[[TO]] via %[[DT]]
  // CHECK-SAME: : memref<16xi32>, memref<16xi32>{{$}}
  symm.copy %ctx, %a at %from, %a at %to via %dt : memref<16xi32>, memref<16xi32>
  // CHECK-NEXT: symm.copy %[[CTX]], %[[P]] at %[[FROM]], %[[P]] at %[[TO]] count %[[N]] : index of bf16
  // CHECK-SAME: : !llvm.ptr, !llvm.ptr{{$}}
  symm.copy %ctx, %p at %from, %p at %to count %n : index of bf16 : !llvm.ptr, !llvm.ptr
  // CHECK-NEXT: symm.copy %[[CTX]], %[[MANY]] at %[[FROM]], %[[MANY]] at %[[TO]] mask %[[MASK]] : tensor<8xi1>
  // CHECK-SAME: : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>{{$}}
  symm.copy %ctx, %many at %from, %many at %to mask %mask : tensor<8xi1>
    : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: symm.copy %[[CTX]], %[[P]] at %[[FROM]] via %[[DF]], %[[P]] at %[[TO]] via %[[DT]] count %[[N]]
  // CHECK-SAME: : index of i8 cache cg group warp {alignment = 1 : i64} : !llvm.ptr, !llvm.ptr{{$}}
  symm.copy %ctx, %p at %from via %df, %p at %to via %dt count %n : index of i8 cache cg group warp {alignment = 1
    : i64} : !llvm.ptr, !llvm.ptr
  // CHECK-NEXT: return{{$}}
  return
}

// `group thread` is the default and is not printed.
// CHECK-LABEL: func.func @defaults(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<16xi32>, %[[R:[a-z0-9]+]]: i32
func.func @defaults(%ctx: !symm.ctx, %a: memref<16xi32>, %r: i32) {
  // CHECK-NEXT: symm.get %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<16xi32>, memref<16xi32>{{$}}
  symm.get %ctx, %a, %a, %r group thread : memref<16xi32>, memref<16xi32>
  // CHECK-NEXT: return{{$}}
  return
}
