// What dialect/td/Data.td refuses.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// T1: where data can be.
func.func @bad(%ctx: !symm.ctx, %r: i32) {
  // expected-error @below {{T1: 'ptr' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got i32}}
  %0 = symm.remote_load %ctx, %r, %r : i32 -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: f32, %l: memref<8xf32, 3>, %i: index, %r: i32) {
  // expected-error @below {{T1: 'ptr' is on the symmetric heap, which is generic or global memory, got memref<8xf32,}}
  symm.remote_store %ctx, %l[%i], %x, %r : memref<8xf32, 3>, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %l: !llvm.ptr<5>, %p: !llvm.ptr, %r: i32, %n: index) {
  // expected-error @below {{T1: 'src' is on the symmetric heap, which is generic or global memory, got !llvm.ptr<5>}}
  symm.get %ctx, %l, %p, %r count %n : index of f32 : !llvm.ptr<5>, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %l: memref<8xf32, 3>, %r: i32) {
  // expected-error @below {{T1: 'dst' is on the symmetric heap, which is generic or global memory, got memref<8xf32,}}
  symm.put %ctx, %m, %l, %r : memref<8xf32>, memref<8xf32, 3>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %l: memref<8xf32, 3>, %r: i32, %m: memref<8xf32>) {
  // expected-error @below {{T1: 'src' is on the symmetric heap, which is generic or global memory, got memref<8xf32,}}
  symm.copy %ctx, %l at %r, %m at %r : memref<8xf32, 3>, memref<8xf32>
  return
}

// -----

// T4: no alignment beyond that of a heap base survives a translation.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got 3}}
  %0 = symm.remote_load %ctx, %p, %r {alignment = 3 : i64} : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: f32, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got 0}}
  symm.remote_store %ctx, %p, %x, %r {alignment = 0 : i64} : !llvm.ptr, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got -8}}
  symm.get %ctx, %m, %m, %r {alignment = -8 : i64} : memref<8xf32>, memref<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got 4194304}}
  symm.put %ctx, %m, %m, %r {alignment = 4194304 : i64} : memref<8xf32>, memref<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got}}
  symm.copy %ctx, %m at %r, %m at %r {alignment = -9223372036854775808 : i64} : memref<8xf32>, memref<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = symm.remote_load %ctx, %p, %r {alignment = "wide"} : !llvm.ptr -> f32
  return
}

// -----

// Indices.
func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 1, got 0}}
  %0 = symm.remote_load %ctx, %m, %r : memref<8xf32> -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %i: index, %r: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 1, got 2}}
  %0 = symm.remote_load %ctx, %m[%i, %i], %r : memref<8xf32> -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: f32, %p: !llvm.ptr, %i: index, %r: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 0, got 1}}
  symm.remote_store %ctx, %p[%i], %x, %r : !llvm.ptr, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %z: memref<f32>, %i: index, %r: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 0, got 1}}
  %0 = symm.remote_load %ctx, %z[%i], %r : memref<f32> -> f32
  return
}

// -----

// What can be accessed.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got i7}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i7
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got si32}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> si32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got i128}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i128
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got tf32}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> tf32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got f128}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f128
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got f4E2M1FN}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f4E2M1FN
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got complex<f32>}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> complex<f32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got none}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> none
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got tuple<i32>}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> tuple<i32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got !llvm.ptr}}
  symm.remote_store %ctx, %p, %p, %r : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got !symm.ctx}}
  symm.remote_store %ctx, %p, %ctx, %r : !llvm.ptr, !symm.ctx
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %mm: memref<4xmemref<4xf32>>, %i: index, %r: i32) {
  // expected-error @below {{accesses integers, floats and index, or vectors of them, got memref<4xf32>}}
  %0 = symm.remote_load %ctx, %mm[%i], %r : memref<4xmemref<4xf32>> -> memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %mv: memref<4xvector<4xf32>>, %i: index, %r: i32) {
  // expected-error @below {{accesses elements with their own type: memref<4xvector<4xf32>> does not hold f32}}
  %0 = symm.remote_load %ctx, %mv[%i], %r : memref<4xvector<4xf32>> -> vector<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %i: index, %r: i32) {
  // expected-error @below {{accesses elements with their own type: memref<8xf32> does not hold i32}}
  %0 = symm.remote_load %ctx, %m[%i], %r : memref<8xf32> -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %t: !tt.ptr<f32>, %r: i32) {
  // expected-error @below {{accesses elements with their own type: !tt.ptr<f32> does not hold f16}}
  %0 = symm.remote_load %ctx, %t, %r : !tt.ptr<f32> -> f16
  return
}

