// What dialect/td/Host.td refuses, and types of a dialect that is not registered.
// RUN: symm-opt %s --split-input-file --verify-diagnostics

func.func @bad(%ctx: !symm.ctx, %n: index) {
  // expected-error @below {{takes one size for each '?' of memref<?x?xf32>: 2, got 1}}
  %0 = symm.alloc %ctx(%n) : memref<?x?xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %n: index) {
  // expected-error @below {{takes one size for each '?' of memref<4xf32>: 0, got 1}}
  %0 = symm.alloc %ctx(%n) : memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{allocates integers, floats and index, got memref<4xmemref<4xf32>>}}
  %0 = symm.alloc %ctx : memref<4xmemref<4xf32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{allocates integers, floats and index, got memref<4xvector<4xf32>>}}
  %0 = symm.alloc %ctx : memref<4xvector<4xf32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{allocates integers, floats and index, got memref<4xi7>}}
  %0 = symm.alloc %ctx : memref<4xi7>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{invalid memref element type}}
  %0 = symm.alloc %ctx : memref<4x!symm.ctx>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{allocates a contiguous memref, got memref<4xf32, strided<[2]>>}}
  %0 = symm.alloc %ctx : memref<4xf32, strided<[2]>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{T1: 'memory' is a memref with an offset and strides}}
  %0 = symm.alloc %ctx : memref<4xf32, affine_map<(d0) -> (d0 floordiv 2)>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{T1: 'memory' is on the symmetric heap, which is generic or global memory, got}}
  %0 = symm.alloc %ctx : memref<4xf32, 3>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{T1: 'memory' is on the symmetric heap, which is generic or global memory}}
  %0 = symm.alloc %ctx : memref<4xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got 48}}
  %0 = symm.alloc %ctx align 48 : memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got 0}}
  %0 = symm.alloc %ctx align 0 : memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{integer constant out of range for attribute}}
  %0 = symm.alloc %ctx align 99999999999999999999 : memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{expected builtin.memref, but found 'memref<*xf32>'}}
  %0 = symm.alloc %ctx : memref<*xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{expected builtin.memref, but found '!llvm.ptr'}}
  %0 = symm.alloc %ctx : !llvm.ptr
  return
}

// -----

func.func @bad() {
  // expected-error @below {{expected 1 or more operands, but found 0}}
  %0 = "symm.alloc"() : () -> memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %w: i64) {
  // expected-error @below {{operand #1 must be variadic of index, but got 'i64'}}
  %0 = "symm.alloc"(%ctx, %w) : (!symm.ctx, i64) -> memref<?xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // expected-error @below {{expected builtin.memref, but found '!llvm.ptr'}}
  symm.free %ctx, %p : !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %l: memref<4xf32, 5>) {
  // expected-error @below {{T1: 'memory' is on the symmetric heap, which is generic or global memory, got}}
  symm.free %ctx, %l : memref<4xf32, 5>
  return
}

// -----

func.func @bad() {
  // expected-error @below {{'symm.barrier_all' op requires a single operand}}
  "symm.barrier_all"() : () -> ()
  return
}

// -----

// Messages.
func.func @bad(%i: index) {
  // expected-error @below {{prints as many values as its message has {}: 2, got 1}}
  symm.print "{} of {}"(%i) : index
  return
}

// -----

func.func @bad(%in: i1, %i: index) {
  // expected-error @below {{prints as many values as its message has {}: 0, got 1}}
  symm.check %in, "done"(%i) : index
  return
}

// -----

func.func @bad() {
  // expected-error @below {{prints as many values as its message has {}: 1, got 0}}
  symm.print "{}"
  return
}

// -----

func.func @bad() {
  // expected-error @below {{takes a message in which braces are {} for a value}}
  symm.print "{"
  return
}

// -----

func.func @bad(%i: index) {
  // expected-error @below {{takes a message in which braces are {} for a value}}
  symm.print "{}}"(%i) : index
  return
}

// -----

func.func @bad(%i: index) {
  // expected-error @below {{takes a message in which braces are {} for a value}}
  symm.print "{0}"(%i) : index
  return
}

// -----

func.func @bad(%v: vector<4xf32>) {
  // expected-error @below {{prints integers, floats of 16 bits or more, index and pointers, got vector<4xf32>}}
  symm.print "{}"(%v) : vector<4xf32>
  return
}

// -----

func.func @bad(%v: f8E4M3FN) {
  // expected-error @below {{prints integers, floats of 16 bits or more, index and pointers, got f8E4M3FN}}
  symm.print "{}"(%v) : f8E4M3FN
  return
}

// -----

func.func @bad(%in: i1, %v: f128) {
  // expected-error @below {{prints integers, floats of 16 bits or more, index and pointers, got f128}}
  symm.check %in, "{}"(%v) : f128
  return
}

// -----

func.func @bad(%v: ui32) {
  // expected-error @below {{prints integers, floats of 16 bits or more, index and pointers, got ui32}}
  symm.print "{}"(%v) : ui32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{prints integers, floats of 16 bits or more, index and pointers, got !symm.ctx}}
  symm.print "{}"(%ctx) : !symm.ctx
  return
}

// -----

func.func @bad(%v: memref<*xf32>) {
  // expected-error @below {{prints integers, floats of 16 bits or more, index and pointers, got memref<*xf32>}}
  symm.print "{}"(%v) : memref<*xf32>
  return
}

// -----

func.func @bad(%v: i32) {
  // expected-error @below {{operand #0 must be 1-bit signless integer, but got 'i32'}}
  "symm.check"(%v) <{message = "no"}> : (i32) -> ()
  return
}

// -----

func.func @bad() {
  // expected-error @below {{Invalid attribute `message` in property conversion: 3 : i32}}
  "symm.print"() <{message = 3 : i32}> : () -> ()
  return
}

// -----

func.func @bad() {
  // expected-error @below {{requires attribute 'message'}}
  "symm.print"() : () -> ()
  return
}

// -----

func.func @bad() {
  // expected-error @below {{expected 1 or more operands, but found 0}}
  "symm.check"() <{message = "no"}> : () -> ()
  return
}

// -----

func.func @bad() {
  // expected-error @below {{integer literal not valid for specified type}}
  symm.print 3
  return
}

// -----

// Without --allow-unregistered-dialect there is no Triton.
// expected-error @below {{type created with unregistered dialect}}
func.func private @triton(!tt.ptr<f32>)
