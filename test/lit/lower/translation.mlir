// Heap-base arithmetic: ranks, bases and distances from the context table (T1, T3, T4, T5).
// RUN: %golden symm-opt %s --symm-lower-to-cpu --canonicalize --cse --mlir-print-local-scope

// The table is [rank, num_ranks, base_0 …]; its loads are invariant (T3). A rank that may be out of range is looked
// up as one that exists, and leads to no memory.
func.func private @table(%ctx: !symm.ctx, %peer: i32) -> (i32, i32, i64, !llvm.ptr) {
  %me = symm.rank %ctx
  %n = symm.num_ranks %ctx
  %delta = symm.heap_delta %ctx, %peer
  %base = symm.heap_base %ctx, %peer : !llvm.ptr
  return %me, %n, %delta, %base : i32, i32, i64, !llvm.ptr
}

// Rank 0 is always there: nothing to guard.
func.func private @first(%ctx: !symm.ctx) -> (i64, !llvm.ptr<1>) {
  %c0 = arith.constant 0 : i32
  %delta = symm.heap_delta %ctx, %c0
  %base = symm.heap_base %ctx, %c0 : !llvm.ptr<1>
  return %delta, %base : i64, !llvm.ptr<1>
}

// From parts there are bases alone.
func.func private @parts(%bases: !llvm.ptr, %me: i32, %n: i32, %peer: i32) -> (i32, i32, i64, !llvm.ptr) {
  %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
  %rank = symm.rank %ctx
  %num_ranks = symm.num_ranks %ctx
  %delta = symm.heap_delta %ctx, %peer
  %base = symm.heap_base %ctx, %peer : !llvm.ptr
  return %rank, %num_ranks, %delta, %base : i32, i32, i64, !llvm.ptr
}

// A table in global memory is reached by a generic pointer.
func.func private @global_table(%table: !llvm.ptr<1>) -> i32 {
  %ctx = symm.ctx %table : !llvm.ptr<1>
  %me = symm.rank %ctx
  return %me : i32
}

// With a known number of ranks nothing is loaded for it, and constant ranks in range need no guard.
module attributes {symm.num_ranks = 4 : i32} {
  func.func private @known(%ctx: !symm.ctx, %peer: i32) -> (i32, i64, i64) {
    %c3 = arith.constant 3 : i32
    %n = symm.num_ranks %ctx
    %delta = symm.heap_delta %ctx, %peer
    %far = symm.heap_delta %ctx, %c3
    return %n, %delta, %far : i32, i64, i64
  }
}

// With a strided heap no base is loaded (T5).
module attributes {symm.heap_stride = 67108864 : i64, symm.num_ranks = 4 : i32} {
  func.func private @strided(%ctx: !symm.ctx, %peer: i32, %p: !llvm.ptr) -> (i64, !llvm.ptr) {
    %delta = symm.heap_delta %ctx, %peer
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    return %delta, %q : i64, !llvm.ptr
  }

  func.func private @strided_parts(%bases: !llvm.ptr, %me: i32, %n: i32, %peer: i32) -> i64 {
    %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
    %delta = symm.heap_delta %ctx, %peer
    return %delta : i64
  }
}

// A translation adds a distance to the pointer, never through an integer (T4); one that is given is used.
func.func private @as_remote(%ctx: !symm.ctx, %p: !llvm.ptr, %g: !llvm.ptr<1>, %r: i32, %delta: i64)
    -> (!llvm.ptr, !llvm.ptr<1>) {
  %0 = symm.as_remote %ctx, %p, %r via %delta : !llvm.ptr
  %1 = symm.as_remote %ctx, %g, %r via %delta : !llvm.ptr<1>
  return %0, %1 : !llvm.ptr, !llvm.ptr<1>
}

// A memref keeps its offset, sizes and strides: both of its pointers move.
func.func private @as_remote_memref(%ctx: !symm.ctx, %m: memref<?x4xf32, strided<[?, 2], offset: ?>>, %r: i32,
    %delta: i64) -> memref<?x4xf32, strided<[?, 2], offset: ?>> {
  %0 = symm.as_remote %ctx, %m, %r via %delta : memref<?x4xf32, strided<[?, 2], offset: ?>>
  return %0 : memref<?x4xf32, strided<[?, 2], offset: ?>>
}

