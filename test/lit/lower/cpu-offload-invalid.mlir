// RUN: symm-opt %s --pass-pipeline='builtin.module(symm-lower-to-cpu{offload=true})' --verify-diagnostics

func.func @main(%ctx: !symm.ctx) {
  // expected-error@+1 {{S1: the only memory on a GPU is the symmetric heap; use symm.alloc}}
  %scratch = gpu.alloc() : memref<16xf32>
  return
}
