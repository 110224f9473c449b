// What dialect/td/Translation.td refuses.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @bad(%ctx: !symm.ctx, %x: f32, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got f32}}
  %0 = symm.as_remote %ctx, %x, %r : f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: memref<*xf32>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got}}
  %0 = symm.as_remote %ctx, %x, %r : memref<*xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: tensor<*x!tt.ptr<f32>>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer}}
  %0 = symm.as_remote %ctx, %x, %r : tensor<*x!tt.ptr<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: vector<4x!llvm.ptr>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer}}
  %0 = symm.as_remote %ctx, %x, %r : vector<4x!llvm.ptr>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: !symm.ctx, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer}}
  %0 = symm.as_remote %ctx, %x, %r : !symm.ctx
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: complex<f32>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer}}
  %0 = symm.as_remote %ctx, %x, %r : complex<f32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: !tt.ptr, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer}}
  %0 = symm.as_remote %ctx, %x, %r : !tt.ptr
  return
}

// -----

// Memory of one block or thread is on no heap.
func.func @bad(%ctx: !symm.ctx, %x: !llvm.ptr<3>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory, got !llvm.ptr<3>}}
  %0 = symm.as_remote %ctx, %x, %r : !llvm.ptr<3>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: memref<4xf32, 3>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory, got memref<4xf32,}}
  %0 = symm.as_remote %ctx, %x, %r : memref<4xf32, 3>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: memref<4xf32, #gpu.address_space<workgroup>>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory}}
  %0 = symm.as_remote %ctx, %x, %r : memref<4xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: memref<4xf32, #gpu.address_space<private>>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory}}
  %0 = symm.as_remote %ctx, %x, %r : memref<4xf32, #gpu.address_space<private>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: !tt.ptr<f32, 3>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory, got !tt.ptr<f32,}}
  %0 = symm.as_remote %ctx, %x, %r : !tt.ptr<f32, 3>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: tensor<8x!tt.ptr<f32, 3>>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory}}
  %0 = symm.as_remote %ctx, %x, %r : tensor<8x!tt.ptr<f32, 3>>
  return
}

// -----

// Only an offset and strides survive a translation.
func.func @bad(%ctx: !symm.ctx, %x: memref<8xf32, affine_map<(d0) -> (d0 mod 4)>>, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a memref with an offset and strides}}
  %0 = symm.as_remote %ctx, %x, %r : memref<8xf32, affine_map<(d0) -> (d0 mod 4)>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %w: i64) {
  // expected-error @below {{takes a rank of i32, or a tensor of them shaped like a tensor of pointers, got i64}}
  %0 = "symm.as_remote"(%ctx, %p, %w) : (!symm.ctx, !llvm.ptr, i64) -> !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{failed to verify that all of {ptr, result} have same type}}
  %0 = "symm.as_remote"(%ctx, %p, %r) : (!symm.ctx, !llvm.ptr, i32) -> !llvm.ptr<1>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // expected-error @below {{expected 3 or more operands, but found 2}}
  %0 = "symm.as_remote"(%ctx, %p) : (!symm.ctx, !llvm.ptr) -> !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %w: i64) {
  // expected-error @below {{requires 0 or 1 element}}
  %0 = "symm.as_remote"(%ctx, %p, %r, %w, %w) : (!symm.ctx, !llvm.ptr, i32, i64, i64) -> !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{operand #3 must be}}
  %0 = "symm.as_remote"(%ctx, %p, %r, %r) : (!symm.ctx, !llvm.ptr, i32, i32) -> !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %r: i32) {
  // expected-error @below {{expected 2 operands, but found 3}}
  %0 = "symm.heap_delta"(%ctx, %r, %r) : (!symm.ctx, i32, i32) -> i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %r: i32) {
  // expected-error @below {{result #0 must be 64-bit signless integer, but got 'index'}}
  %0 = "symm.heap_delta"(%ctx, %r) : (!symm.ctx, i32) -> index
  return
}
