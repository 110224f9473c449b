// Atomic updates of another rank's memory: every form of dialect/td/Atomics.td.
// RUN: symm-opt %s --allow-unregistered-dialect | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --emit-bytecode | symm-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @rmw_kinds(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[R:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[I:[a-z0-9]+]]: i32, %[[L:[a-z0-9]+]]: i64, %[[H:[a-z0-9]+]]: f16, %[[B:[a-z0-9]+]]: bf16,
// CHECK-SAME: %[[F:[a-z0-9]+]]: f32, %[[D:[a-z0-9]+]]: f64
func.func @rmw_kinds(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %i: i32, %l: i64, %h: f16, %b: bf16, %f: f32, %d: f64) {
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[P]], %[[I]], %[[R]] : !llvm.ptr, i32{{$}}
  %0 = symm.atomic_rmw add %ctx, %p, %i, %r : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[P]], %[[L]], %[[R]] : !llvm.ptr, i64{{$}}
  %1 = symm.atomic_rmw add %ctx, %p, %l, %r : !llvm.ptr, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw fadd %[[CTX]], %[[P]], %[[H]], %[[R]] : !llvm.ptr, f16{{$}}
  %2 = symm.atomic_rmw fadd %ctx, %p, %h, %r : !llvm.ptr, f16
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw fadd %[[CTX]], %[[P]], %[[B]], %[[R]] : !llvm.ptr, bf16{{$}}
  %3 = symm.atomic_rmw fadd %ctx, %p, %b, %r : !llvm.ptr, bf16
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw fadd %[[CTX]], %[[P]], %[[F]], %[[R]] : !llvm.ptr, f32{{$}}
  %4 = symm.atomic_rmw fadd %ctx, %p, %f, %r : !llvm.ptr, f32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw fadd %[[CTX]], %[[P]], %[[D]], %[[R]] : !llvm.ptr, f64{{$}}
  %5 = symm.atomic_rmw fadd %ctx, %p, %d, %r : !llvm.ptr, f64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw sub %[[CTX]], %[[P]], %[[I]], %[[R]] : !llvm.ptr, i32{{$}}
  %6 = symm.atomic_rmw sub %ctx, %p, %i, %r : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw and %[[CTX]], %[[P]], %[[I]], %[[R]] : !llvm.ptr, i32{{$}}
  %7 = symm.atomic_rmw and %ctx, %p, %i, %r : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw or %[[CTX]], %[[P]], %[[L]], %[[R]] : !llvm.ptr, i64{{$}}
  %8 = symm.atomic_rmw or %ctx, %p, %l, %r : !llvm.ptr, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw xor %[[CTX]], %[[P]], %[[L]], %[[R]] : !llvm.ptr, i64{{$}}
  %9 = symm.atomic_rmw xor %ctx, %p, %l, %r : !llvm.ptr, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw min %[[CTX]], %[[P]], %[[I]], %[[R]] : !llvm.ptr, i32{{$}}
  %10 = symm.atomic_rmw min %ctx, %p, %i, %r : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw max %[[CTX]], %[[P]], %[[L]], %[[R]] : !llvm.ptr, i64{{$}}
  %11 = symm.atomic_rmw max %ctx, %p, %l, %r : !llvm.ptr, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw umin %[[CTX]], %[[P]], %[[I]], %[[R]] : !llvm.ptr, i32{{$}}
  %12 = symm.atomic_rmw umin %ctx, %p, %i, %r : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw umax %[[CTX]], %[[P]], %[[L]], %[[R]] : !llvm.ptr, i64{{$}}
  %13 = symm.atomic_rmw umax %ctx, %p, %l, %r : !llvm.ptr, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw xchg %[[CTX]], %[[P]], %[[I]], %[[R]] : !llvm.ptr, i32{{$}}
  %14 = symm.atomic_rmw xchg %ctx, %p, %i, %r : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw xchg %[[CTX]], %[[P]], %[[D]], %[[R]] : !llvm.ptr, f64{{$}}
  %15 = symm.atomic_rmw xchg %ctx, %p, %d, %r : !llvm.ptr, f64
  // CHECK-NEXT: return{{$}}
  return
}

