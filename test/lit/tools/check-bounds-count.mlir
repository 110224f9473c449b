// A count whose bytes are more than there are addresses is out of bounds: its product wraps to few bytes, or none.
// RUN: not symm-run %s --ranks 2 --check-bounds --arg n=4611686018427387904 2>&1 | FileCheck %s
// RUN: not symm-run %s --ranks 2 --check-bounds --arg n=4611686018427387905 2>&1 | FileCheck %s
// RUN: not symm-run %s --ranks 2 --check-bounds --arg n=-1 2>&1 | FileCheck %s
// RUN: symm-run %s --ranks 2 --check-bounds --arg n=64
// CHECK: check-bounds-count.mlir:{{.*}}: 9223372036854775807 bytes at heap offset

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%ctx: !symm.ctx, %a: memref<64xi32>, %b: memref<64xi32>, %n: index, %r: i32) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %pi = memref.extract_aligned_pointer_as_index %a : memref<64xi32> -> index
      %pj = arith.index_cast %pi : index to i64
      %pa = llvm.inttoptr %pj : i64 to !llvm.ptr
      %qi = memref.extract_aligned_pointer_as_index %b : memref<64xi32> -> index
      %qj = arith.index_cast %qi : index to i64
      %pb = llvm.inttoptr %qj : i64 to !llvm.ptr
      symm.put %ctx, %pa, %pb, %r count %n : index of i32 : !llvm.ptr, !llvm.ptr
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %n64: i64 {symm.name = "n"}) {
    %c1 = arith.constant 1 : index
    %n = arith.index_cast %n64 : i64 to index
    %r = arith.constant 1 : i32
    %a = symm.alloc %ctx : memref<64xi32>
    %b = symm.alloc %ctx : memref<64xi32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %a : memref<64xi32>, %b : memref<64xi32>, %n : index, %r : i32)
    symm.barrier_all %ctx
    return
  }
}