// -----

// A pointer to no integer or float is passed on, but not accessed; its text is not an error of its own.
func.func @bad(%ctx: !symm.ctx, %b: !tt.ptr<tensor<4x4xf32, #x.y>>, %r: i32) {
  // expected-error @below {{accesses elements with their own type: !tt.ptr<tensor<4x4xf32, #x.y>> does not hold f32}}
  %0 = symm.remote_load %ctx, %b, %r : !tt.ptr<tensor<4x4xf32, #x.y>> -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %b: !tt.ptr<foo>, %r: i32) {
  // expected-error @below {{accesses elements with their own type: !tt.ptr<foo> does not hold f32}}
  %0 = symm.remote_load %ctx, %b, %r : !tt.ptr<foo> -> f32
  return
}

// -----

// Vectors.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses vectors of one fixed dimension, got vector<2x2xf32>}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> vector<2x2xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses vectors of one fixed dimension, got vector<f32>}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> vector<f32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses vectors of one fixed dimension, got vector<[4]xf32>}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> vector<[4]xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{does not access vectors of i1, got vector<8xi1>: extend it to i8, an i1 takes a byte in memory}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> vector<8xi1>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %s: memref<8xf32, strided<[2]>>, %i: index, %r: i32) {
  // expected-error @below {{accesses a vector where the innermost stride is 1, got memref<8xf32, strided<[2]>>}}
  %0 = symm.remote_load %ctx, %s[%i], %r : memref<8xf32, strided<[2]>> -> vector<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %s: memref<8xf32, strided<[?]>>, %i: index, %r: i32) {
  // expected-error @below {{accesses a vector where the innermost stride is 1, got memref<8xf32, strided<[?]>>}}
  %0 = symm.remote_load %ctx, %s[%i], %r : memref<8xf32, strided<[?]>> -> vector<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %z: memref<f32>, %r: i32) {
  // expected-error @below {{accesses a vector where the innermost stride is 1, got memref<f32>}}
  %0 = symm.remote_load %ctx, %z, %r : memref<f32> -> vector<4xf32>
  return
}

// -----

// Tensors of pointers.
func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32) {
  // expected-error @below {{accesses a tensor shaped like tensor<8x!tt.ptr<f32>>, got tensor<4xf32>}}
  %0 = symm.remote_load %ctx, %many, %r : tensor<8x!tt.ptr<f32>> -> tensor<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32) {
  // expected-error @below {{accesses a tensor shaped like tensor<8x!tt.ptr<f32>>, got tensor<8xf32, "layout">}}
  %0 = symm.remote_load %ctx, %many, %r : tensor<8x!tt.ptr<f32>> -> tensor<8xf32, "layout">
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32) {
  // expected-error @below {{accesses a tensor shaped like tensor<8x!tt.ptr<f32>>, got f32}}
  %0 = symm.remote_load %ctx, %many, %r : tensor<8x!tt.ptr<f32>> -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32) {
  // expected-error @below {{accesses a tensor shaped like tensor<8x!tt.ptr<f32>>, got vector<8xf32>}}
  %0 = symm.remote_load %ctx, %many, %r : tensor<8x!tt.ptr<f32>> -> vector<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{accesses a tensor through a tensor of pointers only, got !llvm.ptr}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> tensor<8xf32>
  return
}

// -----

