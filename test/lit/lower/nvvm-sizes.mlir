// How large a kernel says that its blocks are goes to ptxas, which then gives a thread no more registers than so many can
// have. A kernel that says nothing gets as many as it likes.
// RUN: symm-translate %s --to ptx | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: .entry known(
  // CHECK: .maxntid 512, 1, 1
  gpu.func @known(%p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    gpu.return
  }
  // CHECK-LABEL: .entry most(
  // CHECK: .maxntid 1024, 1, 1
  gpu.func @most(%p: !llvm.ptr) kernel attributes {nvvm.maxntid = array<i32: 1024, 1, 1>} {
    gpu.return
  }
  // CHECK-LABEL: .entry any(
  // CHECK-NOT: .maxntid
  gpu.func @any(%p: !llvm.ptr) kernel {
    gpu.return
  }
}
