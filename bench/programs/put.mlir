// Puts `bytes` bytes of rank 0 to rank 1, `times` times. `./x bench cpu` runs it against memcpy between the same
// buffers, which it allocates itself.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @put(%ctx: !symm.ctx, %src: memref<?xi8>, %dst: memref<?xi8>, %times: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %peer = arith.constant 1 : i32
      scf.for %i = %c0 to %times step %c1 {
        symm.put %ctx, %src, %dst, %peer group block : memref<?xi8>, memref<?xi8>
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %src: memref<?xi8>, %dst: memref<?xi8>, %times: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@put blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %src : memref<?xi8>, %dst : memref<?xi8>, %times : index)
    return
  }
}
