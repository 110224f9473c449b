// The whole arithmetic of one remote store in a strided heap: a multiplication, and no base (T5).
// RUN: %golden symm-opt %s --symm-lower-to-cpu --canonicalize --cse

module attributes {symm.num_ranks = 4 : i32, symm.heap_stride = 67108864 : i64} {
  func.func private @store(%ctx: !symm.ctx, %value: f32, %mine: !llvm.ptr, %peer: i32) {
    symm.remote_store %ctx, %mine, %value, %peer : !llvm.ptr, f32
    return
  }
}

// OUTPUT:
// #tbaa_root = #llvm.tbaa_root<id = "symm">
// #tbaa_type_desc = #llvm.tbaa_type_desc<id = "symm table", members = {<#tbaa_root, 0>}>
// #tbaa_tag = #llvm.tbaa_tag<base_type = #tbaa_type_desc, access_type = #tbaa_type_desc, offset = 0, constant = true>
// module attributes {symm.heap_stride = 67108864 : i64, symm.num_ranks = 4 : i32} {
//   func.func private @store(%arg0: !llvm.ptr, %arg1: f32, %arg2: !llvm.ptr, %arg3: i32) {
//     %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//     %c4_i32 = arith.constant 4 : i32
//     %c67108864_i64 = arith.constant 67108864 : i64
//     %0 = llvm.load %arg0 invariant {alignment = 8 : i64, tbaa = [#tbaa_tag]} : !llvm.ptr -> i64
//     %1 = arith.extsi %arg3 : i32 to i64
//     %2 = arith.subi %1, %0 : i64
//     %3 = arith.muli %2, %c67108864_i64 : i64
//     %4 = arith.cmpi ult, %arg3, %c4_i32 : i32
//     %5 = arith.select %4, %3, %c1152921504606846976_i64 : i64
//     %6 = llvm.getelementptr %arg2[%5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     llvm.store %arg1, %6 {alignment = 4 : i64} : f32, !llvm.ptr
//     return
//   }
// }