// OUTPUT:
// module {
//   func.func private @table(%arg0: !llvm.ptr, %arg1: i32) -> (i32, i32, i64, !llvm.ptr) {
//     %0 = llvm.mlir.zero : !llvm.ptr
//     %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//     %c-2097152_i64 = arith.constant -2097152 : i64
//     %c0_i32 = arith.constant 0 : i32
//     %c8_i64 = arith.constant 8 : i64
//     %1 = llvm.load %arg0 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %2 = arith.trunci %1 : i64 to i32
//     %3 = llvm.getelementptr %arg0[8] : (!llvm.ptr) -> !llvm.ptr, i8
//     %4 = llvm.load %3 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %5 = arith.trunci %4 : i64 to i32
//     %6 = arith.cmpi ult, %arg1, %5 : i32
//     %7 = arith.select %6, %arg1, %c0_i32 : i32
//     %8 = arith.extsi %7 : i32 to i64
//     %9 = arith.muli %8, %c8_i64 : i64
//     %10 = llvm.getelementptr %arg0[16] : (!llvm.ptr) -> !llvm.ptr, i8
//     %11 = llvm.getelementptr %10[%9] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %12 = llvm.load %11 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %13 = arith.muli %1, %c8_i64 : i64
//     %14 = llvm.getelementptr %10[%13] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %15 = llvm.load %14 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %16 = arith.subi %12, %15 : i64
//     %17 = arith.andi %16, %c-2097152_i64 : i64
//     %18 = arith.select %6, %17, %c1152921504606846976_i64 : i64
//     %19 = llvm.load %11 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> !llvm.ptr
//     %20 = arith.select %6, %19, %0 : !llvm.ptr
//     return %2, %5, %18, %20 : i32, i32, i64, !llvm.ptr
//   }
//   func.func private @first(%arg0: !llvm.ptr) -> (i64, !llvm.ptr<1>) {
//     %c-2097152_i64 = arith.constant -2097152 : i64
//     %c8_i64 = arith.constant 8 : i64
//     %0 = llvm.load %arg0 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %1 = llvm.getelementptr %arg0[16] : (!llvm.ptr) -> !llvm.ptr, i8
//     %2 = llvm.load %1 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %3 = arith.muli %0, %c8_i64 : i64
//     %4 = llvm.getelementptr %1[%3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %5 = llvm.load %4 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %6 = arith.subi %2, %5 : i64
//     %7 = arith.andi %6, %c-2097152_i64 : i64
//     %8 = llvm.load %1 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> !llvm.ptr<1>
//     return %7, %8 : i64, !llvm.ptr<1>
//   }
//   func.func private @parts(%arg0: !llvm.ptr, %arg1: i32, %arg2: i32, %arg3: i32) -> (i32, i32, i64, !llvm.ptr) {
//     %0 = llvm.mlir.zero : !llvm.ptr
//     %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//     %c-2097152_i64 = arith.constant -2097152 : i64
//     %c8_i64 = arith.constant 8 : i64
//     %c0_i32 = arith.constant 0 : i32
//     %1 = arith.extsi %arg1 : i32 to i64
//     %2 = arith.cmpi ult, %arg3, %arg2 : i32
//     %3 = arith.select %2, %arg3, %c0_i32 : i32
//     %4 = arith.extsi %3 : i32 to i64
//     %5 = arith.muli %4, %c8_i64 : i64
//     %6 = llvm.getelementptr %arg0[%5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %7 = llvm.load %6 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %8 = arith.muli %1, %c8_i64 : i64
//     %9 = llvm.getelementptr %arg0[%8] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %10 = llvm.load %9 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %11 = arith.subi %7, %10 : i64
//     %12 = arith.andi %11, %c-2097152_i64 : i64
//     %13 = arith.select %2, %12, %c1152921504606846976_i64 : i64
//     %14 = llvm.load %6 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> !llvm.ptr
//     %15 = arith.select %2, %14, %0 : !llvm.ptr
//     return %arg1, %arg2, %13, %15 : i32, i32, i64, !llvm.ptr
//   }
//   func.func private @global_table(%arg0: !llvm.ptr<1>) -> i32 {
//     %0 = llvm.addrspacecast %arg0 : !llvm.ptr<1> to !llvm.ptr
//     %1 = llvm.load %0 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//     %2 = arith.trunci %1 : i64 to i32
//     return %2 : i32
//   }
//   module attributes {symm.num_ranks = 4 : i32} {
//     func.func private @known(%arg0: !llvm.ptr, %arg1: i32) -> (i32, i64, i64) {
//       %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//       %c-2097152_i64 = arith.constant -2097152 : i64
//       %c8_i64 = arith.constant 8 : i64
//       %c0_i32 = arith.constant 0 : i32
//       %c4_i32 = arith.constant 4 : i32
//       %0 = llvm.load %arg0 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//       %1 = arith.cmpi ult, %arg1, %c4_i32 : i32
//       %2 = arith.select %1, %arg1, %c0_i32 : i32
//       %3 = arith.extsi %2 : i32 to i64
//       %4 = arith.muli %3, %c8_i64 : i64
//       %5 = llvm.getelementptr %arg0[16] : (!llvm.ptr) -> !llvm.ptr, i8
//       %6 = llvm.getelementptr %5[%4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//       %7 = llvm.load %6 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//       %8 = arith.muli %0, %c8_i64 : i64
//       %9 = llvm.getelementptr %5[%8] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//       %10 = llvm.load %9 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//       %11 = arith.subi %7, %10 : i64
//       %12 = arith.andi %11, %c-2097152_i64 : i64
//       %13 = arith.select %1, %12, %c1152921504606846976_i64 : i64
//       %14 = llvm.getelementptr %5[24] : (!llvm.ptr) -> !llvm.ptr, i8
//       %15 = llvm.load %14 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//       %16 = arith.subi %15, %10 : i64
//       %17 = arith.andi %16, %c-2097152_i64 : i64
//       return %c4_i32, %13, %17 : i32, i64, i64
//     }
//   }
//   module attributes {symm.heap_stride = 67108864 : i64, symm.num_ranks = 4 : i32} {
//     func.func private @strided(%arg0: !llvm.ptr, %arg1: i32, %arg2: !llvm.ptr) -> (i64, !llvm.ptr) {
//       %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//       %c4_i32 = arith.constant 4 : i32
//       %c67108864_i64 = arith.constant 67108864 : i64
//       %0 = llvm.load %arg0 invariant {alignment = 8 : i64, tbaa = [#llvm.tbaa_tag<base_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, access_type = <id = "symm table", members = {<#llvm.tbaa_root<id = "symm">, 0>}>, offset = 0, constant = true>]} : !llvm.ptr -> i64
//       %1 = arith.extsi %arg1 : i32 to i64
//       %2 = arith.subi %1, %0 : i64
//       %3 = arith.muli %2, %c67108864_i64 : i64
//       %4 = arith.cmpi ult, %arg1, %c4_i32 : i32
//       %5 = arith.select %4, %3, %c1152921504606846976_i64 : i64
//       %6 = llvm.getelementptr %arg2[%5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//       return %5, %6 : i64, !llvm.ptr
//     }
//     func.func private @strided_parts(%arg0: !llvm.ptr, %arg1: i32, %arg2: i32, %arg3: i32) -> i64 {
//       %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//       %c4_i32 = arith.constant 4 : i32
//       %c67108864_i64 = arith.constant 67108864 : i64
//       %0 = arith.extsi %arg1 : i32 to i64
//       %1 = arith.extsi %arg3 : i32 to i64
//       %2 = arith.subi %1, %0 : i64
//       %3 = arith.muli %2, %c67108864_i64 : i64
//       %4 = arith.cmpi ult, %arg3, %c4_i32 : i32
//       %5 = arith.select %4, %3, %c1152921504606846976_i64 : i64
//       return %5 : i64
//     }
//   }
//   func.func private @as_remote(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr<1>, %arg3: i32, %arg4: i64) -> (!llvm.ptr, !llvm.ptr<1>) {
//     %0 = llvm.getelementptr %arg1[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %1 = llvm.getelementptr %arg2[%arg4] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
//     return %0, %1 : !llvm.ptr, !llvm.ptr<1>
//   }
//   func.func private @as_remote_memref(%arg0: !llvm.ptr, %arg1: memref<?x4xf32, strided<[?, 2], offset: ?>>, %arg2: i32, %arg3: i64) -> memref<?x4xf32, strided<[?, 2], offset: ?>> {
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<?x4xf32, strided<[?, 2], offset: ?>> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = llvm.getelementptr %1[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = llvm.insertvalue %2, %0[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %4 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %5 = llvm.getelementptr %4[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %6 = llvm.insertvalue %5, %3[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %7 = builtin.unrealized_conversion_cast %6 : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> to memref<?x4xf32, strided<[?, 2], offset: ?>>
//     return %7 : memref<?x4xf32, strided<[?, 2], offset: ?>>
//   }
// }
