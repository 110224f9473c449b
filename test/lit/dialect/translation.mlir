// From a pointer of mine to the same object of another rank: every form of dialect/td/Translation.td.
// RUN: symm-opt %s --allow-unregistered-dialect | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --emit-bytecode | symm-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @heap_delta(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[PEER:[a-z0-9]+]]: i32
func.func @heap_delta(%ctx: !symm.ctx, %peer: i32) -> i64 {
  // CHECK-NEXT: %[[DELTA:.*]] = symm.heap_delta %[[CTX]], %[[PEER]]{{$}}
  %delta = symm.heap_delta %ctx, %peer
  // CHECK-NEXT: return %[[DELTA]] : i64{{$}}
  return %delta : i64
}

// CHECK-LABEL: func.func @llvm_pointers(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !llvm.ptr, %[[G:[a-z0-9]+]]: !llvm.ptr<1>,
// CHECK-SAME: %[[PEER:[a-z0-9]+]]: i32, %[[DELTA:[a-z0-9]+]]: i64
func.func @llvm_pointers(%ctx: !symm.ctx, %p: !llvm.ptr, %g: !llvm.ptr<1>, %peer: i32, %delta: i64) {
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[P]], %[[PEER]] : !llvm.ptr{{$}}
  %0 = symm.as_remote %ctx, %p, %peer : !llvm.ptr
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[G]], %[[PEER]] : !llvm.ptr<1>{{$}}
  %1 = symm.as_remote %ctx, %g, %peer : !llvm.ptr<1>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[P]], %[[PEER]] via %[[DELTA]] : !llvm.ptr{{$}}
  %2 = symm.as_remote %ctx, %p, %peer via %delta : !llvm.ptr
  // CHECK-NEXT: return{{$}}
  return
}

// The layout is part of the type and stays.
// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[A:[a-z0-9]+]]: memref<64x64xf32>,
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x8xf16, strided<[128, 1], offset: ?>>,
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<4xi8, strided<[?], offset: 3>>, %[[D:[a-z0-9]+]]: memref<bf16>,
// CHECK-SAME: %[[E:[a-z0-9]+]]: memref<16xf64, 1>, %[[F:[a-z0-9]+]]: memref<2xindex, #gpu.address_space<global>>,
// CHECK-SAME: %[[PEER:[a-z0-9]+]]: i32, %[[DELTA:[a-z0-9]+]]: i64
func.func @memrefs(%ctx: !symm.ctx, %a: memref<64x64xf32>, %b: memref<?x8xf16, strided<[128, 1], offset: ?>>,
    %c: memref<4xi8, strided<[?], offset: 3>>, %d: memref<bf16>, %e: memref<16xf64, 1>,
    %f: memref<2xindex, #gpu.address_space<global>>, %peer: i32, %delta: i64) {
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[A]], %[[PEER]] : memref<64x64xf32>{{$}}
  %0 = symm.as_remote %ctx, %a, %peer : memref<64x64xf32>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[B]], %[[PEER]]
  // CHECK-SAME: : memref<?x8xf16, strided<[128, 1], offset: ?>>{{$}}
  %1 = symm.as_remote %ctx, %b, %peer : memref<?x8xf16, strided<[128, 1], offset: ?>>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[C]], %[[PEER]] : memref<4xi8, strided<[?], offset: 3>>{{$}}
  %2 = symm.as_remote %ctx, %c, %peer : memref<4xi8, strided<[?], offset: 3>>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[D]], %[[PEER]] : memref<bf16>{{$}}
  %3 = symm.as_remote %ctx, %d, %peer : memref<bf16>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[E]], %[[PEER]] : memref<16xf64, 1>{{$}}
  %4 = symm.as_remote %ctx, %e, %peer : memref<16xf64, 1>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[F]], %[[PEER]] : memref<2xindex, #gpu.address_space<global>>{{$}}
  %5 = symm.as_remote %ctx, %f, %peer : memref<2xindex, #gpu.address_space<global>>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[A]], %[[PEER]] via %[[DELTA]] : memref<64x64xf32>{{$}}
  %6 = symm.as_remote %ctx, %a, %peer via %delta : memref<64x64xf32>
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @triton_pointers(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[P:[a-z0-9]+]]: !tt.ptr<f32>, %[[G:[a-z0-9]+]]: !tt.ptr<f32, 1>,
// CHECK-SAME: %[[BLOCK:[a-z0-9]+]]: !tt.ptr<tensor<4x4xf32, #tt.enc>>, %[[MANY:[a-z0-9]+]]: tensor<8x!tt.ptr<f16>>,
// CHECK-SAME: %[[LAID:[a-z0-9]+]]: tensor<8x4x!tt.ptr<f8E5M2>, "layout">, %[[PEER:[a-z0-9]+]]: i32,
// CHECK-SAME: %[[DELTA:[a-z0-9]+]]: i64
func.func @triton_pointers(%ctx: !symm.ctx, %p: !tt.ptr<f32>, %g: !tt.ptr<f32, 1>,
    %block: !tt.ptr<tensor<4x4xf32, #tt.enc>>, %many: tensor<8x!tt.ptr<f16>>,
    %laid: tensor<8x4x!tt.ptr<f8E5M2>, "layout">, %peer: i32, %delta: i64) {
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[P]], %[[PEER]] : !tt.ptr<f32>{{$}}
  %0 = symm.as_remote %ctx, %p, %peer : !tt.ptr<f32>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[G]], %[[PEER]] : !tt.ptr<f32, 1>{{$}}
  %1 = symm.as_remote %ctx, %g, %peer : !tt.ptr<f32, 1>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[BLOCK]], %[[PEER]] : !tt.ptr<tensor<4x4xf32, #tt.enc>>{{$}}
  %2 = symm.as_remote %ctx, %block, %peer : !tt.ptr<tensor<4x4xf32, #tt.enc>>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[MANY]], %[[PEER]] : tensor<8x!tt.ptr<f16>>{{$}}
  %3 = symm.as_remote %ctx, %many, %peer : tensor<8x!tt.ptr<f16>>
  // CHECK-NEXT: %{{.*}} = symm.as_remote %[[CTX]], %[[LAID]], %[[PEER]] via %[[DELTA]]
  // CHECK-SAME: : tensor<8x4x!tt.ptr<f8E5M2>, "layout">{{$}}
  %4 = symm.as_remote %ctx, %laid, %peer via %delta : tensor<8x4x!tt.ptr<f8E5M2>, "layout">
  // CHECK-NEXT: return{{$}}
  return
}
