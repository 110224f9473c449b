// Copies: one memcpy where memory is contiguous, rows of it where the innermost dimension is, elements otherwise. GPUs call
// the device library, which is MLIR as it stands.
// RUN: symm-opt %S/../../../passes/src/lower/gpu/library.mlir -o %t
// RUN: symm-opt %S/../../../passes/src/lower/gpu/bulk_engine.mlir -o %t
// RUN: %golden symm-opt %s --symm-lower-to-cpu --canonicalize --cse --mlir-print-local-scope

func.func private @contiguous(%ctx: !symm.ctx, %a: memref<4x8xf32>, %b: memref<4x8xf32>, %r: i32, %d: i64) {
  symm.put %ctx, %a, %b, %r via %d : memref<4x8xf32>, memref<4x8xf32>
  return
}

func.func private @contiguous_dynamic(%ctx: !symm.ctx, %a: memref<?x8xf16>, %b: memref<4x?xf16>, %r: i32, %d: i64) {
  symm.get %ctx, %a, %b, %r via %d : memref<?x8xf16>, memref<4x?xf16>
  return
}

func.func private @one_element(%ctx: !symm.ctx, %a: memref<i64>, %b: memref<i64>, %r: i32, %d: i64) {
  symm.get %ctx, %a, %b, %r via %d : memref<i64>, memref<i64>
  return
}

// The innermost dimensions are contiguous on both sides: a memcpy for each row.
func.func private @rows(%ctx: !symm.ctx, %a: memref<4x8xf32, strided<[16, 1]>>, %b: memref<4x8xf32>, %r: i32, %d: i64) {
  symm.put %ctx, %a, %b, %r via %d : memref<4x8xf32, strided<[16, 1]>>, memref<4x8xf32>
  return
}

// A view with an offset is one row.
func.func private @offset(%ctx: !symm.ctx, %a: memref<8xf32, strided<[1], offset: ?>>, %b: memref<8xf32>, %r: i32,
    %d: i64) {
  symm.put %ctx, %a, %b, %r via %d : memref<8xf32, strided<[1], offset: ?>>, memref<8xf32>
  return
}

// One side is not: element by element.
func.func private @elements(%ctx: !symm.ctx, %a: memref<?xf16, strided<[2]>>, %b: memref<?xf16>, %r: i32, %d: i64) {
  symm.get %ctx, %a, %b, %r via %d : memref<?xf16, strided<[2]>>, memref<?xf16>
  return
}

func.func private @elements_rank_0(%ctx: !symm.ctx, %a: memref<f32, strided<[], offset: ?>>, %b: memref<f32>, %r: i32,
    %d: i64) {
  symm.put %ctx, %a, %b, %r via %d : memref<f32, strided<[], offset: ?>>, memref<f32>
  return
}

func.func private @elements_of_index(%ctx: !symm.ctx, %a: memref<8xindex, strided<[?]>>, %b: memref<8xindex>, %r: i32,
    %d: i64) {
  symm.put %ctx, %a, %b, %r via %d : memref<8xindex, strided<[?]>>, memref<8xindex>
  return
}

func.func private @counted(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr<1>, %r: i32, %d: i64, %n: index, %k: i64) {
  symm.get %ctx, %p, %q, %r via %d count %n : index of f64 : !llvm.ptr, !llvm.ptr<1>
  symm.put %ctx, %p, %q, %r via %d count %k : i64 of i8 : !llvm.ptr, !llvm.ptr<1>
  symm.put %ctx, %p, %q, %r via %d count %k : i64 of i1 : !llvm.ptr, !llvm.ptr<1>
  symm.put %ctx, %p, %q, %r via %d count %k : i64 of index : !llvm.ptr, !llvm.ptr<1>
  return
}

// Both ends of a copy move.
func.func private @copy(%ctx: !symm.ctx, %p: !llvm.ptr, %q: !llvm.ptr, %from: i32, %to: i32, %df: i64, %dt: i64,
    %n: index) {
  symm.copy %ctx, %p at %from via %df, %q at %to via %dt count %n : index of bf16 : !llvm.ptr, !llvm.ptr
  return
}

