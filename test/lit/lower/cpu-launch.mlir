// RUN: symm-opt %s --symm-lower-to-cpu | FileCheck %s
// The kinds of a launch's arguments: `c` for a context, `v` for a value, and `!` in front where the kernel waits at a
// device barrier, for which the runtime bounds the grid.

module attributes {gpu.container_module} {
  // CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("!c\00")
  // CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("cv\00")
  gpu.module @kernels {
    gpu.func @meets(%ctx: !symm.ctx) kernel {
      symm.barrier %ctx
      gpu.return
    }
    gpu.func @passes(%ctx: !symm.ctx, %n: index) kernel {
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@meets blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%ctx : !symm.ctx)
    gpu.launch_func @kernels::@passes blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %c1 : index)
    return
  }
}
