// Coordinates and sizes need no device library: the code links, and calls nothing.
// RUN: symm-translate %s --to amdgcn | FileCheck %s
// RUN: symm-translate %s --to hsaco -o %t.hsaco
// RUN: llvm-nm %t.hsaco | FileCheck %s --check-prefix=SYMBOLS

// CHECK-NOT: ockl
// CHECK-LABEL: {{^}}number:
// CHECK-NOT: s_swappc
// CHECK: s_endpgm
// What is inlined everywhere is not there for itself.
// SYMBOLS-NOT: width
// SYMBOLS: T number
// SYMBOLS-NOT: width
gpu.module @kernels {
  func.func private @width() -> index {
    %width = gpu.block_dim y
    return %width : index
  }
  gpu.func @number(%out: memref<?xindex>) kernel {
    %x = gpu.global_id x
    %y = gpu.global_id y
    %height = gpu.grid_dim y
    %width = func.call @width() : () -> index
    %row = arith.muli %y, %height : index
    %line = arith.muli %row, %width : index
    %i = arith.addi %line, %x : index
    memref.store %i, %out[%i] : memref<?xindex>
    gpu.return
  }
}