// OUTPUT:
// module {
//   func.func private @contiguous(%arg0: !llvm.ptr, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>, %arg3: i32, %arg4: i64) {
//     %c128_i64 = arith.constant 128 : i64
//     %0 = builtin.unrealized_conversion_cast %arg2 : memref<4x8xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = llvm.getelementptr %1[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = builtin.unrealized_conversion_cast %arg1 : memref<4x8xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %4 = llvm.extractvalue %3[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     "llvm.intr.memcpy"(%2, %4, %c128_i64) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     return
//   }
//   func.func private @contiguous_dynamic(%arg0: !llvm.ptr, %arg1: memref<?x8xf16>, %arg2: memref<4x?xf16>, %arg3: i32, %arg4: i64) {
//     %c16_i64 = arith.constant 16 : i64
//     %0 = builtin.unrealized_conversion_cast %arg2 : memref<4x?xf16> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = builtin.unrealized_conversion_cast %arg1 : memref<?x8xf16> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %3 = llvm.extractvalue %2[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %4 = llvm.getelementptr %3[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %5 = llvm.extractvalue %2[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %6 = arith.muli %5, %c16_i64 : i64
//     "llvm.intr.memcpy"(%1, %4, %6) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     return
//   }
//   func.func private @one_element(%arg0: !llvm.ptr, %arg1: memref<i64>, %arg2: memref<i64>, %arg3: i32, %arg4: i64) {
//     %c8_i64 = arith.constant 8 : i64
//     %0 = builtin.unrealized_conversion_cast %arg2 : memref<i64> to !llvm.struct<(ptr, ptr, i64)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64)>
//     %2 = builtin.unrealized_conversion_cast %arg1 : memref<i64> to !llvm.struct<(ptr, ptr, i64)>
//     %3 = llvm.extractvalue %2[1] : !llvm.struct<(ptr, ptr, i64)>
//     %4 = llvm.getelementptr %3[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     "llvm.intr.memcpy"(%1, %4, %c8_i64) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     return
//   }
//   func.func private @rows(%arg0: !llvm.ptr, %arg1: memref<4x8xf32, strided<[16, 1]>>, %arg2: memref<4x8xf32>, %arg3: i32, %arg4: i64) {
//     %c32_i64 = arith.constant 32 : i64
//     %c16_i64 = arith.constant 16 : i64
//     %c8_i64 = arith.constant 8 : i64
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %c4 = arith.constant 4 : index
//     scf.for %arg5 = %c0 to %c4 step %c1 {
//       %0 = builtin.unrealized_conversion_cast %arg2 : memref<4x8xf32> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//       %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//       %2 = llvm.getelementptr %1[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//       %3 = arith.index_cast %arg5 : index to i64
//       %4 = arith.muli %3, %c8_i64 : i64
//       %5 = llvm.getelementptr %2[%4] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//       %6 = builtin.unrealized_conversion_cast %arg1 : memref<4x8xf32, strided<[16, 1]>> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//       %7 = llvm.extractvalue %6[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//       %8 = arith.muli %3, %c16_i64 : i64
//       %9 = llvm.getelementptr %7[%8] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//       "llvm.intr.memcpy"(%5, %9, %c32_i64) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     }
//     return
//   }
//   func.func private @offset(%arg0: !llvm.ptr, %arg1: memref<8xf32, strided<[1], offset: ?>>, %arg2: memref<8xf32>, %arg3: i32, %arg4: i64) {
//     %c32_i64 = arith.constant 32 : i64
//     %0 = builtin.unrealized_conversion_cast %arg2 : memref<8xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %2 = llvm.getelementptr %1[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = builtin.unrealized_conversion_cast %arg1 : memref<8xf32, strided<[1], offset: ?>> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %4 = llvm.extractvalue %3[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %5 = llvm.extractvalue %3[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %6 = llvm.getelementptr %4[%5] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//     "llvm.intr.memcpy"(%2, %6, %c32_i64) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     return
//   }
//   func.func private @elements(%arg0: !llvm.ptr, %arg1: memref<?xf16, strided<[2]>>, %arg2: memref<?xf16>, %arg3: i32, %arg4: i64) {
//     %c2_i64 = arith.constant 2 : i64
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<?xf16, strided<[2]>> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %1 = llvm.extractvalue %0[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %2 = arith.index_cast %1 : i64 to index
//     scf.for %arg5 = %c0 to %2 step %c1 {
//       %3 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %4 = llvm.getelementptr %3[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//       %5 = arith.index_cast %arg5 : index to i64
//       %6 = arith.muli %5, %c2_i64 : i64
//       %7 = llvm.getelementptr %4[%6] : (!llvm.ptr, i64) -> !llvm.ptr, f16
//       %8 = builtin.unrealized_conversion_cast %arg2 : memref<?xf16> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %9 = llvm.extractvalue %8[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %10 = llvm.getelementptr %9[%5] : (!llvm.ptr, i64) -> !llvm.ptr, f16
//       %11 = llvm.load %7 : !llvm.ptr -> f16
//       llvm.store %11, %10 : f16, !llvm.ptr
//     }
//     return
//   }
//   func.func private @elements_rank_0(%arg0: !llvm.ptr, %arg1: memref<f32, strided<[], offset: ?>>, %arg2: memref<f32>, %arg3: i32, %arg4: i64) {
//     %c4_i64 = arith.constant 4 : i64
//     %0 = builtin.unrealized_conversion_cast %arg2 : memref<f32> to !llvm.struct<(ptr, ptr, i64)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64)>
//     %2 = llvm.getelementptr %1[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = builtin.unrealized_conversion_cast %arg1 : memref<f32, strided<[], offset: ?>> to !llvm.struct<(ptr, ptr, i64)>
//     %4 = llvm.extractvalue %3[1] : !llvm.struct<(ptr, ptr, i64)>
//     %5 = llvm.extractvalue %3[2] : !llvm.struct<(ptr, ptr, i64)>
//     %6 = llvm.getelementptr %4[%5] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//     "llvm.intr.memcpy"(%2, %6, %c4_i64) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     return
//   }
//   func.func private @elements_of_index(%arg0: !llvm.ptr, %arg1: memref<8xindex, strided<[?]>>, %arg2: memref<8xindex>, %arg3: i32, %arg4: i64) {
//     %c1 = arith.constant 1 : index
//     %c0 = arith.constant 0 : index
//     %c8 = arith.constant 8 : index
//     scf.for %arg5 = %c0 to %c8 step %c1 {
//       %0 = builtin.unrealized_conversion_cast %arg1 : memref<8xindex, strided<[?]>> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %2 = arith.index_cast %arg5 : index to i64
//       %3 = llvm.extractvalue %0[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %4 = arith.muli %2, %3 : i64
//       %5 = llvm.getelementptr %1[%4] : (!llvm.ptr, i64) -> !llvm.ptr, i64
//       %6 = builtin.unrealized_conversion_cast %arg2 : memref<8xindex> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %7 = llvm.extractvalue %6[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//       %8 = llvm.getelementptr %7[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//       %9 = llvm.getelementptr %8[%2] : (!llvm.ptr, i64) -> !llvm.ptr, i64
//       %10 = llvm.load %5 : !llvm.ptr -> i64
//       llvm.store %10, %9 : i64, !llvm.ptr
//     }
//     return
//   }
//   func.func private @counted(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr<1>, %arg3: i32, %arg4: i64, %arg5: index, %arg6: i64) {
//     %c8_i64 = arith.constant 8 : i64
//     %0 = llvm.getelementptr %arg2[%arg4] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
//     %1 = llvm.getelementptr %arg1[%arg4] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %2 = llvm.addrspacecast %arg2 : !llvm.ptr<1> to !llvm.ptr
//     %3 = arith.index_cast %arg5 : index to i64
//     %4 = arith.muli %3, %c8_i64 : i64
//     "llvm.intr.memcpy"(%2, %1, %4) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     %5 = llvm.addrspacecast %0 : !llvm.ptr<1> to !llvm.ptr
//     "llvm.intr.memcpy"(%5, %arg1, %arg6) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     "llvm.intr.memcpy"(%5, %arg1, %arg6) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     %6 = arith.muli %arg6, %c8_i64 : i64
//     "llvm.intr.memcpy"(%5, %arg1, %6) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     return
//   }
//   func.func private @copy(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: i32, %arg4: i32, %arg5: i64, %arg6: i64, %arg7: index) {
//     %c2_i64 = arith.constant 2 : i64
//     %0 = llvm.getelementptr %arg1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %1 = llvm.getelementptr %arg2[%arg6] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %2 = arith.index_cast %arg7 : index to i64
//     %3 = arith.muli %2, %c2_i64 : i64
//     "llvm.intr.memcpy"(%1, %0, %3) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
//     return
//   }
// }
