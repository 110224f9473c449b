// RUN: symm-opt %s --pass-pipeline='builtin.module(symm-lower-to-cpu{offload=true})' | FileCheck %s
// Kernels that run on a GPU are left out. A launch names its kernel, passes no code, and tells of each argument how it
// lies in memory: `m<rank>` is a memref's descriptor, which a GPU's kernel takes field by field. In front, `!` says that
// the kernel meets at a device barrier and `~` that its blocks wait for flags.

module attributes {gpu.container_module} {
  // CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("!~cm2v\00")
  // CHECK-DAG: llvm.mlir.global internal constant @{{.*}}("kernels::waits\00")
  // CHECK-NOT: gpu.module
  gpu.module @kernels {
    gpu.func @waits(%ctx: !symm.ctx, %flags: memref<4x4xi32>, %n: index) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      symm.wait %ctx, %flags[%c0, %c0] eq %one : memref<4x4xi32>, i32
      symm.barrier %ctx
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @main
  func.func @main(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %flags = symm.alloc %ctx : memref<4x4xi32>
    // CHECK: call @symm_rt_launch(%[[NULL:.*]], %{{.*}}, %[[NULL]],
    gpu.launch_func @kernels::@waits blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %flags : memref<4x4xi32>, %c1 : index)
    return
  }

  // A copy of what does not lie in one piece is the runtime's too, row by row or element by element.
  // CHECK-LABEL: func.func private @columns
  func.func private @columns(%device: memref<4x4xi32, strided<[8, 1], offset: ?>>,
                             %transposed: memref<4x4xi32, strided<[1, 4]>>, %host: memref<4x4xi32>) {
    // CHECK: scf.for
    // CHECK-NOT: scf.for
    // CHECK: call @symm_rt_copy
    // CHECK-NOT: llvm.memcpy
    gpu.memcpy %host, %device : memref<4x4xi32>, memref<4x4xi32, strided<[8, 1], offset: ?>>
    // CHECK: scf.for
    // CHECK: scf.for
    // CHECK: call @symm_rt_copy(%{{.*}}, %{{.*}}, %{{.*}}, %c4_i64{{.*}},
    gpu.memcpy %host, %transposed : memref<4x4xi32>, memref<4x4xi32, strided<[1, 4]>>
    return
  }
}
