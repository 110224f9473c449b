// The bulk copy engine's stages would lie on what the kernel, or a function that it may call, keeps in dynamic shared
// memory, and the engine takes global memory: refused (S1).
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 --split-input-file --verify-diagnostics

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

// -----

gpu.module @kernels {
  func.func private @scratch() -> memref<?xi8, #gpu.address_space<workgroup>> {
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    return %shared : memref<?xi8, #gpu.address_space<workgroup>>
  }
  gpu.func @engine(%ctx: !symm.ctx, %m: memref<4096xf32>, %peer: i32) kernel {
    %shared = func.call @scratch() : () -> memref<?xi8, #gpu.address_space<workgroup>>
    // expected-error @+1 {{S1: engine bulk needs the kernel's dynamic shared memory for itself}}
    symm.get %ctx, %m, %m, %peer group block engine bulk : memref<4096xf32>, memref<4096xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @shared(%ctx: !symm.ctx, %m: memref<4096xf32>, %peer: i32)
    workgroup(%shared: memref<4096xf32, #gpu.address_space<workgroup>>) kernel {
    // expected-error @+1 {{S1: engine bulk copies from global to global memory: let the threads copy}}
    symm.put %ctx, %shared, %m, %peer group block engine bulk
      : memref<4096xf32, #gpu.address_space<workgroup>>, memref<4096xf32>
    gpu.return
  }

  gpu.func @private(%ctx: !symm.ctx, %m: memref<4096xf32>, %private: memref<4096xf32, 5>, %peer: i32) kernel {
    // expected-error @+1 {{S1: engine bulk copies from global to global memory: let the threads copy}}
    symm.get %ctx, %m, %private, %peer group block engine bulk : memref<4096xf32>, memref<4096xf32, 5>
    gpu.return
  }
}
