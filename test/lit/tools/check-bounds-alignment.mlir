// --check-bounds: an address that is not aligned as its op says ends the run at the op; the value alone
// would ask for 16 bytes here.
// RUN: not symm-run %s --ranks 1 --check-bounds --arg byte=4 2>&1 | FileCheck %s
// RUN: symm-run %s --ranks 1 --check-bounds --arg byte=8
// CHECK: check-bounds-alignment.mlir:11:12: rank 0, {{.*}}: 16 bytes at heap offset {{[0-9]+}} are not aligned to 8 bytes

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @load(%ctx: !symm.ctx, %data: memref<64xi8>, %byte: index) kernel {
      %me = symm.rank %ctx
      %v = symm.remote_load %ctx, %data[%byte], %me {alignment = 8 : i64} : memref<64xi8> -> vector<16xi8>
      symm.remote_store %ctx, %data[%byte], %v, %me {alignment = 8 : i64} : memref<64xi8>, vector<16xi8>
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %byte: index {symm.name = "byte"}) {
    %c1 = arith.constant 1 : index
    %data = symm.alloc %ctx : memref<64xi8>
    gpu.launch_func @kernels::@load blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<64xi8>, %byte : index)
    return
  }
}
