// The ops of dialect/td/Packets.td: read, printed, read again, and kept by upstream passes.
// RUN: symm-opt %s --allow-unregistered-dialect | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --mlir-print-op-generic | symm-opt --allow-unregistered-dialect \
// RUN:   | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --canonicalize --cse --loop-invariant-code-motion \
// RUN:   --remove-dead-values --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: func.func @memory(
func.func @memory(%ctx: !symm.ctx, %p: !llvm.ptr, %m: memref<?xi32, strided<[1], offset: ?>>, %i: index, %e: i32,
                  %r: i32, %d: i64, %f: f32, %v: vector<11xbf16>, %on: i1, %lanes: vector<11xi1>, %n: index) {
  // CHECK: symm.put_packet %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr, f32
  symm.put_packet %ctx, %p, %f, %e, %r : !llvm.ptr, f32
  // CHECK: symm.put_packet %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}}, %{{.*}} via %{{.*}} mask %{{.*}} : vector<11xi1>
  // CHECK-SAME: : memref<?xi32, strided<[1], offset: ?>>, vector<11xbf16>
  symm.put_packet %ctx, %m[%i], %v, %e, %r via %d mask %lanes : vector<11xi1>
    : memref<?xi32, strided<[1], offset: ?>>, vector<11xbf16>
  symm.put_packet %ctx, %p, %n, %e, %r : !llvm.ptr, index
  // CHECK: %{{.*}} = symm.wait_packet %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}} mask %{{.*}} : i1
  // CHECK-SAME: : memref<?xi32, strided<[1], offset: ?>> -> vector<11xbf16>
  %0 = symm.wait_packet %ctx, %m[%i], %e mask %on : i1 : memref<?xi32, strided<[1], offset: ?>> -> vector<11xbf16>
  // CHECK: %{{.*}}, %{{.*}} = symm.try_packet %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr -> f64, i1
  %1, %2 = symm.try_packet %ctx, %p, %e : !llvm.ptr -> f64, i1
  return
}

// CHECK-LABEL: func.func @blocks(
func.func @blocks(%ctx: !symm.ctx, %p: tensor<4x!tt.ptr<i64>>, %e: i32, %r: i32, %v: tensor<4xf32>, %on: tensor<4xi1>) {
  // CHECK: symm.put_packet {{.*}} mask %{{.*}} : tensor<4xi1> : tensor<4x!tt.ptr<i64>>, tensor<4xf32>
  symm.put_packet %ctx, %p, %v, %e, %r mask %on : tensor<4xi1> : tensor<4x!tt.ptr<i64>>, tensor<4xf32>
  // CHECK: symm.try_packet {{.*}} : tensor<4x!tt.ptr<i64>> -> tensor<4xf32>, tensor<4xi1>
  %0, %1 = symm.try_packet %ctx, %p, %e : tensor<4x!tt.ptr<i64>> -> tensor<4xf32>, tensor<4xi1>
  return
}

// What nobody takes the result of, and the same twice.
// KEPT-LABEL: func.func @stay(
func.func @stay(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %r: i32, %v: i64) {
  // KEPT-COUNT-2: symm.put_packet
  symm.put_packet %ctx, %p, %v, %e, %r : !llvm.ptr, i64
  symm.put_packet %ctx, %p, %v, %e, %r : !llvm.ptr, i64
  // KEPT-COUNT-2: symm.wait_packet
  %0 = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> i64
  %1 = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> i64
  // KEPT-COUNT-2: symm.try_packet
  %2, %3 = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
  %4, %5 = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
  return
}

// KEPT-LABEL: func.func @masks(
func.func @masks(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %r: i32, %v: i64) {
  %true = arith.constant true
  %false = arith.constant false
  // KEPT: symm.put_packet %arg0, %arg1, %arg4, %arg2, %arg3 : !llvm.ptr, i64
  // KEPT-NEXT: return
  symm.put_packet %ctx, %p, %v, %e, %r mask %true : i1 : !llvm.ptr, i64
  symm.put_packet %ctx, %p, %v, %e, %r mask %false : i1 : !llvm.ptr, i64
  return
}

// Floats that show by themselves that they have come, and lines that are cleared.
// CHECK-LABEL: func.func @floats(
func.func @floats(%ctx: !symm.ctx, %p: !llvm.ptr, %v: vector<8xf32>, %h: bf16, %peer: i32, %on: i1) {
  // CHECK: symm.put_packet %{{.*}}, %{{.*}}, %{{.*}}, sentinel 32, %{{.*}} : !llvm.ptr, vector<8xf32>
  symm.put_packet %ctx, %p, %v, sentinel 32, %peer : !llvm.ptr, vector<8xf32>
  // CHECK: symm.put_packet %{{.*}}, sentinel 16, %{{.*}} clear mask %{{.*}} : i1 : !llvm.ptr, bf16
  symm.put_packet %ctx, %p, %h, sentinel 16, %peer clear mask %on : i1 : !llvm.ptr, bf16
  // CHECK: symm.wait_packet %{{.*}}, %{{.*}}, sentinel 32 : !llvm.ptr -> vector<8xf32>
  %w = symm.wait_packet %ctx, %p, sentinel 32 : !llvm.ptr -> vector<8xf32>
  // CHECK: symm.try_packet %{{.*}}, %{{.*}}, sentinel 16 : !llvm.ptr -> bf16, i1
  %x, %valid = symm.try_packet %ctx, %p, sentinel 16 : !llvm.ptr -> bf16, i1
  return
}
