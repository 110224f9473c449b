// RUN: symm-opt %s --symm-lower-to-cpu | FileCheck %s
// Symbols of a gpu.module keep their names, whatever is in them, and so do references to them.

// CHECK-LABEL: func.func private @"_symm_device_the kernels_h\C3\A4lf"(%{{.*}}: i32, %{{.*}}: !llvm.ptr)
// CHECK: func.func private @"_symm_device_the kernels_a\22b"
// CHECK: call @"_symm_device_the kernels_h\C3\A4lf"(%{{.*}}, %{{.*}}) : (i32, !llvm.ptr) -> i32
// CHECK: func.func @"_symm_kernel_the kernels_a\22b"
// CHECK-LABEL: func.func @main
// CHECK: constant @"_symm_kernel_the kernels_a\22b"
module attributes {gpu.container_module} {
  gpu.module @"the kernels" {
    func.func private @"h\C3\A4lf"(%x: i32) -> i32 {
      return %x : i32
    }
    gpu.func @"a\22b"(%x: i32) kernel {
      %y = func.call @"h\C3\A4lf"(%x) : (i32) -> i32
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx) {
    %one = arith.constant 1 : index
    %x = arith.constant 1 : i32
    gpu.launch_func @"the kernels"::@"a\22b" blocks in (%one, %one, %one) threads in (%one, %one, %one)
      args(%x : i32)
    return
  }
}
