// Where the context table lies in its rank's heap, a rank is known by the table's address: nothing is loaded (T5). The
// range of three heaps of 6 MiB begins at a multiple of 32 MiB.
// RUN: %golden symm-opt %s --symm-lower-to-nvvm --canonicalize --cse

module attributes {symm.num_ranks = 3 : i32, symm.heap_stride = 6291456 : i64, symm.table_in_heap} {
  gpu.module @kernels {
    gpu.func @store(%ctx: !symm.ctx, %value: f32, %mine: !llvm.ptr, %peer: i32, %out: memref<1xi32>) kernel {
      symm.remote_store %ctx, %mine, %value, %peer : !llvm.ptr, f32
      %c0 = arith.constant 0 : index
      %rank = symm.rank %ctx
      memref.store %rank, %out[%c0] : memref<1xi32>
      gpu.return
    }
  }
}

// OUTPUT:
// module attributes {symm.heap_stride = 6291456 : i64, symm.num_ranks = 3 : i32, symm.table_in_heap} {
//   gpu.module @kernels {
//     gpu.func @store(%arg0: !llvm.ptr, %arg1: f32, %arg2: !llvm.ptr, %arg3: i32, %arg4: memref<1xi32>) kernel {
//       %c0 = arith.constant 0 : index
//       %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//       %c3_i32 = arith.constant 3 : i32
//       %c6291456_i64 = arith.constant 6291456 : i64
//       %c33554431_i64 = arith.constant 33554431 : i64
//       %0 = llvm.ptrtoint %arg0 : !llvm.ptr to i64
//       %1 = arith.andi %0, %c33554431_i64 : i64
//       %2 = arith.divui %1, %c6291456_i64 : i64
//       %3 = arith.extsi %arg3 : i32 to i64
//       %4 = arith.subi %3, %2 : i64
//       %5 = arith.muli %4, %c6291456_i64 : i64
//       %6 = arith.cmpi ult, %arg3, %c3_i32 : i32
//       %7 = arith.select %6, %5, %c1152921504606846976_i64 : i64
//       %8 = llvm.getelementptr %arg2[%7] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//       llvm.store %arg1, %8 {alignment = 4 : i64} : f32, !llvm.ptr
//       %9 = arith.trunci %2 : i64 to i32
//       memref.store %9, %arg4[%c0] : memref<1xi32>
//       gpu.return
//     }
//   }
// }
