// The whole arithmetic of one remote store that loads the bases of both ranks from the table (T1).
// RUN: %golden symm-opt %s --symm-lower-to-cpu --canonicalize --cse

func.func private @store(%ctx: !symm.ctx, %value: f32, %mine: !llvm.ptr, %peer: i32) {
  symm.remote_store %ctx, %value, %mine, %peer : f32, !llvm.ptr
  return
}

// OUTPUT:
// module {
//   func.func private @store(%arg0: !llvm.ptr, %arg1: f32, %arg2: !llvm.ptr, %arg3: i32) {
//     %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//     %c0_i32 = arith.constant 0 : i32
//     %c8_i64 = arith.constant 8 : i64
//     %0 = llvm.load %arg0 invariant {alignment = 8 : i64} : !llvm.ptr -> i64
//     %1 = arith.trunci %0 : i64 to i32
//     %2 = llvm.getelementptr %arg0[8] : (!llvm.ptr) -> !llvm.ptr, i8
//     %3 = llvm.load %2 invariant {alignment = 8 : i64} : !llvm.ptr -> i64
//     %4 = arith.trunci %3 : i64 to i32
//     %5 = arith.cmpi ult, %arg3, %4 : i32
//     %6 = arith.select %5, %arg3, %c0_i32 : i32
//     %7 = arith.extsi %6 : i32 to i64
//     %8 = arith.muli %7, %c8_i64 : i64
//     %9 = llvm.getelementptr %arg0[16] : (!llvm.ptr) -> !llvm.ptr, i8
//     %10 = llvm.getelementptr %9[%8] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %11 = llvm.load %10 invariant {alignment = 8 : i64} : !llvm.ptr -> i64
//     %12 = arith.extsi %1 : i32 to i64
//     %13 = arith.muli %12, %c8_i64 : i64
//     %14 = llvm.getelementptr %9[%13] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %15 = llvm.load %14 invariant {alignment = 8 : i64} : !llvm.ptr -> i64
//     %16 = arith.subi %11, %15 : i64
//     %17 = arith.select %5, %16, %c1152921504606846976_i64 : i64
//     %18 = llvm.getelementptr %arg2[%17] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     llvm.store %arg1, %18 {alignment = 4 : i64} : f32, !llvm.ptr
//     return
//   }
// }
