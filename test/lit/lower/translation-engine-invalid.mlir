// An engine that a target has not is refused (S1, N1).
// RUN: not symm-opt %s --symm-lower-to-nvvm=chip=sm_90 2>&1 | FileCheck %s
// RUN: not symm-opt %s --symm-lower-to-rocdl=chip=gfx942 2>&1 | FileCheck %s

// CHECK: :[[@LINE+1]]:1: error: 'builtin.module' op S1: needs the engine "openshmem", which is for CPUs, and this is a GPU: compile it for a CPU, or without an engine
module attributes {symm.engine = "openshmem"} {
  gpu.module @kernels {
    gpu.func @near(%ctx: !symm.ctx, %peer: i32) kernel {
      %near = symm.is_near %ctx, %peer
      gpu.return
    }
  }
}
