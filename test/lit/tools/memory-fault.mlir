// A memory fault of a program ends the run with a line that says where, in threads and in processes.
// RUN: not symm-run %s --ranks 2 --arg index=1000000000 2>&1 | FileCheck %s
// RUN: not symm-run %s --ranks 2 --processes --arg index=1000000000 2>&1 | FileCheck %s
// RUN: not symm-run %s --ranks 2 --arg index=3 --arg rank=2 2>&1 | FileCheck %s
// RUN: not symm-run %s --ranks 2 --arg index=3 --arg rank=-1 2>&1 | FileCheck %s
// RUN: symm-run %s --ranks 2 --arg index=3
// CHECK: symm: the program: rank 1, block (0,0,0) of @kernels::store: touched memory at 0x{{[0-9a-f]+}} that is not mapped
// CHECK-SAME: --check-bounds names a remote access that leaves the heap

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @store(%ctx: !symm.ctx, %data: memref<4xf32>, %index: index, %rank: i32) kernel {
      %x = arith.constant 1.0 : f32
      %me = symm.rank %ctx
      %zero = arith.constant 0 : i32
      %is_second = arith.cmpi ne, %me, %zero : i32
      scf.if %is_second {
        symm.remote_store %ctx, %data[%index], %x, %rank : memref<4xf32>, f32
      }
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %index: index {symm.name = "index"},
      %rank: i32 {symm.name = "rank", symm.default = 0 : i32}) {
    %c1 = arith.constant 1 : index
    %data = symm.alloc %ctx : memref<4xf32>
    gpu.launch_func @kernels::@store blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<4xf32>, %index : index, %rank : i32)
    symm.barrier_all %ctx
    return
  }
}
