// What dialect/td/Atomics.td refuses.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f32, %r: i32) {
  // expected-error @below {{add takes i32 or i64, got f32}}
  %0 = symm.atomic_rmw add %ctx, %p, %x, %r : !llvm.ptr, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: i16, %r: i32) {
  // expected-error @below {{sub takes i32 or i64, got i16}}
  %0 = symm.atomic_rmw sub %ctx, %p, %x, %r : !llvm.ptr, i16
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: index, %r: i32) {
  // expected-error @below {{max takes i32, i64, f32 or f64, got index}}
  %0 = symm.atomic_rmw max %ctx, %p, %x, %r : !llvm.ptr, index
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: ui32, %r: i32) {
  // expected-error @below {{umax takes i32 or i64, got ui32}}
  %0 = symm.atomic_rmw umax %ctx, %p, %x, %r : !llvm.ptr, ui32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{fadd takes f16, bf16, f32 or f64, got i32}}
  %0 = symm.atomic_rmw fadd %ctx, %p, %r, %r : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f8E5M2, %r: i32) {
  // expected-error @below {{fadd takes f16, bf16, f32 or f64, got f8E5M2}}
  %0 = symm.atomic_rmw fadd %ctx, %p, %x, %r : !llvm.ptr, f8E5M2
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f128, %r: i32) {
  // expected-error @below {{fadd takes f16, bf16, f32 or f64, got f128}}
  %0 = symm.atomic_rmw fadd %ctx, %p, %x, %r : !llvm.ptr, f128
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: i8, %r: i32) {
  // expected-error @below {{xchg takes i32, i64, f16, bf16, f32 or f64, got i8}}
  %0 = symm.atomic_rmw xchg %ctx, %p, %x, %r : !llvm.ptr, i8
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: vector<4xi32>, %r: i32) {
  // expected-error @below {{add takes i32 or i64, got vector<4xi32>}}
  %0 = symm.atomic_rmw add %ctx, %p, %x, %r : !llvm.ptr, vector<4xi32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: tensor<8xi32>, %r: i32) {
  // expected-error @below {{accesses a tensor through a tensor of pointers only, got !llvm.ptr}}
  %0 = symm.atomic_rmw add %ctx, %p, %x, %r : !llvm.ptr, tensor<8xi32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %x: tensor<8xi32>, %r: i32) {
  // expected-error @below {{accesses elements with their own type: tensor<8x!tt.ptr<f32>> does not hold i32}}
  %0 = symm.atomic_rmw add %ctx, %many, %x, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %f: memref<4xi64>, %i: index, %v: i32, %r: i32) {
  // expected-error @below {{accesses elements with their own type: memref<4xi64> does not hold i32}}
  %0 = symm.atomic_rmw add %ctx, %f[%i], %v, %r : memref<4xi64>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %f: memref<4xi64>, %w: i64, %r: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 1, got 0}}
  %0 = symm.atomic_rmw add %ctx, %f, %w, %r : memref<4xi64>, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %v: i32, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got i32}}
  %0 = symm.atomic_rmw add %ctx, %v, %v, %r : i32, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %l: !llvm.ptr<3>, %v: i32, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory, got !llvm.ptr<3>}}
  %0 = symm.atomic_rmw add %ctx, %l, %v, %r : !llvm.ptr<3>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32, %k: vector<4xi1>) {
  // expected-error @below {{takes a mask of i1 shaped like i32, got vector<4xi1>}}
  %0 = symm.atomic_rmw add %ctx, %p, %v, %r mask %k : vector<4xi1> : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f16, %r: i32) {
  // expected-error @below {{compares i16, i32, i64, f32 or f64, got f16}}
  %0 = symm.atomic_cas %ctx, %p, %x, %x, %r : !llvm.ptr, f16
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: vector<2xi32>, %r: i32) {
  // expected-error @below {{compares i16, i32, i64, f32 or f64, got vector<2xi32>}}
  %0 = symm.atomic_cas %ctx, %p, %x, %x, %r : !llvm.ptr, vector<2xi32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %f: memref<4xi64>, %i: index, %v: i32, %r: i32) {
  // expected-error @below {{accesses elements with their own type: memref<4xi64> does not hold i32}}
  %0 = symm.atomic_cas %ctx, %f[%i], %v, %v, %r : memref<4xi64>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %f: memref<4xi64>, %i: index, %w: i64, %r: i32, %k: i32) {
  // expected-error @below {{takes a mask of i1 shaped like i64, got i32}}
  %0 = symm.atomic_cas %ctx, %f[%i], %w, %w, %r mask %k : i32 : memref<4xi64>, i64
  return
}

// -----

// Generic forms.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{failed to verify that all of {value, result} have same type}}
  %0 = "symm.atomic_rmw"(%ctx, %p, %v, %r) <{kind = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32, i32) -> i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %w: i64, %r: i32) {
  // expected-error @below {{failed to verify that all of {expected, desired, result} have same type}}
  %0 = "symm.atomic_cas"(%ctx, %p, %v, %w, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32, i64, i32) -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{requires attribute 'kind'}}
  %0 = "symm.atomic_rmw"(%ctx, %p, %v, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32, i32) -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{Invalid attribute `kind` in property conversion: 11 : i32}}
  %0 = "symm.atomic_rmw"(%ctx, %p, %v, %r) <{kind = 11 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32, i32) -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{'symm.atomic_cas' op takes one operand 'desired', got 2}}
  %0 = "symm.atomic_cas"(%ctx, %p, %v, %v, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 2, 0, 0, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32, i32, i32) -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{'symm.atomic_rmw' op expected 4 or more operands, but found 1}}
  %0 = "symm.atomic_rmw"(%ctx) <{kind = 0 : i32, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>}>
    : (!symm.ctx) -> i32
  return
}

// -----

// Syntax.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{attribute 'kind' [add, fadd, sub, and, or, xor, min, max, umin, umax, xchg]}}
  %0 = symm.atomic_rmw nand %ctx, %p, %v, %r : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{attribute 'sem' [relaxed, acquire, release, acq_rel]}}
  %0 = symm.atomic_rmw add %ctx, %p, %v, %r sem seq_cst : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{attribute 'scope' [cta, cluster, gpu, sys]}}
  %0 = symm.atomic_rmw add %ctx, %p, %v, %r scope node : !llvm.ptr, i32
  return
}

// -----

// A deadline is for Triton's pointers.
func.func @deadline(%ctx: !symm.ctx, %p: !llvm.ptr, %d: !tt.ptr<i64>, %v: i32) {
  // expected-error @below {{S1: takes a deadline only with Triton's pointers, got !llvm.ptr: use timeout}}
  %0 = symm.atomic_rmw or %ctx, %p, %v, %v deadline %d : !tt.ptr<i64> : !llvm.ptr, i32
  return
}
