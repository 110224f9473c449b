// Ops of other dialects that read memory, and those that write it: a relaxed signal after them is made release.
// RUN: symm-opt %s --symm-check-memory-order --verify-diagnostics

func.func @memref_load(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>) {
  %0 = memref.load %m[%i] : memref<16xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_load(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>) {
  %0 = vector.load %m[%i] : memref<16xf32>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_maskedload(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %mask: vector<4xi1>, %v: vector<4xf32>) {
  %0 = vector.maskedload %m[%i], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_transfer_read(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %x: f32) {
  %0 = vector.transfer_read %m[%i], %x : memref<16xf32>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_gather(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>,
    %mask: vector<4xi1>, %v: vector<4xf32>, %at: vector<4xi32>) {
  %0 = vector.gather %m[%i][%at], %mask, %v
    : memref<16xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_expandload(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %mask: vector<4xi1>, %v: vector<4xf32>) {
  %0 = vector.expandload %m[%i], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @affine_load(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>) {
  %0 = affine.load %m[0] : memref<16xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @affine_vector_load(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>) {
  %0 = affine.vector_load %m[0] : memref<16xf32>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @llvm_load(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %p: !llvm.ptr) {
  %0 = llvm.load %p : !llvm.ptr -> f32
  // expected-remark @below {{O1: relaxed, but reads come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @memref_store(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>,
    %x: f32) {
  memref.store %x, %m[%i] : memref<16xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @memref_atomic_rmw(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %x: f32) {
  %0 = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<16xf32>) -> f32
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @memref_copy(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>) {
  memref.copy %m, %m : memref<16xf32> to memref<16xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_store(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>,
    %v: vector<4xf32>) {
  vector.store %v, %m[%i] : memref<16xf32>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_maskedstore(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %mask: vector<4xi1>, %v: vector<4xf32>) {
  vector.maskedstore %m[%i], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_transfer_write(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %v: vector<4xf32>) {
  vector.transfer_write %v, %m[%i] : vector<4xf32>, memref<16xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_scatter(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %mask: vector<4xi1>, %v: vector<4xf32>, %at: vector<4xi32>) {
  vector.scatter %m[%i][%at], %mask, %v : memref<16xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @vector_compressstore(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %mask: vector<4xi1>, %v: vector<4xf32>) {
  vector.compressstore %m[%i], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @affine_store(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %m: memref<16xf32>,
    %x: f32) {
  affine.store %x, %m[0] : memref<16xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @affine_vector_store(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index,
    %m: memref<16xf32>, %v: vector<4xf32>) {
  affine.vector_store %v, %m[0] : memref<16xf32>, vector<4xf32>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @llvm_store(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %x: f32, %p: !llvm.ptr) {
  llvm.store %x, %p : f32, !llvm.ptr
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

func.func @llvm_atomicrmw(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %x: f32,
    %p: !llvm.ptr) {
  %0 = llvm.atomicrmw fadd %p, %x monotonic : !llvm.ptr, f32
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}

// No other rank sees a thread's own memory: a store to it, and nothing else, needs no release.
func.func @own(%ctx: !symm.ctx, %flag: memref<1xi32>, %one: i32, %peer: i32, %i: index, %x: f32, %mask: vector<4xi1>,
    %v: vector<4xf32>, %at: vector<4xi32>) {
  %m = memref.alloca() : memref<16xf32>
  %p = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  memref.store %x, %m[%i] : memref<16xf32>
  %0 = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<16xf32>) -> f32
  vector.store %v, %m[%i] : memref<16xf32>, vector<4xf32>
  vector.maskedstore %m[%i], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  vector.transfer_write %v, %m[%i] : vector<4xf32>, memref<16xf32>
  vector.scatter %m[%i][%at], %mask, %v : memref<16xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  vector.compressstore %m[%i], %mask, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  affine.store %x, %m[0] : memref<16xf32>
  affine.vector_store %v, %m[0] : memref<16xf32>, vector<4xf32>
  llvm.store %x, %p : f32, !llvm.ptr
  %1 = llvm.atomicrmw fadd %p, %x monotonic : !llvm.ptr, f32
  symm.signal set %ctx, %flag[%i], %one, %peer sem relaxed : memref<1xi32>, i32
  return
}
