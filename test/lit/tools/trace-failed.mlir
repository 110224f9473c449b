// --trace of a run that fails: the file is there, and shows what was under way.
// RUN: not symm-run %s --ranks 2 --trace %t.json 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: FileCheck %s --input-file %t.json
// RUN: not symm-run %s --ranks 2 --processes --trace %t2.json 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: FileCheck %s --input-file %t2.json
// RUN: not symm-run %s --ranks 2 --trace /dev/full 2>&1 | FileCheck %s --check-prefixes=FULL,ERROR
// FULL: symm-run: {{.*}}: No space left on device (os error 28){{$}}
// A program has no threads but its ranks', so nothing is said of others.
// ERROR: deadlock: every block and host thread waits, and nothing is left that could signal{{$}}
// CHECK-DAG: "name":"launch @kernels::hang",{{.*}}"pid":0
// CHECK-DAG: "name":"wait == 1",{{.*}}"pid":0,{{.*}}"satisfied":false,"saw":0
// CHECK-DAG: "name":"wait == 1",{{.*}}"pid":1,{{.*}}"satisfied":false,"saw":0

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @hang(%ctx: !symm.ctx, %flag: memref<1xi64>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i64
      symm.wait %ctx, %flag[%c0] eq %one : memref<1xi64>, i64
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %flag = symm.alloc %ctx : memref<1xi64>
    gpu.launch_func @kernels::@hang blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flag : memref<1xi64>)
    return
  }
}
