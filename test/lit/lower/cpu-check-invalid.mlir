// RUN: symm-opt %s --symm-lower-to-cpu=check=true --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%v: i32) kernel {
      %one = arith.constant 1 : i32
      %warp = arith.constant 32 : i32
      // expected-error @below {{'gpu.shuffle' op S1: symm-check has no gpu.shuffle: let the threads exchange values in}}
      %other, %is_valid = gpu.shuffle xor %v, %one, %warp : i32
      // expected-error @below {{'gpu.printf' op S1: symm-check has no gpu.printf}}
      gpu.printf "%d", %other : i32
      gpu.return
    }
  }
}
