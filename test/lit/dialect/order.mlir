// Who may see what, and when: every form of dialect/td/Order.td.
// RUN: symm-opt %s --allow-unregistered-dialect | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --emit-bytecode | symm-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @signal(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<4xi64>,
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<2x4xi32, strided<[?, 2], offset: ?>, 1>, %[[Z:[a-z0-9]+]]: memref<i32>,
// CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr, %[[G:[a-z0-9]+]]: !llvm.ptr<1>, %[[T:[a-z0-9]+]]: !tt.ptr<i32>,
// CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[V:[a-z0-9]+]]: i32, %[[W:[a-z0-9]+]]: i64, %[[R:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[DELTA:[a-z0-9]+]]: i64
func.func @signal(%ctx: !symm.ctx, %a: memref<4xi64>, %b: memref<2x4xi32, strided<[?, 2], offset: ?>, 1>,
    %z: memref<i32>, %p: !llvm.ptr, %g: !llvm.ptr<1>, %t: !tt.ptr<i32>, %i: index, %v: i32, %w: i64, %r: i32,
    %delta: i64) {
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[A]][%[[I]]], %[[W]], %[[R]] : memref<4xi64>, i64{{$}}
  symm.signal set %ctx, %a[%i], %w, %r : memref<4xi64>, i64
  // CHECK-NEXT: symm.signal add %[[CTX]], %[[A]][%[[I]]], %[[W]], %[[R]] : memref<4xi64>, i64{{$}}
  symm.signal add %ctx, %a[%i], %w, %r : memref<4xi64>, i64
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[B]][%[[I]], %[[I]]], %[[V]], %[[R]]
  // CHECK-SAME: : memref<2x4xi32, strided<[?, 2], offset: ?>, 1>, i32{{$}}
  symm.signal set %ctx, %b[%i, %i], %v, %r : memref<2x4xi32, strided<[?, 2], offset: ?>, 1>, i32
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[Z]], %[[V]], %[[R]] : memref<i32>, i32{{$}}
  symm.signal set %ctx, %z, %v, %r : memref<i32>, i32
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[P]], %[[W]], %[[R]] : !llvm.ptr, i64{{$}}
  symm.signal set %ctx, %p, %w, %r : !llvm.ptr, i64
  // CHECK-NEXT: symm.signal add %[[CTX]], %[[G]], %[[V]], %[[R]] : !llvm.ptr<1>, i32{{$}}
  symm.signal add %ctx, %g, %v, %r : !llvm.ptr<1>, i32
  // CHECK-NEXT: symm.signal add %[[CTX]], %[[T]], %[[V]], %[[R]] : !tt.ptr<i32>, i32{{$}}
  symm.signal add %ctx, %t, %v, %r : !tt.ptr<i32>, i32
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[P]], %[[W]], %[[R]] via %[[DELTA]] : !llvm.ptr, i64{{$}}
  symm.signal set %ctx, %p, %w, %r via %delta : !llvm.ptr, i64
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[P]], %[[W]], %[[R]] sem relaxed : !llvm.ptr, i64{{$}}
  symm.signal set %ctx, %p, %w, %r sem relaxed : !llvm.ptr, i64
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[P]], %[[W]], %[[R]] scope cta : !llvm.ptr, i64{{$}}
  symm.signal set %ctx, %p, %w, %r scope cta : !llvm.ptr, i64
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[P]], %[[W]], %[[R]] scope cluster : !llvm.ptr, i64{{$}}
  symm.signal set %ctx, %p, %w, %r scope cluster : !llvm.ptr, i64
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[P]], %[[W]], %[[R]] scope gpu : !llvm.ptr, i64{{$}}
  symm.signal set %ctx, %p, %w, %r scope gpu : !llvm.ptr, i64
  // CHECK-NEXT: symm.signal set %[[CTX]], %[[P]], %[[W]], %[[R]] group warp : !llvm.ptr, i64{{$}}
  symm.signal set %ctx, %p, %w, %r group warp : !llvm.ptr, i64
  // CHECK-NEXT: symm.signal add %[[CTX]], %[[A]][%[[I]]], %[[W]], %[[R]] via %[[DELTA]] sem relaxed scope gpu group
  // CHECK-SAME: block : memref<4xi64>, i64{{$}}
  symm.signal add %ctx, %a[%i], %w, %r via %delta sem relaxed scope gpu group block : memref<4xi64>, i64
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @wait(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<4xi64>, %[[Z:[a-z0-9]+]]: memref<i32, 1>,
// CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr, %[[T:[a-z0-9]+]]: !tt.ptr<i32>, %[[I:[a-z0-9]+]]: index,
// CHECK-SAME: %[[V:[a-z0-9]+]]: i32, %[[W:[a-z0-9]+]]: i64, %[[NS:[a-z0-9]+]]: i64
func.func @wait(%ctx: !symm.ctx, %a: memref<4xi64>, %z: memref<i32, 1>, %p: !llvm.ptr, %t: !tt.ptr<i32>, %i: index,
    %v: i32, %w: i64, %ns: i64) {
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] eq %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] eq %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] ne %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] ne %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] lt %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] lt %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] le %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] le %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] gt %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] gt %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] ge %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] ge %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] unsigned lt %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] unsigned lt %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[A]][%[[I]]] unsigned ge %[[W]] : memref<4xi64>, i64{{$}}
  symm.wait %ctx, %a[%i] unsigned ge %w : memref<4xi64>, i64
  // CHECK-NEXT: symm.wait %[[CTX]], %[[Z]] ge %[[V]] : memref<i32, 1>, i32{{$}}
  symm.wait %ctx, %z ge %v : memref<i32, 1>, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[P]] ge %[[V]] : !llvm.ptr, i32{{$}}
  symm.wait %ctx, %p ge %v : !llvm.ptr, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[T]] ge %[[V]] : !tt.ptr<i32>, i32{{$}}
  symm.wait %ctx, %t ge %v : !tt.ptr<i32>, i32
  // CHECK-NEXT: %{{.*}} = symm.wait %[[CTX]], %[[P]] eq %[[V]] timeout %[[NS]] : !llvm.ptr, i32 -> i1{{$}}
  %0 = symm.wait %ctx, %p eq %v timeout %ns : !llvm.ptr, i32 -> i1
  // CHECK-NEXT: symm.wait %[[CTX]], %[[P]] ge %[[V]] sem relaxed : !llvm.ptr, i32{{$}}
  symm.wait %ctx, %p ge %v sem relaxed : !llvm.ptr, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[P]] ge %[[V]] scope cta : !llvm.ptr, i32{{$}}
  symm.wait %ctx, %p ge %v scope cta : !llvm.ptr, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[P]] ge %[[V]] scope cluster : !llvm.ptr, i32{{$}}
  symm.wait %ctx, %p ge %v scope cluster : !llvm.ptr, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[P]] ge %[[V]] scope gpu : !llvm.ptr, i32{{$}}
  symm.wait %ctx, %p ge %v scope gpu : !llvm.ptr, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[P]] ge %[[V]] group warp : !llvm.ptr, i32{{$}}
  symm.wait %ctx, %p ge %v group warp : !llvm.ptr, i32
  // CHECK-NEXT: %{{.*}} = symm.wait %[[CTX]], %[[A]][%[[I]]] unsigned gt %[[W]] timeout %[[NS]] sem relaxed scope
  // CHECK-SAME: gpu group block : memref<4xi64>, i64 -> i1{{$}}
  %1 = symm.wait %ctx, %a[%i] unsigned gt %w timeout %ns sem relaxed scope gpu group block : memref<4xi64>, i64 -> i1
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @deadline(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[T:[a-z0-9]+]]: !tt.ptr<i32>, %[[D:[a-z0-9]+]]: !tt.ptr<i64>,
// CHECK-SAME: %[[V:[a-z0-9]+]]: i32
func.func @deadline(%ctx: !symm.ctx, %t: !tt.ptr<i32>, %d: !tt.ptr<i64>, %v: i32) {
  // CHECK-NEXT: symm.wait %[[CTX]], %[[T]] ge %[[V]] deadline %[[D]] : !tt.ptr<i64> : !tt.ptr<i32>, i32{{$}}
  symm.wait %ctx, %t ge %v deadline %d : !tt.ptr<i64> : !tt.ptr<i32>, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[T]] ge %[[V]] deadline %[[D]] : !tt.ptr<i64> tag 3 sem relaxed : !tt.ptr<i32>, i32
  symm.wait %ctx, %t ge %v deadline %d : !tt.ptr<i64> tag 3 sem relaxed : !tt.ptr<i32>, i32
  // CHECK-NEXT: symm.wait %[[CTX]], %[[T]] ge %[[V]] deadline %[[D]] : !tt.ptr<i64> tag 3 limit 5 logs : !tt.ptr<i32>, i32
  symm.wait %ctx, %t ge %v deadline %d : !tt.ptr<i64> tag 3 limit 5 logs : !tt.ptr<i32>, i32
  // CHECK-NEXT: symm.barrier %[[CTX]] deadline %[[D]] : !tt.ptr<i64> tag 3 limit 5 logs group block
  symm.barrier %ctx deadline %d : !tt.ptr<i64> tag 3 limit 5 logs group block
  // CHECK-NEXT: %{{.*}} = symm.wait_packet %[[CTX]], %[[T]], %[[V]] deadline %[[D]] : !tt.ptr<i64> tag 4 : !tt.ptr<i32> -> i8
  %0 = symm.wait_packet %ctx, %t, %v deadline %d : !tt.ptr<i64> tag 4 : !tt.ptr<i32> -> i8
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @put_signal(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<64xf32>,
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?xf32, strided<[2], offset: 1>>, %[[FLAGS:[a-z0-9]+]]: memref<4xi64>,
// CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr, %[[T:[a-z0-9]+]]: !tt.ptr<f32>, %[[TF:[a-z0-9]+]]: !tt.ptr<i32>,
// CHECK-SAME: %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f32>>, %[[MASK:[a-z0-9]+]]: tensor<8xi1>,
// CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[V:[a-z0-9]+]]: i32, %[[W:[a-z0-9]+]]: i64, %[[R:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[DELTA:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: index
func.func @put_signal(%ctx: !symm.ctx, %a: memref<64xf32>, %b: memref<?xf32, strided<[2], offset: 1>>,
    %flags: memref<4xi64>, %p: !llvm.ptr, %t: !tt.ptr<f32>, %tf: !tt.ptr<i32>, %many: tensor<8x!tt.ptr<f32>>,
    %mask: tensor<8xi1>, %i: index, %v: i32, %w: i64, %r: i32, %delta: i64, %n: index) {
  // CHECK-NEXT: symm.put_signal set %[[CTX]], %[[A]], %[[A]], %[[FLAGS]][%[[I]]], %[[W]], %[[R]]
  // CHECK-SAME: : memref<64xf32>, memref<64xf32>, memref<4xi64>, i64{{$}}
  symm.put_signal set %ctx, %a, %a, %flags[%i], %w, %r : memref<64xf32>, memref<64xf32>, memref<4xi64>, i64
  // CHECK-NEXT: symm.put_signal add %[[CTX]], %[[B]], %[[A]], %[[P]], %[[V]], %[[R]]
  // CHECK-SAME: : memref<?xf32, strided<[2], offset: 1>>, memref<64xf32>, !llvm.ptr, i32{{$}}
  symm.put_signal add %ctx, %b, %a, %p, %v, %r : memref<?xf32, strided<[2], offset: 1>>, memref<64xf32>, !llvm.ptr, i32
  // CHECK-NEXT: symm.put_signal set %[[CTX]], %[[P]], %[[P]], %[[FLAGS]][%[[I]]], %[[W]], %[[R]] count %[[N]]
  // CHECK-SAME: : index of f16 : !llvm.ptr, !llvm.ptr, memref<4xi64>, i64{{$}}
  symm.put_signal set %ctx, %p, %p, %flags[%i], %w, %r count %n : index of f16
    : !llvm.ptr, !llvm.ptr, memref<4xi64>, i64
  // CHECK-NEXT: symm.put_signal set %[[CTX]], %[[T]], %[[T]], %[[TF]], %[[V]], %[[R]] count %[[W]] : i64 of f32
  // CHECK-SAME: : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<i32>, i32{{$}}
  symm.put_signal set %ctx, %t, %t, %tf, %v, %r count %w : i64 of f32 : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<i32>, i32
  // CHECK-NEXT: symm.put_signal set %[[CTX]], %[[MANY]], %[[MANY]], %[[TF]], %[[V]], %[[R]] mask %[[MASK]]
  // CHECK-SAME: : tensor<8xi1> : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, !tt.ptr<i32>, i32{{$}}
  symm.put_signal set %ctx, %many, %many, %tf, %v, %r mask %mask : tensor<8xi1>
    : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>, !tt.ptr<i32>, i32
  // CHECK-NEXT: symm.put_signal set %[[CTX]], %[[A]], %[[A]], %[[P]], %[[W]], %[[R]] cache wt
  // CHECK-SAME: : memref<64xf32>, memref<64xf32>, !llvm.ptr, i64{{$}}
  symm.put_signal set %ctx, %a, %a, %p, %w, %r cache wt : memref<64xf32>, memref<64xf32>, !llvm.ptr, i64
  // CHECK-NEXT: symm.put_signal set %[[CTX]], %[[A]], %[[A]], %[[P]], %[[W]], %[[R]] scope gpu
  // CHECK-SAME: : memref<64xf32>, memref<64xf32>, !llvm.ptr, i64{{$}}
  symm.put_signal set %ctx, %a, %a, %p, %w, %r scope gpu : memref<64xf32>, memref<64xf32>, !llvm.ptr, i64
  // CHECK-NEXT: symm.put_signal set %[[CTX]], %[[A]], %[[A]], %[[P]], %[[W]], %[[R]] group warp
  // CHECK-SAME: : memref<64xf32>, memref<64xf32>, !llvm.ptr, i64{{$}}
  symm.put_signal set %ctx, %a, %a, %p, %w, %r group warp : memref<64xf32>, memref<64xf32>, !llvm.ptr, i64
  // CHECK-NEXT: symm.put_signal add %[[CTX]], %[[P]], %[[P]], %[[FLAGS]][%[[I]]], %[[W]], %[[R]] via %[[DELTA]]
  // CHECK-SAME: count %[[N]] : index of f16 cache cg scope cta group block {alignment = 16 : i64}
  // CHECK-SAME: : !llvm.ptr, !llvm.ptr, memref<4xi64>, i64{{$}}
  symm.put_signal add %ctx, %p, %p, %flags[%i], %w, %r via %delta count %n
    : index of f16 cache cg scope cta group block {alignment = 16 : i64} : !llvm.ptr, !llvm.ptr, memref<4xi64>, i64
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @fence(
func.func @fence() {
  // CHECK-NEXT: symm.fence{{$}}
  symm.fence
  // CHECK-NEXT: symm.fence sem acquire{{$}}
  symm.fence sem acquire
  // CHECK-NEXT: symm.fence sem release{{$}}
  symm.fence sem release
  // CHECK-NEXT: symm.fence scope cta{{$}}
  symm.fence scope cta
  // CHECK-NEXT: symm.fence scope cluster{{$}}
  symm.fence scope cluster
  // CHECK-NEXT: symm.fence sem release scope gpu{{$}}
  symm.fence sem release scope gpu
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @barrier(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx
func.func @barrier(%ctx: !symm.ctx) {
  // CHECK-NEXT: symm.barrier %[[CTX]]{{$}}
  symm.barrier %ctx
  // CHECK-NEXT: symm.barrier %[[CTX]] group warp{{$}}
  symm.barrier %ctx group warp
  // CHECK-NEXT: symm.barrier %[[CTX]] group block{{$}}
  symm.barrier %ctx group block
  // CHECK-NEXT: return{{$}}
  return
}

// The defaults are release for a signal, acquire for a wait, acq_rel for a fence, and sys (O1). None is printed.
// CHECK-LABEL: func.func @defaults(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[V:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[R:[a-z0-9]+]]: i32
func.func @defaults(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // CHECK-NEXT: symm.signal set %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr, i32{{$}}
  symm.signal set %ctx, %p, %v, %r sem release scope sys group thread : !llvm.ptr, i32
  // CHECK-NEXT: symm.wait %{{.*}}, %{{.*}} eq %{{.*}} : !llvm.ptr, i32{{$}}
  symm.wait %ctx, %p eq %v sem acquire scope sys group thread : !llvm.ptr, i32
  // CHECK-NEXT: symm.fence{{$}}
  symm.fence sem acq_rel scope sys
  // CHECK-NEXT: symm.barrier %{{[^ ]*}}{{$}}
  symm.barrier %ctx group thread
  // CHECK-NEXT: return{{$}}
  return
}
