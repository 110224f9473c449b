// A kernel that does not say how large its blocks are is made for blocks of up to 1024 threads; for MLIR an AMD kernel
// has 256: a block of 1024 could not be launched, and its registers would not be there.
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s

gpu.module @kernels {
  // CHECK: .max_flat_workgroup_size: 1024
  // CHECK-NEXT: .name: any
  gpu.func @any(%data: memref<1024xi32>, %v: i32) kernel {
    %t = gpu.thread_id x
    memref.store %v, %data[%t] : memref<1024xi32>
    gpu.return
  }

  // CHECK: .max_flat_workgroup_size: 64
  // CHECK-NEXT: .name: known
  gpu.func @known(%data: memref<1024xi32>, %v: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %v, %data[%t] : memref<1024xi32>
    gpu.return
  }
}
