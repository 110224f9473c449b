// RUN: symm-opt %s -split-input-file --symm-lower-to-cpu | FileCheck %s

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

// -----

// It gets the coordinates of the block that runs it, and hands them on to what it calls.
module attributes {gpu.container_module} {
  // CHECK: func.func private @_symm_device_helpers_inner(%[[AT:.*]]: !llvm.ptr) -> index attributes {symm.device}
  // CHECK: llvm.getelementptr %[[AT]]
  // CHECK: func.func private @_symm_device_helpers_outer(%{{.*}}: index, %[[AT:.*]]: !llvm.ptr) -> index
  // CHECK: call @_symm_device_helpers_inner(%[[AT]]) : (!llvm.ptr) -> index
  // CHECK: func.func private @_symm_device_helpers_f(%{{.*}}: !llvm.ptr, %[[AT:.*]]: !llvm.ptr)
  // CHECK: call @_symm_device_helpers_outer(%{{.*}}, %[[AT]]) : (index, !llvm.ptr) -> index
  gpu.module @helpers {
    func.func private @inner() -> index {
      %b = gpu.block_id x
      return %b : index
    }
    func.func private @outer(%x: index) -> index {
      %b = func.call @inner() : () -> index
      %s = arith.addi %b, %x : index
      return %s : index
    }
    gpu.func @f(%ctx: !symm.ctx) kernel {
      %c0 = arith.constant 0 : index
      %b = func.call @outer(%c0) : (index) -> index
      gpu.return
    }
  }
}
