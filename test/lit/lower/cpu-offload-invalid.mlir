// RUN: symm-opt %s --pass-pipeline='builtin.module(symm-lower-to-cpu{offload=true})' --verify-diagnostics

func.func @main(%ctx: !symm.ctx) {
  // expected-error@+1 {{S1: a GPU has no memory but the symmetric heap here; use symm.alloc}}
  %scratch = gpu.alloc() : memref<16xf32>
  return
}
