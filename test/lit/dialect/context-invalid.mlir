// What dialect/td/Context.td refuses.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// T1: the table is a pointer.
func.func @bad(%x: i64) {
  // expected-error @below {{'symm.ctx' op T1: 'table' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of}}
  %0 = symm.ctx %x : i64
  return
}

// -----

func.func @bad(%x: memref<*xi64>) {
  // expected-error @below {{'symm.ctx' op T1: 'table' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of}}
  %0 = symm.ctx %x : memref<*xi64>
  return
}

// -----

func.func @bad(%x: tensor<8xi64>) {
  // expected-error @below {{'symm.ctx' op T1: 'table' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of}}
  %0 = symm.ctx %x : tensor<8xi64>
  return
}

// -----

func.func @bad(%x: !tt.desc<i64>) {
  // expected-error @below {{'symm.ctx' op T1: 'table' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of}}
  %0 = symm.ctx %x : !tt.desc<i64>
  return
}

// -----

func.func @bad(%x: memref<8xi64, affine_map<(d0) -> (d0 mod 4)>>) {
  // expected-error @below {{'symm.ctx' op T1: 'table' is a memref with an offset and strides}}
  %0 = symm.ctx %x : memref<8xi64, affine_map<(d0) -> (d0 mod 4)>>
  return
}

// -----

func.func @bad(%p: !llvm.ptr, %r: i32) {
  // expected-error @below {{'symm.ctx' op takes both a rank and a number of ranks, or neither}}
  %0 = "symm.ctx"(%p, %r) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!llvm.ptr, i32) -> !symm.ctx
  return
}

// -----

func.func @bad(%p: !llvm.ptr, %r: i32) {
  // expected-error @below {{'symm.ctx' op takes both a rank and a number of ranks, or neither}}
  %0 = "symm.ctx"(%p, %r) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!llvm.ptr, i32) -> !symm.ctx
  return
}

// -----

// ODS counts the operands of all groups together: one may be missing, another be there twice.
func.func @bad(%r: i32) {
  // expected-error @below {{'symm.ctx' op takes one operand 'table', got 0}}
  %0 = "symm.ctx"(%r, %r) <{operandSegmentSizes = array<i32: 0, 1, 1>}> : (i32, i32) -> !symm.ctx
  return
}

// -----

func.func @bad(%p: !llvm.ptr) {
  // expected-error @below {{'symm.ctx' op takes one operand 'table', got 2}}
  %0 = "symm.ctx"(%p, %p) <{operandSegmentSizes = array<i32: 2, 0, 0>}> : (!llvm.ptr, !llvm.ptr) -> !symm.ctx
  return
}

// -----

func.func @bad() {
  // expected-error @below {{expected 1 or more operands, but found 0}}
  %0 = "symm.ctx"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> !symm.ctx
  return
}

// -----

func.func @bad(%p: !llvm.ptr, %r: i32) {
  // expected-error @below {{'operandSegmentSizes' attribute cannot have negative elements}}
  %0 = "symm.ctx"(%p, %r) <{operandSegmentSizes = array<i32: 2, -1, 1>}> : (!llvm.ptr, i32) -> !symm.ctx
  return
}

// -----

func.func @bad(%p: !llvm.ptr, %r: i32) {
  // expected-error @below {{operand count (2) does not match with the total size (3) specified in attribute}}
  %0 = "symm.ctx"(%p, %r) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!llvm.ptr, i32) -> !symm.ctx
  return
}

// -----

func.func @bad(%p: !llvm.ptr) {
  // expected-error @below {{result #0 must be}}
  %0 = "symm.ctx"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!llvm.ptr) -> i64
  return
}

// -----

func.func @bad(%p: !llvm.ptr, %r: i32) {
  // expected-error @below {{expected 'of'}}
  %0 = symm.ctx %p rank %r : !llvm.ptr
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{'symm.rank' op requires one result}}
  "symm.rank"(%ctx) : (!symm.ctx) -> ()
  return
}

// -----

func.func @bad() {
  // expected-error @below {{'symm.rank' op requires a single operand}}
  %0 = "symm.rank"() : () -> i32
  return
}

// -----

func.func @bad(%p: !llvm.ptr) {
  // expected-error @below {{operand #0 must be}}
  %0 = "symm.rank"(%p) : (!llvm.ptr) -> i32
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{result #0 must be 32-bit signless integer, but got 'i64'}}
  %0 = "symm.rank"(%ctx) : (!symm.ctx) -> i64
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{result #0 must be 32-bit signless integer, but got 'index'}}
  %0 = "symm.num_ranks"(%ctx) : (!symm.ctx) -> index
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %r: i32) {
  // expected-error @below {{T1: 'result' is one pointer without a shape, got memref<4xf32>}}
  %0 = symm.heap_base %ctx, %r : memref<4xf32>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %r: i32) {
  // expected-error @below {{T1: 'result' is one pointer without a shape, got tensor<8x!tt.ptr<f32>>}}
  %0 = symm.heap_base %ctx, %r : tensor<8x!tt.ptr<f32>>
  return
}

// -----

func.func @bad(%ctx: !symm.ctx, %r: i32) {
  // expected-error @below {{T1: 'result' is a pointer (!llvm.ptr, memref, !tt.ptr or a tensor of !tt.ptr), got i64}}
  %0 = symm.heap_base %ctx, %r : i64
  return
}

// -----

// Shared memory is not on the symmetric heap.
func.func @bad(%ctx: !symm.ctx, %r: i32) {
  // expected-error @below {{T1: 'result' is on the symmetric heap, which is generic or global memory, got}}
  %0 = symm.heap_base %ctx, %r : !llvm.ptr<3>
  return
}

// -----

func.func @bad() {
  // expected-error @below {{unknown  type `context` in dialect `symm`}}
  %0 = "test.op"() : () -> !symm.context
  return
}

// -----

func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{custom op 'symm.nothing' is unknown}}
  symm.nothing %ctx
  return
}

