// Lines of floats (P1): all 16 bytes are data. A word with all bits set has not come, so that none is sent.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s

// 12 bytes are a line with four bytes of zeros.
// CHECK-LABEL: func.func @put(
func.func @put(%ctx: !symm.ctx, %v: vector<3xf32>, %p: !llvm.ptr, %peer: i32) {
  // CHECK-DAG: %[[ONES:.*]] = arith.constant -1 : i64
  // CHECK-DAG: %[[REST:.*]] = arith.constant 9223372034707292159 : i64
  // CHECK: %[[WORDS:.*]] = llvm.bitcast %{{.*}} : vector<4xi32> to vector<2xi64>
  // CHECK: %[[WORD:.*]] = llvm.extractelement %[[WORDS]]
  // CHECK: %[[OTHERS:.*]] = arith.xori %{{.*}}, %[[ONES]]
  // CHECK: %[[OTHER_BITS:.*]] = arith.andi %[[OTHERS]], %[[REST]]
  // CHECK: arith.addi %[[OTHER_BITS]], %[[REST]]
  // CHECK-COUNT-2: llvm.store {{.*}} atomic monotonic {alignment = 8 : i64}
  // CHECK-NOT: llvm.store
  // CHECK: return
  symm.put_packet %ctx, %p, %v, sentinel 32, %peer : !llvm.ptr, vector<3xf32>
  return
}

// Whatever the value is.
// CHECK-LABEL: func.func @clear(
func.func @clear(%ctx: !symm.ctx, %v: vector<8xbf16>, %p: !llvm.ptr, %peer: i32) {
  // CHECK: %[[CLEARED:.*]] = arith.constant -1 : i64
  // CHECK-COUNT-2: llvm.store %[[CLEARED]], {{.*}} atomic monotonic
  // CHECK-NOT: llvm.store
  // CHECK: return
  symm.put_packet %ctx, %p, %v, sentinel 16, %peer clear : !llvm.ptr, vector<8xbf16>
  return
}

// The runtime waits for each word, of 32 bits or of 64.
// CHECK-LABEL: func.func @waits(
func.func @waits(%ctx: !symm.ctx, %p: !llvm.ptr) -> (vector<4xf32>, f64) {
  // CHECK-DAG: %[[NE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[ONES:.*]] = arith.constant -1 : i32
  // CHECK-COUNT-4: call @symm_rt_wait32(%{{.*}}, %{{.*}}, %[[NE]], %[[ONES]]
  // CHECK-COUNT-2: call @symm_rt_wait64(
  %0 = symm.wait_packet %ctx, %p, sentinel 32 : !llvm.ptr -> vector<4xf32>
  %1 = symm.wait_packet %ctx, %p, sentinel 64 : !llvm.ptr -> f64
  return %0, %1 : vector<4xf32>, f64
}

// CHECK-LABEL: func.func @look(
func.func @look(%ctx: !symm.ctx, %p: !llvm.ptr) -> (vector<8xf16>, i1) {
  // CHECK-COUNT-4: arith.cmpi eq, %{{.*}}, %{{.*}} : i32
  %v, %valid = symm.try_packet %ctx, %p, sentinel 16 : !llvm.ptr -> vector<8xf16>, i1
  return %v, %valid : vector<8xf16>, i1
}
