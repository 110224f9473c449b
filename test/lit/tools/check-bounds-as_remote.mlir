// --check-bounds at a translation and at what ordinary ops access through what it gives: the rank, the pointer, which may
// be the end of the heap, and each access in the heap of that rank.
// RUN: symm-run %s --ranks 2 --check-bounds
// RUN: symm-run %s --ranks 2 --check-bounds --arg index=16252927
// RUN: symm-run %s --ranks 2 --check-bounds --arg from=16252928 --arg index=-1
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=2 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not symm-run %s --ranks 2 --check-bounds --arg rank=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not symm-run %s --ranks 2 --check-bounds --arg from=16252929 2>&1 | FileCheck %s --check-prefix=POINTER
// RUN: not symm-run %s --ranks 2 --check-bounds --arg from=-1 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: not symm-run %s --ranks 2 --check-bounds --arg index=16252928 2>&1 | FileCheck %s --check-prefix=LOAD
// RUN: not symm-run %s --ranks 2 --check-bounds --arg index=-1 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not symm-run %s --ranks 2 --check-bounds --arg view=16252928 2>&1 | FileCheck %s --check-prefix=STORE
// RUN: not symm-run %s --ranks 2 --check-bounds --arg element=16252926 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not symm-run %s --ranks 2 --check-bounds --arg element=4611686018427387904 2>&1 | FileCheck %s --check-prefix=WIDE
// RANK: as_remote.mlir:[[#@LINE+19]]:12: rank 0, {{.*}}: rank 2 out of range [0, 2)
// NEGATIVE: as_remote.mlir:[[#@LINE+18]]:12: rank 0, {{.*}}: rank -1 out of range [0, 2)
// POINTER: as_remote.mlir:[[#@LINE+17]]:12: rank 0, {{.*}}: a pointer to heap offset 67108868 is outside of [2097152, 67108864], where allocations are
// PAD: as_remote.mlir:[[#@LINE+16]]:12: rank 0, {{.*}}: a pointer to heap offset 2097148 is outside of [2097152, 67108864]
// LOAD: as_remote.mlir:[[#@LINE+17]]:12: rank 0, {{.*}}: 4 bytes at heap offset 67108864 are outside of [2097152, 67108864), where allocations are
// BEFORE: as_remote.mlir:[[#@LINE+16]]:12: rank 0, {{.*}}: 4 bytes at heap offset 2097148 are outside of [2097152, 67108864)
// STORE: as_remote.mlir:[[#@LINE+20]]:7: rank 0, {{.*}}: 4 bytes at heap offset 67108864 are outside of [2097152, 67108864)
// VECTOR: as_remote.mlir:[[#@LINE+20]]:12: rank 0, {{.*}}: 16 bytes at heap offset 67108856 are outside of [2097152, 67108864)
// WIDE: as_remote.mlir:[[#@LINE+19]]:12: rank 0, {{.*}}: 16 bytes at heap offset 9223372036854775807 are outside of [2097152, 67108864)

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @go(%ctx: !symm.ctx, %data: memref<64xi32>, %rank: i32, %from: i64, %index: i64, %view: index,
        %element: index) kernel {
      %c0 = arith.constant 0 : index
      %start = memref.extract_aligned_pointer_as_index %data : memref<64xi32> -> index
      %address = arith.index_cast %start : index to i64
      %mine = llvm.inttoptr %address : i64 to !llvm.ptr
      %p = llvm.getelementptr %mine[%from] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %q = symm.as_remote %ctx, %p, %rank : !llvm.ptr
      %at = llvm.getelementptr %q[%index] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %v = llvm.load %at : !llvm.ptr -> i32

      %theirs = symm.as_remote %ctx, %data, %rank : memref<64xi32>
      %part = memref.reinterpret_cast %theirs to offset: [%view], sizes: [8], strides: [1]
        : memref<64xi32> to memref<8xi32, strided<[1], offset: ?>>
      memref.store %v, %part[%c0] : memref<8xi32, strided<[1], offset: ?>>
      %w = vector.load %theirs[%element] : memref<64xi32>, vector<4xi32>
      vector.store %w, %theirs[%c0] : memref<64xi32>, vector<4xi32>
      gpu.return
    }
  }
  func.func @main(%ctx: !symm.ctx, %rank: i32 {symm.name = "rank", symm.default = 1 : i32},
      %from: i64 {symm.name = "from", symm.default = 0 : i64}, %index: i64 {symm.name = "index", symm.default = 0 : i64},
      %view: index {symm.name = "view", symm.default = 0 : index},
      %element: index {symm.name = "element", symm.default = 0 : index}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : index
    %data = symm.alloc %ctx : memref<64xi32>
    %me = symm.rank %ctx
    %is_first = arith.cmpi eq, %me, %c0 : i32
    scf.if %is_first {
      gpu.launch_func @kernels::@go blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%ctx : !symm.ctx, %data : memref<64xi32>, %rank : i32, %from : i64, %index : i64, %view : index,
             %element : index)
    }
    symm.barrier_all %ctx
    return
  }
}