// -----

// expected-error @below {{'builtin.module' op takes a 'symm.num_ranks' that is an i32 above 0, got 0 : i32}}
module attributes {symm.num_ranks = 0 : i32} {}

// -----

// expected-error @below {{takes a 'symm.num_ranks' that is an i32 above 0, got 4}}
module attributes {symm.num_ranks = 4} {}

// -----

// expected-error @below {{takes a 'symm.num_ranks' that is an i32 above 0, got "four"}}
module attributes {symm.num_ranks = "four"} {}

// -----

// expected-error @below {{takes a 'symm.heap_stride' that is an i64 in bytes, above 0 and a multiple of 2 MiB}}
module attributes {symm.heap_stride = 4096 : i64} {}

// -----

// expected-error @below {{takes a 'symm.heap_stride' that is an i64 in bytes, above 0 and a multiple of 2 MiB}}
module attributes {symm.heap_stride = -2097152 : i64} {}

// -----

// expected-error @below {{takes a 'symm.heap_stride' that is an i64 in bytes, above 0 and a multiple of 2 MiB}}
module attributes {symm.heap_stride = 2097152 : i32} {}

// -----

// expected-error @below {{takes a 'symm.table_in_heap' that is a unit, on a module with 'symm.num_ranks' and 'symm.heap_stride' (T5), got unit}}
module attributes {symm.table_in_heap, symm.heap_stride = 2097152 : i64} {}

// -----

// expected-error @below {{takes a 'symm.table_in_heap' that is a unit, on a module with 'symm.num_ranks' and 'symm.heap_stride' (T5), got true}}
module attributes {symm.table_in_heap = true, symm.num_ranks = 2 : i32, symm.heap_stride = 2097152 : i64} {}

// -----

// expected-error @below {{takes a 'symm.heap_size' that is an i64 in bytes, above 0, got -4}}
module attributes {symm.heap_size = -4 : i64} {}

// -----

// expected-error @below {{takes a 'symm.heap_size' that is an i64 in bytes, above 0, got "q"}}
module attributes {symm.heap_size = "q"} {}

// -----

// expected-error @below {{takes a 'symm.engine' that is the name of an engine, "openshmem" or "nvshmem" (N1), got "smoke"}}
module attributes {symm.engine = "smoke"} {}

// -----

// expected-error @below {{takes a 'symm.engine' that is the name of an engine, "openshmem" or "nvshmem" (N1), got unit}}
module attributes {symm.engine} {}

// -----

// An attribute that nothing reads is a misspelt one: on a module, …
// expected-error @below {{'builtin.module' op has the attribute 'symm.num_rank', which nothing reads: it may have symm.num_ranks, symm.heap_size, }}
module attributes {symm.num_rank = 4 : i32} {}

// -----

// expected-error @below {{'gpu.module' op has the attribute 'symm.wronng', which nothing reads: it may have symm.num_ranks}}
gpu.module @kernels attributes {symm.wronng} {}

// -----

// … a function, …
// expected-error @below {{'func.func' op has the attribute 'symm.wronng', which nothing reads: symm attributes belong on modules, and on functions' arguments and results}}
func.func @bad() attributes {symm.wronng} { return }

// -----

// (A module's says nothing there.)
// expected-error @below {{'func.func' op has the attribute 'symm.num_ranks', which nothing reads}}
func.func @bad() attributes {symm.num_ranks = 4 : i32} { return }

// -----

// … an op of MLIR's, …
func.func @bad(%m: memref<i32>) -> i32 {
  // expected-error @below {{'memref.load' op has the attribute 'symm.volatle', which nothing reads}}
  %v = memref.load %m[] {symm.volatle} : memref<i32>
  return %v : i32
}

// -----

// … of symm's, …
func.func @bad(%ctx: !symm.ctx) {
  // expected-error @below {{'symm.rank' op has the attribute 'symm.name', which nothing reads}}
  %rank = symm.rank %ctx {symm.name = "me"}
  return
}

// -----

// … of a dialect that is not registered, …
func.func @bad() {
  // expected-error @below {{'test.op' op has the attribute 'symm.wronng', which nothing reads}}
  "test.op"() {symm.wronng} : () -> ()
  return
}

// -----

// … an argument of a function, of any kind, …
// expected-error @below {{'func.func' op argument 1 has the attribute 'symm.nmae', which nothing reads: it may have symm.name, symm.default}}
func.func private @bad(i32, i32 {symm.nmae = "n"})

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op argument 0 has the attribute 'symm.num_ranks', which nothing reads}}
  gpu.func @bad(%n: i32 {symm.num_ranks = 4 : i32}) kernel { gpu.return }
}

// -----

// expected-error @below {{'llvm.func' op argument 0 has the attribute 'symm.nmae', which nothing reads}}
llvm.func @bad(i32 {symm.nmae = "n"})

// -----

// … or a result.
// expected-error @below {{'func.func' op result 1 has the attribute 'symm.default', which nothing reads: it may have symm.name}}
func.func private @bad() -> (i32, i32 {symm.default = 1 : i32})

// -----

// A name is text, as the command line has it.
// expected-error @below {{'func.func' op argument 0 has a symm.name that is no text, is empty or has an equals sign}}
func.func private @bad(i32 {symm.name = 1 : i32})

// -----

// expected-error @below {{'func.func' op result 0 has a symm.name that is no text, is empty or has an equals sign}}
func.func private @bad() -> (i32 {symm.name = "a=b"})
