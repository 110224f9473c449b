// The bulk copy engine's stages would lie on what the kernel keeps in dynamic shared memory: refused (S1).
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 -verify-diagnostics

gpu.module @kernels {
  gpu.func @both(%ctx: !symm.ctx, %m: memref<4096xf32>, %peer: i32) kernel {
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    // expected-error @+1 {{S1: engine bulk needs the kernel's dynamic shared memory for itself, and gpu.dynamic_shared_memory takes it too}}
    symm.put %ctx, %m, %m, %peer group block engine bulk : memref<4096xf32>, memref<4096xf32>
    gpu.return
  }

  // Another kernel's is its own.
  gpu.func @engine(%ctx: !symm.ctx, %m: memref<4096xf32>, %peer: i32) kernel {
    symm.put %ctx, %m, %m, %peer group block engine bulk : memref<4096xf32>, memref<4096xf32>
    gpu.return
  }
}
