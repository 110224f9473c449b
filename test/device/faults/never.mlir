// Every rank waits for a signal that nobody sends: for test/device/faults.py, which gives it a timeout.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @never(%ctx: !symm.ctx, %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      symm.wait %ctx, %flag[%c0] eq %one group block : memref<1xi32>, i32
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@never blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : memref<1xi32>)
    return
  }
}
