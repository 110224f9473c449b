// What dialect/td/Packets.td refuses (P1).
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %r: i32, %v: i1) {
  // expected-error @below {{P1: packets carry integers and floats of 8 to 64 bits and index, or vectors of them, got i1}}
  symm.put_packet %ctx, %p, %v, %e, %r : !llvm.ptr, i1
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32) {
  // expected-error @below {{P1: packets carry vectors of one fixed dimension, got vector<2x4xf32>}}
  %0 = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> vector<2x4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %i: index, %e: i32) {
  // expected-error @below {{P1: slots are memory of i8, i16, i32 or i64, got memref<8xf32>}}
  %0 = symm.wait_packet %ctx, %m[%i], %e : memref<8xf32> -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8x8xi32, strided<[8, 2]>>, %i: index, %e: i32) {
  // expected-error @below {{P1: slots are contiguous: a memref whose innermost stride is 1}}
  %0 = symm.wait_packet %ctx, %m[%i, %i], %e : memref<8x8xi32, strided<[8, 2]>> -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xi32>, %e: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 1, got 0}}
  %0 = symm.wait_packet %ctx, %m, %e : memref<8xi32> -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: tensor<8x!tt.ptr<i64>>, %e: i32, %r: i32, %v: tensor<4xi64>) {
  // expected-error @below {{P1: a tensor of pointers takes a tensor with a packet for each pointer}}
  symm.put_packet %ctx, %p, %v, %e, %r : tensor<8x!tt.ptr<i64>>, tensor<4xi64>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32) {
  // expected-error @below {{P1: whether a value is there is an i1, or a tensor of i1 shaped like vector<4xi32>, got i32}}
  %0, %1 = symm.try_packet %ctx, %p, %e : !llvm.ptr -> vector<4xi32>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32, %on: vector<3xi1>) {
  // expected-error @below {{takes a mask of i1 shaped like vector<4xi32>, got vector<3xi1>}}
  %0 = symm.wait_packet %ctx, %p, %e mask %on : vector<3xi1> : !llvm.ptr -> vector<4xi32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr<3>, %e: i32) {
  // expected-error @below {{T1: 'slots' is on the symmetric heap}}
  %0 = symm.wait_packet %ctx, %p, %e : !llvm.ptr<3> -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: vector<4xi32>, %r: i32) {
  // expected-error @below {{S1: a sentinel is for floats of 32 bits in which all bits set are a NaN, or i64 of such, not i32}}
  symm.put_packet %ctx, %p, %v, sentinel 32, %r : !llvm.ptr, vector<4xi32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // expected-error @below {{S1: a sentinel is for floats of 8 bits}}
  %0 = symm.wait_packet %ctx, %p, sentinel 8 : !llvm.ptr -> vector<16xf8E4M3FNUZ>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // expected-error @below {{S1: a sentinel is for floats of 16 bits}}
  %0, %1 = symm.try_packet %ctx, %p, sentinel 16 : !llvm.ptr -> f32, i1
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // expected-error @below {{P1: a sentinel has 8, 16, 32 or 64 bits, not 24}}
  %0 = symm.wait_packet %ctx, %p, sentinel 24 : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %e: i32, %r: i32) {
  // expected-error @below {{P1: there is nothing to clear where packets have an epoch}}
  symm.put_packet %ctx, %p, %v, %e, %r clear : !llvm.ptr, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %r: i32) {
  // expected-error @below {{P1: packets have an epoch, or a sentinel}}
  symm.put_packet %ctx, %p, %v, , %r : !llvm.ptr, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i64, %r: i32) {
  // expected-error @below {{P1: a line of floats is two words of 64 bits of one shape in a Triton kernel, and elsewhere a vector}}
  symm.put_packet %ctx, %p, %v upper %v, sentinel 32, %r : !llvm.ptr, i64, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i64, %e: i32, %r: i32) {
  // expected-error @below {{P1: a packet with an epoch has one word}}
  symm.put_packet %ctx, %p, %v upper %v, %e, %r : !llvm.ptr, i64, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %e: i32) {
  // expected-error @below {{has a tag, but no deadline}}
  %0, %1 = symm.try_packet %ctx, %p, %e tag 3 : !llvm.ptr -> i64, i1
  return
}