// Masks.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %k: i8) {
  // expected-error @below {{takes a mask of i1 shaped like f32, got i8}}
  %0 = symm.remote_load %ctx, %p, %r mask %k : i8 : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %x: f32, %p: !llvm.ptr, %r: i32, %k: vector<4xi1>) {
  // expected-error @below {{takes a mask of i1 shaped like f32, got vector<4xi1>}}
  symm.remote_store %ctx, %p, %x, %r mask %k : vector<4xi1> : !llvm.ptr, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %k: vector<8xi1>) {
  // expected-error @below {{takes a mask of i1 shaped like vector<4xf32>, got vector<8xi1>}}
  %0 = symm.remote_load %ctx, %p, %r mask %k : vector<8xi1> : !llvm.ptr -> vector<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %k: vector<[4]xi1>) {
  // expected-error @below {{takes a mask of i1 shaped like vector<4xf32>, got vector<[4]xi1>}}
  %0 = symm.remote_load %ctx, %p, %r mask %k : vector<[4]xi1> : !llvm.ptr -> vector<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32, %in: i1) {
  // expected-error @below {{takes a mask of i1 shaped like tensor<8xf32>, got i1}}
  %0 = symm.remote_load %ctx, %many, %r mask %in : i1 : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32, %k: tensor<8xi1, "layout">) {
  // expected-error @below {{takes a mask of i1 shaped like tensor<8xf32>, got tensor<8xi1, "layout">}}
  %0 = symm.remote_load %ctx, %many, %r mask %k : tensor<8xi1, "layout"> : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{takes a mask of i1 shaped like f32, got !symm.ctx}}
  %0 = symm.remote_load %ctx, %p, %r mask %ctx : !symm.ctx : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %x: f32) {
  // expected-error @below {{takes 'other' only with a mask}}
  %0 = symm.remote_load %ctx, %p, %r other %x : f32 : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %in: i1, %o: f64) {
  // expected-error @below {{takes an 'other' of the result's type f32}}
  %0 = symm.remote_load %ctx, %p, %r mask %in : i1 other %o : f64 : !llvm.ptr -> f32
  return
}

// -----

// Copies of memrefs.
func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %a: memref<4xf32>, %r: i32) {
  // expected-error @below {{copies between memrefs of one shape and element type, got memref<8xf32> and memref<4xf32>}}
  symm.get %ctx, %m, %a, %r : memref<8xf32>, memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %a: memref<8xi32>, %r: i32) {
  // expected-error @below {{copies between memrefs of one shape and element type, got memref<8xf32> and memref<8xi32>}}
  symm.put %ctx, %m, %a, %r : memref<8xf32>, memref<8xi32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32, %a: memref<8x1xf32>) {
  // expected-error @below {{copies between memrefs of one shape and element type, got memref<8xf32> and}}
  symm.copy %ctx, %m at %r, %a at %r : memref<8xf32>, memref<8x1xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %a: memref<4xmemref<4xf32>>, %r: i32) {
  // expected-error @below {{copies integers, floats and index, got memref<4xmemref<4xf32>>}}
  symm.put %ctx, %a, %a, %r : memref<4xmemref<4xf32>>, memref<4xmemref<4xf32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %a: memref<4xcomplex<f32>>, %r: i32) {
  // expected-error @below {{copies integers, floats and index, got memref<4xcomplex<f32>>}}
  symm.put %ctx, %a, %a, %r : memref<4xcomplex<f32>>, memref<4xcomplex<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %a: memref<4xvector<4xf32>>, %r: i32) {
  // expected-error @below {{copies integers, floats and index, got memref<4xvector<4xf32>>}}
  symm.get %ctx, %a, %a, %r : memref<4xvector<4xf32>>, memref<4xvector<4xf32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32, %n: index) {
  // expected-error @below {{takes no count for memrefs, which are copied whole; use memref.subview}}
  symm.put %ctx, %m, %m, %r count %n : index of f32 : memref<8xf32>, memref<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32, %in: i1) {
  // expected-error @below {{takes a mask with tensors of pointers only}}
  symm.put %ctx, %m, %m, %r mask %in : i1 : memref<8xf32>, memref<8xf32>
  return
}

