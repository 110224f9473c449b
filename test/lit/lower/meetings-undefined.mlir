// A function that another program defines may do anything: a copy of a group after its call begins together (O3).
// RUN: symm-opt %s --symm-lower-to-nvvm | FileCheck %s
// RUN: symm-opt %s --symm-lower-to-rocdl | FileCheck %s

gpu.module @kernels {
  func.func private @elsewhere(memref<1024xi32>)
  // CHECK-LABEL: gpu.func @k(
  // CHECK:       call @elsewhere
  // CHECK:       gpu.barrier
  // CHECK:       call @_symm_copy
  // CHECK:       gpu.barrier
  // CHECK-NEXT:  call @elsewhere
  gpu.func @k(%ctx: !symm.ctx, %a: memref<1024xi32>, %b: memref<1024xi32>, %p: i32) kernel {
    func.call @elsewhere(%a) : (memref<1024xi32>) -> ()
    symm.put %ctx, %a, %b, %p group block : memref<1024xi32>, memref<1024xi32>
    func.call @elsewhere(%a) : (memref<1024xi32>) -> ()
    gpu.return
  }
}
