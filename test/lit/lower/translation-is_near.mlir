// In a module without an engine all ranks are near (N1), and it costs nothing to ask.
// RUN: symm-opt %s --symm-lower-to-cpu | FileCheck %s
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 | FileCheck %s
// RUN: symm-opt %s --symm-lower-to-rocdl=chip=gfx942 | FileCheck %s

gpu.module @kernels {
  // CHECK-NOT: llvm.load
  // CHECK: arith.constant true
  // CHECK-NOT: llvm.load
  func.func @near(%ctx: !symm.ctx, %peer: i32) -> i1 {
    %near = symm.is_near %ctx, %peer
    return %near : i1
  }
}
