// An op directly in a gpu.module is lowered, and nothing looks at it after that: glibc overwrites freed memory here, so
// that a use of it ends the pass.
// RUN: env MALLOC_PERTURB_=165 symm-opt %s --symm-lower-to-nvvm | FileCheck %s
// RUN: env MALLOC_PERTURB_=165 symm-opt %s --symm-lower-to-rocdl | FileCheck %s

// CHECK: gpu.module @kernels {
// CHECK-NOT: symm.fence
gpu.module @kernels {
  symm.fence sem release scope sys
  symm.fence sem acq_rel scope sys
  // CHECK: gpu.func @sizes
  gpu.func @sizes(%out: memref<2xindex>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %width = gpu.block_dim x
    %blocks = gpu.grid_dim x
    memref.store %width, %out[%c0] : memref<2xindex>
    memref.store %blocks, %out[%c1] : memref<2xindex>
    gpu.return
  }
}
