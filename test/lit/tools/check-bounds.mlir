// --check-bounds: a rank or an address that is wrong ends the run at its op, instead of touching what it should not.
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=2 --arg index=0 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=1 --arg index=99999999 2>&1 | FileCheck %s --check-prefix=ADDRESS
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=1 --arg index=-999999 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=1 --arg index=-1 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=1 --arg index=-524288 2>&1 | FileCheck %s --check-prefix=BASE
// RUN: symm-run %s --ranks 2 --check-bounds --arg rank=1 --arg index=0
// RUN: symm-run %s --ranks 2 --check-bounds --arg rank=1 --arg index=16252927
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=1 --arg index=16252928 2>&1 | FileCheck %s --check-prefix=END
// RANK: check-bounds.mlir:26:7: rank 0, block (0,0,0) of @kernels::store: rank 2 out of range [0, 2){{$}}
// ADDRESS: check-bounds.mlir:26:7: rank 0, {{.*}}: 4 bytes at heap offset {{[0-9]+}} are outside of [2097152, 67108864), where allocations are
// BELOW: check-bounds.mlir:26:7: rank 0, {{.*}}: 4 bytes at heap offset -{{[0-9]+}} are outside of [2097152, 67108864), where allocations are
// The flags of barriers and the context table lie before the first allocation.
// PAD: check-bounds.mlir:26:7: rank 0, {{.*}}: 4 bytes at heap offset 2097148 are outside of [2097152, 67108864)
// BASE: check-bounds.mlir:26:7: rank 0, {{.*}}: 4 bytes at heap offset 0 are outside of [2097152, 67108864)
// END: check-bounds.mlir:26:7: rank 0, {{.*}}: 4 bytes at heap offset 67108864 are outside of [2097152, 67108864)

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @store(%ctx: !symm.ctx, %data: memref<4xf32>, %rank: i32, %index: index) kernel {
      %x = arith.constant 1.0 : f32
      %me = symm.rank %ctx
      %zero = arith.constant 0 : i32
      %is_first = arith.cmpi eq, %me, %zero : i32
      scf.if %is_first {
      symm.remote_store %ctx, %data[%index], %x, %rank : memref<4xf32>, f32
      }
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %rank: i32 {symm.name = "rank"}, %index: index {symm.name = "index"}) {
    %c1 = arith.constant 1 : index
    %data = symm.alloc %ctx : memref<4xf32>
    gpu.launch_func @kernels::@store blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<4xf32>, %rank : i32, %index : index)
    return
  }
}
