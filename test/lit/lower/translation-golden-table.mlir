// The whole arithmetic of one remote store that loads the bases of both ranks from the table (T1).
// RUN: %golden symm-opt %s --symm-lower-to-cpu --canonicalize --cse

func.func private @store(%ctx: !symm.ctx, %value: f32, %mine: !llvm.ptr, %peer: i32) {
  symm.remote_store %ctx, %mine, %value, %peer : !llvm.ptr, f32
  return
}

// OUTPUT:
// #tbaa_root = #llvm.tbaa_root<id = "symm">
// #tbaa_type_desc = #llvm.tbaa_type_desc<id = "symm table", members = {<#tbaa_root, 0>}>
// #tbaa_tag = #llvm.tbaa_tag<base_type = #tbaa_type_desc, access_type = #tbaa_type_desc, offset = 0, constant = true>
// module {
//   func.func private @store(%arg0: !llvm.ptr, %arg1: f32, %arg2: !llvm.ptr, %arg3: i32) {
//     %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//     %c-2097152_i64 = arith.constant -2097152 : i64
//     %c0_i32 = arith.constant 0 : i32
//     %c8_i64 = arith.constant 8 : i64
//     %0 = llvm.load %arg0 invariant {alignment = 8 : i64, tbaa = [#tbaa_tag]} : !llvm.ptr -> i64
//     %1 = llvm.getelementptr %arg0[8] : (!llvm.ptr) -> !llvm.ptr, i8
//     %2 = llvm.load %1 invariant {alignment = 8 : i64, tbaa = [#tbaa_tag]} : !llvm.ptr -> i64
//     %3 = arith.trunci %2 : i64 to i32
//     %4 = arith.cmpi ult, %arg3, %3 : i32
//     %5 = arith.select %4, %arg3, %c0_i32 : i32
//     %6 = arith.extsi %5 : i32 to i64
//     %7 = arith.muli %6, %c8_i64 : i64
//     %8 = llvm.getelementptr %arg0[16] : (!llvm.ptr) -> !llvm.ptr, i8
//     %9 = llvm.getelementptr %8[%7] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %10 = llvm.load %9 invariant {alignment = 8 : i64, tbaa = [#tbaa_tag]} : !llvm.ptr -> i64
//     %11 = arith.muli %0, %c8_i64 : i64
//     %12 = llvm.getelementptr %8[%11] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %13 = llvm.load %12 invariant {alignment = 8 : i64, tbaa = [#tbaa_tag]} : !llvm.ptr -> i64
//     %14 = arith.subi %10, %13 : i64
//     %15 = arith.andi %14, %c-2097152_i64 : i64
//     %16 = arith.select %4, %15, %c1152921504606846976_i64 : i64
//     %17 = llvm.getelementptr %arg2[%16] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     llvm.store %arg1, %17 {alignment = 4 : i64} : f32, !llvm.ptr
//     return
//   }
// }
