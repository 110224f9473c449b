// --check-bounds: an index, an offset or a stride whose bytes wrap around in 64 bits is out of bounds, though it wraps to
// what is in bounds.
// RUN: symm-run %s --ranks 1 --check-bounds
// RUN: symm-run %s --ranks 1 --check-bounds --arg index=1 --arg stride=8
// RUN: not symm-run %s --ranks 1 --check-bounds --arg index=4611686018427387904 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not symm-run %s --ranks 1 --check-bounds --arg index=-4611686018427387904 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not symm-run %s --ranks 1 --check-bounds --arg index=2 --arg stride=2305843009213693952 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not symm-run %s --ranks 1 --check-bounds --arg index=9223372036854775807 --arg offset=1 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not symm-run %s --ranks 1 --check-bounds --arg offset=4611686018427387904 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not symm-run %s --ranks 1 --check-bounds --arg stride=4611686018427387904 2>&1 | FileCheck %s --check-prefix=COPY
// INDEX: check-bounds-wide.mlir:[[#@LINE+9]]:7: rank 0, {{.*}}: 4 bytes at heap offset 9223372036854775807 are outside of [2097152, 67108864), where allocations are
// COPY: check-bounds-wide.mlir:[[#@LINE+10]]:7: rank 0, {{.*}}: 9223372036854775807 bytes at heap offset {{.*}} are outside of [2097152, 67108864)

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @go(%ctx: !symm.ctx, %data: memref<64xi32>, %x: i32, %offset: index, %index: index, %stride: index) kernel {
      %me = symm.rank %ctx
      %to = memref.reinterpret_cast %data to offset: [%offset], sizes: [2], strides: [%stride]
        : memref<64xi32> to memref<2xi32, strided<[?], offset: ?>>
      symm.remote_store %ctx, %to[%index], %x, %me : memref<2xi32, strided<[?], offset: ?>>, i32
      %from = memref.reinterpret_cast %data to offset: [0], sizes: [2], strides: [1] : memref<64xi32> to memref<2xi32>
      symm.put %ctx, %from, %to, %me : memref<2xi32>, memref<2xi32, strided<[?], offset: ?>>
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %offset: index {symm.name = "offset", symm.default = 0 : index},
      %index: index {symm.name = "index", symm.default = 0 : index},
      %stride: index {symm.name = "stride", symm.default = 1 : index}) {
    %c1 = arith.constant 1 : index
    %x = arith.constant 7 : i32
    %data = symm.alloc %ctx : memref<64xi32>
    gpu.launch_func @kernels::@go blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<64xi32>, %x : i32, %offset : index, %index : index, %stride : index)
    return
  }
}
