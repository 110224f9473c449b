// RUN: symm-opt %s --symm-instrument-accesses --split-input-file --verify-diagnostics

llvm.func @assembly(%p: !llvm.ptr) {
  // expected-error @+1 {{S1: symm-check can't follow what it accesses}}
  llvm.inline_asm has_side_effects "nop", "r" %p : (!llvm.ptr) -> ()
  llvm.return
}

// -----

llvm.func @elsewhere(!llvm.ptr)

llvm.func @call(%p: !llvm.ptr) {
  // expected-error @+1 {{S1: symm-check cannot see what 'elsewhere' does with its pointers}}
  llvm.call @elsewhere(%p) : (!llvm.ptr) -> ()
  llvm.return
}

// -----

// expected-error @+1 {{S1: symm-check cannot follow globals that may be written; use symm.alloc}}
llvm.mlir.global internal @counter(0 : i32) : i32

// -----

llvm.func @structure(%p: !llvm.ptr) {
  // expected-error @+1 {{S1: symm-check does not know the memory layout of type !llvm.struct<(i32, i8)>}}
  %v = llvm.load %p : !llvm.ptr -> !llvm.struct<(i32, i8)>
  llvm.return
}

// -----

llvm.func @scope(%p: !llvm.ptr) {
  // expected-error @+1 {{S1: symm-check does not know the scope 'somewhere'}}
  %v = llvm.load %p atomic syncscope("somewhere") acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.return
}

// -----

llvm.func @wrapping(%p: !llvm.ptr, %v: i32) {
  // expected-error @+1 {{S1: symm-check does not know this atomic update}}
  %old = llvm.atomicrmw uinc_wrap %p, %v monotonic : !llvm.ptr, i32
  llvm.return
}

// -----

// Found by the fuzzer: the calls would name what is in another module.
gpu.module @kernels {
  // expected-error @+1 {{S1: symm-check takes no functions of nested modules: lower those modules first}}
  llvm.func @within(%p: !llvm.ptr) -> i32 {
    %v = llvm.load %p : !llvm.ptr -> i32
    llvm.return %v : i32
  }
}