// The result's type is that of the value, with any number of indices before it.
// CHECK-LABEL: func.func @rmw_pointers(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[G:[a-z0-9]+]]: !llvm.ptr<1>, %[[Z:[a-z0-9]+]]: memref<i64>,
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<4xi64>, %[[B:[a-z0-9]+]]: memref<?x4xf32, strided<[?, 2], offset: ?>, 1>,
// CHECK-SAME: %[[T:[a-z0-9]+]]: !tt.ptr<f32>, %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<i32>, "layout">,
// CHECK-SAME: %[[R:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: index, %[[L:[a-z0-9]+]]: i64, %[[F:[a-z0-9]+]]: f32,
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8xi32, "layout">
func.func @rmw_pointers(%ctx: !symm.ctx, %g: !llvm.ptr<1>, %z: memref<i64>, %a: memref<4xi64>,
    %b: memref<?x4xf32, strided<[?, 2], offset: ?>, 1>, %t: !tt.ptr<f32>, %many: tensor<8x!tt.ptr<i32>, "layout">,
    %r: i32, %j: index, %l: i64, %f: f32, %w: tensor<8xi32, "layout">) {
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw fadd %[[CTX]], %[[G]], %[[F]], %[[R]] : !llvm.ptr<1>, f32{{$}}
  %0 = symm.atomic_rmw fadd %ctx, %g, %f, %r : !llvm.ptr<1>, f32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[Z]], %[[L]], %[[R]] : memref<i64>, i64{{$}}
  %1 = symm.atomic_rmw add %ctx, %z, %l, %r : memref<i64>, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[L]], %[[R]] : memref<4xi64>, i64{{$}}
  %2 = symm.atomic_rmw add %ctx, %a[%j], %l, %r : memref<4xi64>, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw fadd %[[CTX]], %[[B]][%[[J]], %[[J]]], %[[F]], %[[R]]
  // CHECK-SAME: : memref<?x4xf32, strided<[?, 2], offset: ?>, 1>, f32{{$}}
  %3 = symm.atomic_rmw fadd %ctx, %b[%j, %j], %f, %r : memref<?x4xf32, strided<[?, 2], offset: ?>, 1>, f32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw fadd %[[CTX]], %[[T]], %[[F]], %[[R]] : !tt.ptr<f32>, f32{{$}}
  %4 = symm.atomic_rmw fadd %ctx, %t, %f, %r : !tt.ptr<f32>, f32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[MANY]], %[[W]], %[[R]]
  // CHECK-SAME: : tensor<8x!tt.ptr<i32>, "layout">, tensor<8xi32, "layout">{{$}}
  %5 = symm.atomic_rmw add %ctx, %many, %w, %r : tensor<8x!tt.ptr<i32>, "layout">, tensor<8xi32, "layout">
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @rmw_options(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<4xi32>,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<i32>>, %[[R:[a-z0-9]+]]: i32, %[[DELTA:[a-z0-9]+]]: i64,
// CHECK-SAME: %[[J:[a-z0-9]+]]: index, %[[I:[a-z0-9]+]]: i32, %[[IN:[a-z0-9]+]]: i1,
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<8xi1>, %[[W:[a-z0-9]+]]: tensor<8xi32>
func.func @rmw_options(%ctx: !symm.ctx, %a: memref<4xi32>, %many: tensor<8x!tt.ptr<i32>>, %r: i32, %delta: i64,
    %j: index, %i: i32, %in: i1, %mask: tensor<8xi1>, %w: tensor<8xi32>) {
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] via %[[DELTA]]
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %0 = symm.atomic_rmw add %ctx, %a[%j], %i, %r via %delta : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] mask %[[IN]] : i1
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %1 = symm.atomic_rmw add %ctx, %a[%j], %i, %r mask %in : i1 : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[MANY]], %[[W]], %[[R]] mask %[[MASK]] : tensor<8xi1>
  // CHECK-SAME: : tensor<8x!tt.ptr<i32>>, tensor<8xi32>{{$}}
  %2 = symm.atomic_rmw add %ctx, %many, %w, %r mask %mask : tensor<8xi1> : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] sem relaxed
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %3 = symm.atomic_rmw add %ctx, %a[%j], %i, %r sem relaxed : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] sem acquire
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %4 = symm.atomic_rmw add %ctx, %a[%j], %i, %r sem acquire : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] sem release
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %5 = symm.atomic_rmw add %ctx, %a[%j], %i, %r sem release : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] scope cta
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %6 = symm.atomic_rmw add %ctx, %a[%j], %i, %r scope cta : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] scope cluster
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %7 = symm.atomic_rmw add %ctx, %a[%j], %i, %r scope cluster : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] scope gpu
  // CHECK-SAME: : memref<4xi32>, i32{{$}}
  %8 = symm.atomic_rmw add %ctx, %a[%j], %i, %r scope gpu : memref<4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_rmw add %[[CTX]], %[[A]][%[[J]]], %[[I]], %[[R]] via %[[DELTA]] mask %[[IN]]
  // CHECK-SAME: : i1 sem relaxed scope gpu : memref<4xi32>, i32{{$}}
  %9 = symm.atomic_rmw add %ctx, %a[%j], %i, %r via %delta mask %in : i1 sem relaxed scope gpu : memref<4xi32>, i32
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @cas(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[Z:[a-z0-9]+]]: memref<i64>,
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<4x4xi32>, %[[T:[a-z0-9]+]]: !tt.ptr<i32>,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<i64>>, %[[R:[a-z0-9]+]]: i32, %[[DELTA:[a-z0-9]+]]: i64,
// CHECK-SAME: %[[J:[a-z0-9]+]]: index, %[[E:[a-z0-9]+]]: i32, %[[D:[a-z0-9]+]]: i32, %[[LE:[a-z0-9]+]]: i64,
// CHECK-SAME: %[[LD:[a-z0-9]+]]: i64, %[[IN:[a-z0-9]+]]: i1, %[[WE:[a-z0-9]+]]: tensor<8xi64>,
// CHECK-SAME: %[[WD:[a-z0-9]+]]: tensor<8xi64>
func.func @cas(%ctx: !symm.ctx, %p: !llvm.ptr, %z: memref<i64>, %a: memref<4x4xi32>, %t: !tt.ptr<i32>,
    %many: tensor<8x!tt.ptr<i64>>, %r: i32, %delta: i64, %j: index, %e: i32, %d: i32, %le: i64, %ld: i64, %in: i1,
    %we: tensor<8xi64>, %wd: tensor<8xi64>) {
  // CHECK-NEXT: %{{.*}} = symm.atomic_cas %[[CTX]], %[[P]], %[[E]], %[[D]], %[[R]] : !llvm.ptr, i32{{$}}
  %0 = symm.atomic_cas %ctx, %p, %e, %d, %r : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_cas %[[CTX]], %[[Z]], %[[LE]], %[[LD]], %[[R]] : memref<i64>, i64{{$}}
  %1 = symm.atomic_cas %ctx, %z, %le, %ld, %r : memref<i64>, i64
  // CHECK-NEXT: %{{.*}} = symm.atomic_cas %[[CTX]], %[[A]][%[[J]], %[[J]]], %[[E]], %[[D]], %[[R]]
  // CHECK-SAME: : memref<4x4xi32>, i32{{$}}
  %2 = symm.atomic_cas %ctx, %a[%j, %j], %e, %d, %r : memref<4x4xi32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_cas %[[CTX]], %[[T]], %[[E]], %[[D]], %[[R]] : !tt.ptr<i32>, i32{{$}}
  %3 = symm.atomic_cas %ctx, %t, %e, %d, %r : !tt.ptr<i32>, i32
  // CHECK-NEXT: %{{.*}} = symm.atomic_cas %[[CTX]], %[[MANY]], %[[WE]], %[[WD]], %[[R]]
  // CHECK-SAME: : tensor<8x!tt.ptr<i64>>, tensor<8xi64>{{$}}
  %4 = symm.atomic_cas %ctx, %many, %we, %wd, %r : tensor<8x!tt.ptr<i64>>, tensor<8xi64>
  // CHECK-NEXT: %{{.*}} = symm.atomic_cas %[[CTX]], %[[A]][%[[J]], %[[J]]], %[[E]], %[[D]], %[[R]] via %[[DELTA]]
  // CHECK-SAME: mask %[[IN]] : i1 sem acquire scope cta : memref<4x4xi32>, i32{{$}}
  %5 = symm.atomic_cas %ctx, %a[%j, %j], %e, %d, %r via %delta mask %in : i1 sem acquire scope cta
    : memref<4x4xi32>, i32
  // CHECK-NEXT: return{{$}}
  return
}

