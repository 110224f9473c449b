// An update of memref acquires, and on AMD GPUs reaches other ranks without a word: no argument stays llvm.noalias (O1).
// RUN: symm-opt %s --symm-lower-to-rocdl --verify-diagnostics | FileCheck %s

gpu.module @kernels {
  // CHECK: gpu.func @updates(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr,
  // expected-remark @below {{drops llvm.noalias of argument 1: peers write while a kernel runs (O1)}}
  gpu.func @updates(%ctx: !symm.ctx, %p: !llvm.ptr {llvm.noalias}, %m: memref<4xi32>, %i: index, %x: i32) kernel {
    %old = memref.atomic_rmw assign %x, %m[%i] : (i32, memref<4xi32>) -> i32
    gpu.return
  }
}
