// What dialect/td/Order.td refuses.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// O1: which orders an op can have.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{O1: a signal is release or relaxed, got acquire}}
  symm.signal set %ctx, %p, %v, %r sem acquire : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{O1: a signal is release or relaxed, got acq_rel}}
  symm.signal add %ctx, %p, %v, %r sem acq_rel : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{O1: a wait is acquire or relaxed, got release}}
  symm.wait %ctx, %p eq %v sem release : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{O1: a wait is acquire or relaxed, got acq_rel}}
  symm.wait %ctx, %p eq %v sem acq_rel : !llvm.ptr, i32
  return
}

// -----

func.func @bad() {
  // expected-error @below {{O1: a relaxed fence orders nothing}}
  symm.fence sem relaxed
  return
}

// -----

// Flags.
func.func @bad(%ctx: !symm.ctx, %f: memref<4xi64>, %i: index, %v: i32, %r: i32) {
  // expected-error @below {{uses a flag with its own type: memref<4xi64> does not hold i32}}
  symm.signal set %ctx, %f[%i], %v, %r : memref<4xi64>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %i: index, %v: i32) {
  // expected-error @below {{uses a flag with its own type: memref<8xf32> does not hold i32}}
  symm.wait %ctx, %m[%i] eq %v : memref<8xf32>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %t: !tt.ptr<f32>, %v: i32) {
  // expected-error @below {{uses a flag with its own type: !tt.ptr<f32> does not hold i32}}
  symm.wait %ctx, %t eq %v : !tt.ptr<f32>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %f: memref<4xindex>, %i: index, %w: i64) {
  // expected-error @below {{uses a flag with its own type: memref<4xindex> does not hold i64}}
  symm.wait %ctx, %f[%i] eq %w : memref<4xindex>, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %f: memref<4xi64>, %i: index, %v: i32, %r: i32) {
  // expected-error @below {{uses a flag with its own type: memref<4xi64> does not hold i32}}
  symm.put_signal set %ctx, %m, %m, %f[%i], %v, %r : memref<8xf32>, memref<8xf32>, memref<4xi64>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f32) {
  // expected-error @below {{operand #2 must be 32-bit or 64-bit signless integer, but got 'f32'}}
  symm.wait %ctx, %p eq %x : !llvm.ptr, f32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i16, %r: i32) {
  // expected-error @below {{operand #2 must be 32-bit or 64-bit signless integer, but got 'i16'}}
  symm.signal set %ctx, %p, %v, %r : !llvm.ptr, i16
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %flags: tensor<8x!tt.ptr<i32>>, %v: i32, %r: i32) {
  // expected-error @below {{takes one flag, not a tensor of them, got tensor<8x!tt.ptr<i32>>}}
  symm.signal set %ctx, %flags, %v, %r : tensor<8x!tt.ptr<i32>>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %flags: tensor<8x!tt.ptr<i32>>, %v: i32) {
  // expected-error @below {{takes one flag, not a tensor of them, got tensor<8x!tt.ptr<i32>>}}
  symm.wait %ctx, %flags eq %v : tensor<8x!tt.ptr<i32>>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %f: memref<4xi64>, %w: i64) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 1, got 0}}
  symm.wait %ctx, %f eq %w : memref<4xi64>, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %i: index, %w: i64, %r: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 0, got 1}}
  symm.signal set %ctx, %p[%i], %w, %r : !llvm.ptr, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %f: memref<4xi64>, %w: i64, %r: i32) {
  // expected-error @below {{takes one index for each dimension of a memref and none for other pointers: 1, got 0}}
  symm.put_signal set %ctx, %m, %m, %f, %w, %r : memref<8xf32>, memref<8xf32>, memref<4xi64>, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %v: i32) {
  // expected-error @below {{T1: 'flag' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got i32}}
  symm.wait %ctx, %v eq %v : i32, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %l: memref<4xi64, 3>, %i: index, %w: i64) {
  // expected-error @below {{T1: 'flag' is on the symmetric heap, which is generic or global memory, got}}
  symm.wait %ctx, %l[%i] eq %w : memref<4xi64, 3>, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %l: memref<8xf32, 3>, %f: memref<4xi64>, %i: index, %w: i64,
    %r: i32) {
  // expected-error @below {{T1: 'dst' is on the symmetric heap, which is generic or global memory, got memref<8xf32,}}
  symm.put_signal set %ctx, %m, %l, %f[%i], %w, %r : memref<8xf32>, memref<8xf32, 3>, memref<4xi64>, i64
  return
}

// -----

// put_signal copies as put does.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %f: memref<4xi64>, %i: index, %w: i64, %r: i32) {
  // expected-error @below {{takes a count and an element type for pointers: count %n : index of f32}}
  symm.put_signal set %ctx, %p, %p, %f[%i], %w, %r : !llvm.ptr, !llvm.ptr, memref<4xi64>, i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %p: !llvm.ptr, %w: i64, %r: i32) {
  // expected-error @below {{T4: takes an alignment in bytes that is a power of two up to 2097152, got 12}}
  symm.put_signal set %ctx, %m, %m, %p, %w, %r {alignment = 12 : i64} : memref<8xf32>, memref<8xf32>, !llvm.ptr, i64
  return
}

// -----

