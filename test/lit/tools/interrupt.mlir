// Ctrl-C ends a run as a timeout does: with what every rank does, and with its timeline.
// RUN: not timeout --preserve-status -s INT 4 symm-run %s --ranks 2 --trace %t.json 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t.json --check-prefix=TRACE
// RUN: not timeout --preserve-status -s INT 6 symm-run %s --ranks 2 --processes --trace %t.json 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file=%t.json --check-prefix=TRACE
// CHECK: symm-run: {{.*}}interrupted
// CHECK: wait at {{.*}}interrupt.mlir:17:15: flag rank {{[01]}} heap+0x200000: saw 0, expected == 1
// TRACE: "name":"wait == 1"

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @never(%ctx: !symm.ctx, %flag: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      // A wait that gives up by itself is no deadlock.
      %long = arith.constant 1000000000000 : i64
      %seen = symm.wait %ctx, %flag[%c0] eq %one timeout %long : memref<1xi32>, i32 -> i1
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %flag = symm.alloc %ctx : memref<1xi32>
    gpu.launch_func @kernels::@never blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : memref<1xi32>)
    return
  }
}
