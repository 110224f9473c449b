// Updates in host code that are not symm's, of kinds that no target has (S1): the CPU refuses them; a GPU's kernels are
// compiled without the host's code.
// RUN: symm-opt %s --symm-cpu --verify-diagnostics
// RUN: symm-opt %s --symm-cpu=offload=true --verify-diagnostics

func.func @main(%ctx: !symm.ctx, %x: f32) {
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<1xf32>
  // expected-error @+1 {{'memref.atomic_rmw' op S1: multiplies floats}}
  %a = memref.atomic_rmw mulf %x, %m[%c0] : (f32, memref<1xf32>) -> f32
  return
}
