// RUN: symm-opt %s --symm-insert-bounds-checks -verify-diagnostics

func.func @unknown_size(%ctx: !symm.ctx, %v: f32, %p: !llvm.ptr, %peer: i32) {
  // expected-error @+1 {{'symm.remote_store' op S1: bounds checks need the module attribute symm.heap_size}}
  symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
  return
}