// The defaults are acq_rel and sys (O1), and are not printed.
// CHECK-LABEL: func.func @defaults(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[R:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[I:[a-z0-9]+]]: i32
func.func @defaults(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %i: i32) {
  // CHECK-NEXT: = symm.atomic_rmw add %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr, i32{{$}}
  %0 = symm.atomic_rmw add %ctx, %p, %i, %r sem acq_rel scope sys : !llvm.ptr, i32
  // CHECK-NEXT: = symm.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr, i32{{$}}
  %1 = symm.atomic_cas %ctx, %p, %i, %i, %r sem acq_rel scope sys : !llvm.ptr, i32
  // CHECK-NEXT: return{{$}}
  return
}

// A rank for each pointer, and halves of words.
// CHECK-LABEL: func.func @each(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<i16>>,
// CHECK-SAME: %[[COUNTS:[a-z0-9]+]]: tensor<8x!tt.ptr<i32>>, %[[RANKS:[a-z0-9]+]]: tensor<8xi32>,
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<8xi16>
func.func @each(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<i16>>, %counts: tensor<8x!tt.ptr<i32>>,
    %ranks: tensor<8xi32>, %v: tensor<8xi16>) {
  // CHECK-NEXT: symm.atomic_rmw add %[[CTX]], %[[COUNTS]], %[[RANKS]], %[[RANKS]] each tensor<8xi32> sem relaxed :
  %0 = symm.atomic_rmw add %ctx, %counts, %ranks, %ranks each tensor<8xi32> sem relaxed
    : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  // CHECK-NEXT: symm.atomic_cas %[[CTX]], %[[MANY]], %[[V]], %[[V]], %[[RANKS]] each tensor<8xi32> :
  %1 = symm.atomic_cas %ctx, %many, %v, %v, %ranks each tensor<8xi32> : tensor<8x!tt.ptr<i16>>, tensor<8xi16>
  return
}
