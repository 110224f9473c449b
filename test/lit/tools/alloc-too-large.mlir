// An allocation whose bytes take more than 64 bits is refused like any that does not fit; it is not a small one.
// RUN: not symm-run %s --arg a=4294967296 --arg b=536870912 2>&1 | FileCheck %s
// RUN: not symm-run %s --arg a=-1 --arg b=1 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not symm-run %s --arg a=2 --arg b=-2 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: not symm-run %s --entry fixed 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: symm-run %s --arg a=4294967296 --arg b=0
// CHECK: alloc-too-large.mlir:14:12: rank 0: the allocation is larger than the address space
// FIRST: alloc-too-large.mlir:14:12: rank 0: the allocation's dimension 0 has the size -1
// SECOND: alloc-too-large.mlir:14:12: rank 0: the allocation's dimension 1 has the size -2
// FIXED: alloc-too-large.mlir:18:12: rank 0: the allocation is larger than the address space

module {
  func.func @main(%ctx: !symm.ctx, %a: index {symm.name = "a"}, %b: index {symm.name = "b"}) {
    %big = symm.alloc %ctx(%a, %b) : memref<?x?xi64>
    return
  }
  func.func @fixed(%ctx: !symm.ctx) {
    %big = symm.alloc %ctx : memref<4294967296x4294967296xi8>
    return
  }
}