// A deadline is for Triton's pointers, and instead of a timeout.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %d: !tt.ptr<i64>) {
  // expected-error @below {{S1: takes a deadline only with Triton's pointers, got !llvm.ptr: use timeout}}
  symm.wait %ctx, %p eq %v deadline %d : !tt.ptr<i64> : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<4xi32>, %i: index, %v: i32, %d: !tt.ptr<i64>) {
  // expected-error @below {{S1: takes a deadline only with Triton's pointers, got memref<4xi32>: use timeout}}
  %0 = symm.wait_packet %ctx, %m[%i], %v deadline %d : !tt.ptr<i64> : memref<4xi32> -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !tt.ptr<i32>, %v: i32, %d: !tt.ptr<i32>) {
  // expected-error @below {{takes as deadline a !tt.ptr<i64>, the address of its record, got !tt.ptr<i32>}}
  symm.wait %ctx, %p eq %v deadline %d : !tt.ptr<i32> : !tt.ptr<i32>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !tt.ptr<i32>, %v: i32, %d: !llvm.ptr) {
  // expected-error @below {{takes as deadline a !tt.ptr<i64>, the address of its record, got !llvm.ptr}}
  %0 = symm.wait_packet %ctx, %p, %v deadline %d : !llvm.ptr : !tt.ptr<i32> -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !tt.ptr<i32>, %v: i32) {
  // expected-error @below {{has a tag, but no deadline}}
  symm.wait %ctx, %p eq %v tag 3 : !tt.ptr<i32>, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{has a limit, but no deadline}}
  symm.barrier %ctx limit 3
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %d: !llvm.ptr) {
  // expected-error @below {{takes as deadline a !tt.ptr<i64>, the address of its record, got !llvm.ptr}}
  symm.barrier %ctx deadline %d : !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !tt.ptr<i32>, %v: i32, %w: i64, %d: !tt.ptr<i64>) {
  // expected-error @below {{has a timeout or a deadline, not both}}
  %0 = symm.wait %ctx, %p eq %v timeout %w deadline %d : !tt.ptr<i64> : !tt.ptr<i32>, i32 -> i1
  return
}

// -----

// A timeout and a result go together.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %w: i64) {
  // expected-error @below {{returns an i1 if it has a timeout, and nothing otherwise}}
  symm.wait %ctx, %p eq %v timeout %w : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{returns an i1 if it has a timeout, and nothing otherwise}}
  %0 = symm.wait %ctx, %p eq %v : !llvm.ptr, i32 -> i1
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %w: i64) {
  // expected-error @below {{result #0 must be 1-bit signless integer, but got 'i32'}}
  %0 = symm.wait %ctx, %p eq %v timeout %w : !llvm.ptr, i32 -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %w: i64) {
  // expected-error @below {{cannot name an operation with no results}}
  %0 = symm.wait %ctx, %p eq %v timeout %w : !llvm.ptr, i32
  return
}

// -----

// Generic forms.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{result group starting at #0 requires 0 or 1 element, but found 2}}
  %0:2 = "symm.wait"(%ctx, %p, %v) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>, comparison = 1 : i32}>
    : (!symm.ctx, !llvm.ptr, i32) -> (i1, i1)
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %w: i64) {
  // expected-error @below {{'symm.wait' op takes one operand 'value', got 0}}
  "symm.wait"(%ctx, %p, %w) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>, comparison = 0 : i32}>
    : (!symm.ctx, !llvm.ptr, i64) -> ()
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{Invalid attribute `comparison` in property conversion: 6 : i32}}
  "symm.wait"(%ctx, %p, %v) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>, comparison = 6 : i32}>
    : (!symm.ctx, !llvm.ptr, i32) -> ()
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{requires attribute 'comparison'}}
  "symm.wait"(%ctx, %p, %v) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> : (!symm.ctx, !llvm.ptr, i32) -> ()
  return
}

// -----

func.func @bad() {
  // expected-error @below {{Invalid attribute `sem` in property conversion: -1 : i32}}
  "symm.fence"() <{sem = -1 : i32}> : () -> ()
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{requires attribute 'kind'}}
  "symm.signal"(%ctx, %p, %v, %r) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0>}>
    : (!symm.ctx, !llvm.ptr, i32, i32) -> ()
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %m: memref<8xf32>, %p: !llvm.ptr, %w: i64) {
  // expected-error @below {{'symm.put_signal' op takes one operand 'rank', got 0}}
  "symm.put_signal"(%ctx, %m, %m, %p, %w, %w)
    <{kind = 0 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 1, 0, 0>}>
    : (!symm.ctx, memref<8xf32>, memref<8xf32>, !llvm.ptr, i64, i64) -> ()
  return
}

// -----

func.func @bad() {
  // expected-error @below {{'symm.barrier' op expected 1 or more operands, but found 0}}
  "symm.barrier"() : () -> ()
  return
}

// -----

// Syntax.
func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %r: i32) {
  // expected-error @below {{attribute 'kind' [set, add]}}
  symm.signal or %ctx, %p, %v, %r : !llvm.ptr, i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32) {
  // expected-error @below {{attribute 'comparison' [eq, ne, lt, le, gt, ge]}}
  symm.wait %ctx, %p ult %v : !llvm.ptr, i32
  return
}

// -----

func.func @bad() {
  // expected-error @below {{attribute 'scope' [cta, cluster, gpu, sys]}}
  symm.fence scope block
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{attribute 'group' [thread, warp, block]}}
  symm.barrier %ctx group grid
  return
}
