// A gpu.memcpy whose ends have different sizes ends the run at its place: it would read or write beyond one of them.
// RUN: symm-run %s
// RUN: not symm-run %s --arg from=5 2>&1 | FileCheck %s --check-prefix=FLAT
// RUN: not symm-run %s --arg to=3 2>&1 | FileCheck %s --check-prefix=FLAT
// RUN: not symm-run %s --arg from=5 --check-bounds 2>&1 | FileCheck %s --check-prefix=FLAT
// RUN: not symm-run %s --arg rows=3 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not symm-run %s --entry known 2>&1 | FileCheck %s --check-prefix=KNOWN
// FLAT: memcpy-sizes.mlir:19:5: rank 0: the copy's dimension 0 has {{4|5}} elements at the source and {{4|3}} at the destination
// ROWS: memcpy-sizes.mlir:22:5: rank 0: the copy's dimension 0 has 2 elements at the source and 3 at the destination
// KNOWN: memcpy-sizes.mlir:33:5: rank 0: the copy's dimension 0 has 80 elements at the source and 16 at the destination

module attributes {gpu.container_module} {
  func.func @main(%ctx: !symm.ctx, %from: index {symm.name = "from", symm.default = 4 : index},
      %to: index {symm.name = "to", symm.default = 4 : index},
      %rows: index {symm.name = "rows", symm.default = 2 : index}) {
    %data = symm.alloc %ctx(%to) : memref<?xi32>
    %neighbour = symm.alloc %ctx : memref<64xi32>
    %host = memref.alloc(%from) : memref<?xi32>
    gpu.memcpy %data, %host : memref<?xi32>, memref<?xi32>
    %view = memref.reinterpret_cast %neighbour to offset: [0], sizes: [%rows, 2], strides: [8, 1] : memref<64xi32> to memref<?x2xi32, strided<[8, 1]>>
    %square = memref.alloc() : memref<2x2xi32>
    gpu.memcpy %view, %square : memref<?x2xi32, strided<[8, 1]>>, memref<2x2xi32>
    return
  }

  // Canonicalization finds both sizes out.
  func.func @known(%ctx: !symm.ctx) {
    %c80 = arith.constant 80 : index
    %data = symm.alloc %ctx : memref<16xi32>
    %neighbour = symm.alloc %ctx : memref<64xi32>
    %host = memref.alloc(%c80) : memref<?xi32>
    %open = memref.cast %data : memref<16xi32> to memref<?xi32>
    gpu.memcpy %open, %host : memref<?xi32>, memref<?xi32>
    return
  }
}
