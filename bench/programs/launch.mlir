// Launches a kernel that does nothing, `times` times, with `blocks` blocks. `./x bench cpu` measures how long one takes.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @nothing() kernel {
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %blocks: index, %times: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %times step %c1 {
      gpu.launch_func @kernels::@nothing blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
    }
    return
  }
}
