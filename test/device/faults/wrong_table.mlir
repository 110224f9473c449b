// Every rank launches a kernel with a context table that is nobody's: for test/device/faults.py.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @tell(%ctx: !symm.ctx, %out: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %me = symm.rank %ctx
      symm.remote_store %ctx, %out[%c0], %me, %me : memref<1xi32>, i32
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %unmapped = arith.constant 12288 : i64
    %table = llvm.inttoptr %unmapped : i64 to !llvm.ptr
    %wrong = symm.ctx %table : !llvm.ptr
    %out = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@tell blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%wrong : !symm.ctx, %out : memref<1xi32>)
    return
  }
}
