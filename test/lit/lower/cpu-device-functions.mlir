// RUN: symm-opt %s --symm-lower-to-cpu | FileCheck %s

// A function of a gpu.module keeps its callers when it moves out of it: both get the same new name.
module attributes {gpu.container_module} {
  // CHECK: func.func private @_symm_device_kernels_me(
  // CHECK: call @_symm_device_kernels_me(
  gpu.module @kernels {
    func.func private @me(%ctx: !symm.ctx) -> i32 {
      %me = symm.rank %ctx
      return %me : i32
    }
    gpu.func @f(%ctx: !symm.ctx, %m: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %me = func.call @me(%ctx) : (!symm.ctx) -> i32
      memref.store %me, %m[%c0] : memref<1xi32>
      gpu.return
    }
  }
}
