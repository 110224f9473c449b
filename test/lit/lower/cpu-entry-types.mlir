// RUN: symm-opt %s --symm-lower-to-cpu --split-input-file --allow-unregistered-dialect --verify-diagnostics
// What a host function or a kernel takes and returns goes through memory: S1 for what has no form there.

// expected-error @below {{S1: takes and returns scalars, vectors, pointers and memrefs, got !tt.ptr<f32>}}
func.func @main(%ctx: !symm.ctx, %p: !tt.ptr<f32>) {
  return
}

// -----

// expected-error @below {{S1: takes and returns scalars, vectors, pointers and memrefs, got tensor<4xf32>}}
func.func @main(%ctx: !symm.ctx, %t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}

// -----

// expected-error @below {{S1: takes and returns scalars, vectors, pointers and memrefs, got vector<[4]xf32>}}
func.func @main(%ctx: !symm.ctx, %v: vector<[4]xf32>) {
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @below {{S1: takes and returns scalars, vectors, pointers and memrefs, got complex<f32>}}
    gpu.func @kernel(%z: complex<f32>) kernel {
      gpu.return
    }
  }
}

// -----

// A function that is no host function passes what it likes.
func.func private @helper(%ctx: !symm.ctx, %t: tensor<4xf32>) {
  return
}