// -----

// Copies of counted elements.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{takes a count and an element type for pointers: count %n : index of f32}}
  symm.get %ctx, %p, %p, %r : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{takes a count and an element type for pointers: count %n : index of f32}}
  symm.get %ctx, %p, %p, %r {element = f32} : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %n: index, %in: i1) {
  // expected-error @below {{takes a mask with tensors of pointers only}}
  symm.put %ctx, %p, %p, %r count %n : index of f32 mask %in : i1 : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %n: index) {
  // expected-error @below {{copies integers, floats and index, got vector<4xf32>}}
  symm.get %ctx, %p, %p, %r count %n : index of vector<4xf32> : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %n: index) {
  // expected-error @below {{copies integers, floats and index, got memref<4xf32>}}
  symm.get %ctx, %p, %p, %r count %n : index of memref<4xf32> : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %n: index) {
  // expected-error @below {{copies integers, floats and index, got i7}}
  symm.copy %ctx, %p at %r, %p at %r count %n : index of i7 : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %t: !tt.ptr<f32>, %r: i32, %n: index) {
  // expected-error @below {{copies elements of one type, got !tt.ptr<f32> and !tt.ptr<f32>}}
  symm.get %ctx, %t, %t, %r count %n : index of f16 : !tt.ptr<f32>, !tt.ptr<f32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %t: !tt.ptr<f32>, %u: !tt.ptr<f16>, %r: i32, %n: index) {
  // expected-error @below {{copies elements of one type, got !tt.ptr<f32> and !tt.ptr<f16>}}
  symm.get %ctx, %t, %u, %r count %n : index of f32 : !tt.ptr<f32>, !tt.ptr<f16>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %c: i32) {
  // expected-error @below {{operand #4 must be index or 64-bit signless integer, but got 'i32'}}
  symm.get %ctx, %p, %p, %r count %c : i32 of f32 : !llvm.ptr, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %n: index) {
  // expected-error @below {{expected 'of'}}
  symm.get %ctx, %p, %p, %r count %n : index : !llvm.ptr, !llvm.ptr
  return
}

// -----

// Copies of tensors of pointers.
func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %q: tensor<4x!tt.ptr<f32>>, %r: i32) {
  // expected-error @below {{copies between tensors of pointers of one shape and element type}}
  symm.get %ctx, %many, %q, %r : tensor<8x!tt.ptr<f32>>, tensor<4x!tt.ptr<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f16>>, %r: i32) {
  // expected-error @below {{copies between tensors of pointers of one shape and element type}}
  symm.get %ctx, %many, %q, %r : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f16>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32, %n: index) {
  // expected-error @below {{takes no count for tensors of pointers; use a mask}}
  symm.get %ctx, %many, %many, %r count %n : index of f32 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %many: tensor<8x!tt.ptr<f32>>, %r: i32, %in: i1) {
  // expected-error @below {{takes a mask of i1 shaped like tensor<8x!tt.ptr<f32>>, got i1}}
  symm.get %ctx, %many, %many, %r mask %in : i1 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  return
}

// -----

// No mixing.
func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{copies between two memrefs, two pointers or two tensors of pointers, got memref<8xf32>}}
  symm.get %ctx, %m, %p, %r : memref<8xf32>, !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %t: !tt.ptr<f32>, %r: i32, %n: index) {
  // expected-error @below {{copies between two memrefs, two pointers or two tensors of pointers, got !llvm.ptr and}}
  symm.put %ctx, %p, %t, %r count %n : index of f32 : !llvm.ptr, !tt.ptr<f32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %t: !tt.ptr<f32>, %r: i32, %many: tensor<8x!tt.ptr<f32>>) {
  // expected-error @below {{copies between two memrefs, two pointers or two tensors of pointers, got !tt.ptr<f32>}}
  symm.copy %ctx, %t at %r, %many at %r : !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>
  return
}

// -----

