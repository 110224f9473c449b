// Which ops of other dialects are accesses that a relaxed signal leaves in no order (O1): those that write or read what a
// peer may see, and whatever is not known. What is the thread's or the block's own is none.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-check-memory-order --verify-diagnostics --split-input-file

func.func @assembly(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  %0 = "tt.elementwise_inline_asm"(%v) {asm_string = "", constraints = "=r,r", packed_element = 1 : i32, pure = true}
    : (i32) -> i32
  %1 = "tt.extern_elementwise"(%v) {libname = "", libpath = "", symbol = "f", pure = true} : (i32) -> i32
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  %2 = "tt.elementwise_inline_asm"(%v) {asm_string = "", constraints = "=r,r", packed_element = 1 : i32, pure = false}
    : (i32) -> i32
  // expected-remark @below {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

func.func @called(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  %0 = "tt.extern_elementwise"(%v) {libname = "", libpath = "", symbol = "f", pure = false} : (i32) -> i32
  // expected-remark @below {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

// Stores of the engine for tensors, and its updates.
func.func @store(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  "tt.descriptor_store"(%v) : (i32) -> ()
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

func.func @copy(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  "ttng.async_tma_copy_local_to_global"(%v) : (i32) -> ()
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

func.func @reduce(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  "ttng.async_tma_reduce"(%v) : (i32) -> ()
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

func.func @scatter(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  "ttng.async_tma_scatter"(%v) : (i32) -> ()
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

// What the engine reads is read, and what it does in shared and tensor memory is neither.
func.func @loads(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  "ttng.tmem_store"(%v) : (i32) -> ()
  "ttng.tc_gen5_mma"(%v) : (i32) -> ()
  "ttg.local_store"(%v) : (i32) -> ()
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  "ttng.async_tma_copy_global_to_local"(%v) : (i32) -> ()
  // expected-remark @below {{O1: relaxed, but reads come before it without a release fence}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

func.func @gathers(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  "ttng.async_tma_gather"(%v) : (i32) -> ()
  // expected-remark @below {{O1: relaxed, but reads come before it without a release fence}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

func.func @descriptors(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  %0 = "tt.descriptor_load"(%v) : (i32) -> i32
  // expected-remark @below {{O1: relaxed, but reads come before it without a release fence}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

func.func @rows(%ctx: !symm.ctx, %f: !tt.ptr<i32>, %v: i32, %r: i32) {
  %0 = "tt.descriptor_gather"(%v) : (i32) -> i32
  // expected-remark @below {{O1: relaxed, but reads come before it without a release fence}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : !tt.ptr<i32>, i32
  return
}

// -----

// A thread's own memory and a block's, by whatever name.
func.func @own(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32, %i: index, %one: i64, %shared: !llvm.ptr<3>,
    %private: !llvm.ptr<5>, %block: memref<4xi32, #gpu.address_space<workgroup>>) {
  %mine = memref.alloca() : memref<4xi32>
  memref.store %v, %mine[%i] : memref<4xi32>
  %stack = llvm.alloca %one x i32 : (i64) -> !llvm.ptr
  llvm.store %v, %stack : i32, !llvm.ptr
  llvm.store %v, %shared : i32, !llvm.ptr<3>
  llvm.store %v, %private : i32, !llvm.ptr<5>
  memref.store %v, %block[%i] : memref<4xi32, #gpu.address_space<workgroup>>
  %0 = memref.load %mine[%i] : memref<4xi32>
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

// -----

// What another rank may see: an argument, a global, and what a pointer in one's own memory leads to.
func.func @global(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32, %p: !llvm.ptr<1>) {
  llvm.store %v, %p : i32, !llvm.ptr<1>
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

// -----

// A pointer that is stored may be all that keeps its memory from being one's own.
func.func @escapes(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32, %p: !llvm.ptr, %one: i64) {
  %stack = llvm.alloca %one x !llvm.ptr : (i64) -> !llvm.ptr
  llvm.store %stack, %p : !llvm.ptr, !llvm.ptr
  // expected-remark @below {{O1: relaxed, but writes come before it}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}
