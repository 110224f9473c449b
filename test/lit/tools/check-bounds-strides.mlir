// --check-bounds of copies whose strides are negative, or known only at run time: from the lowest element to the end of
// the highest one, of the shape that is copied. Both ends are to have that shape.
// RUN: symm-run %s --ranks 1 --check-bounds
// RUN: symm-run %s --ranks 1 --check-bounds --arg stride=8
// RUN: not symm-run %s --ranks 1 --check-bounds --arg last=0 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: not symm-run %s --ranks 1 --check-bounds --arg last=900000000 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not symm-run %s --ranks 1 --check-bounds --arg stride=-9000000 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not symm-run %s --ranks 1 --check-bounds --arg size=15 2>&1 | FileCheck %s --check-prefix=SHAPE
// FAR: strides.mlir:23:7: rank 0, {{.*}}: 128 bytes at heap offset 360{{[0-9]+}} are outside of [2097152, 67108864), where allocations are
// BELOW: strides.mlir:28:7: rank 0, {{.*}}: 540000004 bytes at heap offset -53{{[0-9]+}} are outside of [2097152, 67108864), where allocations are
// PAD: strides.mlir:23:7: rank 0, {{.*}}: 128 bytes at heap offset 2097088 are outside of [2097152, 67108864)
// SHAPE: strides.mlir:28:7: rank 0, {{.*}}: dimension 0 has 16 elements at the source and 15 at the destination

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reversed(%ctx: !symm.ctx, %data: memref<4096xi32>, %local: memref<4096xi32>, %last: index, %size: index,
        %stride: index) kernel {
      %me = symm.rank %ctx
      %rows = memref.reinterpret_cast %data to offset: [%last], sizes: [2, 16], strides: [-16, 1]
        : memref<4096xi32> to memref<2x16xi32, strided<[-16, 1], offset: ?>>
      %to = memref.reinterpret_cast %local to offset: [0], sizes: [2, 16], strides: [16, 1]
        : memref<4096xi32> to memref<2x16xi32>
      symm.get %ctx, %rows, %to, %me : memref<2x16xi32, strided<[-16, 1], offset: ?>>, memref<2x16xi32>
      %c16 = arith.constant 16 : index
      %from = memref.reinterpret_cast %local to offset: [0], sizes: [%c16], strides: [1] : memref<4096xi32> to memref<?xi32>
      %gaps = memref.reinterpret_cast %data to offset: [2048], sizes: [%size], strides: [%stride]
        : memref<4096xi32> to memref<?xi32, strided<[?], offset: 2048>>
      symm.put %ctx, %from, %gaps, %me : memref<?xi32>, memref<?xi32, strided<[?], offset: 2048>>
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %last: index {symm.name = "last", symm.default = 16 : index},
      %size: index {symm.name = "size", symm.default = 16 : index},
      %stride: index {symm.name = "stride", symm.default = -8 : index}) {
    %c1 = arith.constant 1 : index
    %data = symm.alloc %ctx : memref<4096xi32>
    %local = memref.alloc() : memref<4096xi32>
    gpu.launch_func @kernels::@reversed blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<4096xi32>, %local : memref<4096xi32>, %last : index, %size : index,
           %stride : index)
    memref.dealloc %local : memref<4096xi32>
    return
  }
}
