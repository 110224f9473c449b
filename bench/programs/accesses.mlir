// Each rank's threads read and write numbers of their own and of the next rank's: a million accesses are 125 000 rounds
// of four on two ranks. `./x bench check` runs it under symm-check and symm-run.

!numbers = memref<4096xi32>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @touch(%ctx: !symm.ctx, %near: !numbers, %far: !numbers, %rounds: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4096 = arith.constant 4096 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %n = symm.num_ranks %ctx
      %after = arith.addi %me, %one : i32
      %peer = arith.remui %after, %n : i32
      %id = gpu.thread_id x
      %threads = gpu.block_dim x
      scf.for %i = %id to %rounds step %threads {
        %at = arith.remui %i, %c4096 : index
        %x = memref.load %near[%at] : !numbers
        %y = arith.addi %x, %one : i32
        memref.store %y, %near[%at] : !numbers
        %z = symm.remote_load %ctx, %far[%at], %peer : !numbers -> i32
        %w = arith.addi %z, %y : i32
        symm.remote_store %ctx, %far[%at], %w, %peer : !numbers, i32
      }
      gpu.return
    }
  }

  func.func @main(%ctx: !symm.ctx, %rounds: index {symm.name = "rounds"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %near = symm.alloc %ctx : !numbers
    %far = symm.alloc %ctx : !numbers
    symm.barrier_all %ctx
    gpu.launch_func @kernels::@touch blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %near : !numbers, %far : !numbers, %rounds : index)
    return
  }
}