// Generic forms.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %in: i1) {
  // expected-error @below {{'symm.remote_load' op takes one operand 'rank', got 0}}
  %0 = "symm.remote_load"(%ctx, %p, %in) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1, 0>}>
    : (!symm.ctx, !llvm.ptr, i1) -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f32, %r: i32) {
  // expected-error @below {{'symm.remote_store' op takes one operand 'value', got 2}}
  "symm.remote_store"(%ctx, %p, %x, %x, %r) <{operandSegmentSizes = array<i32: 1, 1, 0, 2, 1, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, f32, f32, i32) -> ()
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{'symm.copy' op takes one operand 'dst', got 0}}
  "symm.copy"(%ctx, %p, %r, %r, %r, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 3, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32, i32, i32, i32) -> ()
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{size mismatch in attribute conversion: 3 vs 7}}
  %0 = "symm.remote_load"(%ctx, %p, %r) <{operandSegmentSizes = array<i32: 1, 1, 1>}>
    : (!symm.ctx, !llvm.ptr, i32) -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{operand count (3) does not match with the total size (0) specified in attribute}}
  %0 = "symm.remote_load"(%ctx, %p, %r) : (!symm.ctx, !llvm.ptr, i32) -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{'symm.remote_load' op requires one result}}
  %0:2 = "symm.remote_load"(%ctx, %p, %r) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32) -> (f32, f32)
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{Invalid attribute `cache` in property conversion: 17 : i32}}
  %0 = "symm.remote_load"(%ctx, %p, %r) <{cache = 17 : i32, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0, 0>}>
    : (!symm.ctx, !llvm.ptr, i32) -> f32
  return
}

// -----

// Syntax.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{attribute 'cache' [ca, cg, cs, cv, wb, wt]}}
  %0 = symm.remote_load %ctx, %p, %r cache l2 : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32) {
  // expected-error @below {{attribute 'group' [thread, warp, block]}}
  symm.put %ctx, %m, %m, %r group cluster : memref<8xf32>, memref<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // expected-error @below {{expected ','}}
  %0 = symm.remote_load %ctx, %p : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{expected '->'}}
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %r: i32) {
  // expected-error @below {{expected 'at'}}
  symm.copy %ctx, %m, %m at %r : memref<8xf32>, memref<8xf32>
  return
}

// -----

// A rank for each pointer of a tensor.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %ranks: tensor<8xi32>) {
  // expected-error @below {{takes a rank of i32, or a tensor of them shaped like a tensor of pointers, got tensor<8xi32>}}
  %0 = symm.remote_load %ctx, %p, %ranks each tensor<8xi32> : !llvm.ptr -> f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %ranks: tensor<4xi32>) {
  // expected-error @below {{takes a rank of i32, or a tensor of them shaped like a tensor of pointers, got tensor<4xi32>}}
  symm.remote_store %ctx, %p, %v, %ranks each tensor<4xi32> : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: tensor<8x!tt.ptr<f32>>, %ranks: tensor<8xi64>) {
  // expected-error @below {{takes a rank of i32, or a tensor of them shaped like a tensor of pointers, got tensor<8xi64>}}
  %0 = symm.as_remote %ctx, %p, %ranks each tensor<8xi64> : tensor<8x!tt.ptr<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: tensor<8x!tt.ptr<f32>>, %r: i64) {
  // expected-error @below {{takes a rank of i32, or a tensor of them shaped like a tensor of pointers, got i64}}
  %0 = symm.as_remote %ctx, %p, %r each i64 : tensor<8x!tt.ptr<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: tensor<8x!tt.ptr<f32>>, %ranks: tensor<8xi32>, %delta: i64) {
  // expected-error @below {{takes no distance with a rank for each pointer}}
  %0 = symm.as_remote %ctx, %p, %ranks each tensor<8xi32> via %delta : tensor<8x!tt.ptr<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  // expected-error @below {{attribute 'eviction' [evict_first, evict_last]}}
  %0 = symm.remote_load %ctx, %p, %r eviction never : !llvm.ptr -> f32
  return
}
