// Where an element lies: what a memref's type says is a constant, what it doesn't is read from the descriptor.
// RUN: %golden symm-opt %s --symm-lower-to-cpu --canonicalize --cse --mlir-print-local-scope

func.func private @pointer(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64) -> f32 {
  %0 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> f32
  return %0 : f32
}

// A pointer to global memory is made generic.
func.func private @global(%ctx: !symm.ctx, %p: !llvm.ptr<1>, %r: i32, %d: i64) -> f32 {
  %0 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr<1> -> f32
  return %0 : f32
}

func.func private @rank_0(%ctx: !symm.ctx, %m: memref<f32>, %r: i32, %d: i64) -> f32 {
  %0 = symm.remote_load %ctx, %m, %r via %d : memref<f32> -> f32
  return %0 : f32
}

func.func private @rank_0_offset(%ctx: !symm.ctx, %m: memref<f32, strided<[], offset: ?>>, %r: i32, %d: i64) -> f32 {
  %0 = symm.remote_load %ctx, %m, %r via %d : memref<f32, strided<[], offset: ?>> -> f32
  return %0 : f32
}

func.func private @static(%ctx: !symm.ctx, %m: memref<4x8xf16>, %i: index, %j: index, %r: i32, %d: i64) -> f16 {
  %0 = symm.remote_load %ctx, %m[%i, %j], %r via %d : memref<4x8xf16> -> f16
  return %0 : f16
}

func.func private @dynamic(%ctx: !symm.ctx, %m: memref<?x?xi64>, %i: index, %j: index, %r: i32, %d: i64) -> i64 {
  %0 = symm.remote_load %ctx, %m[%i, %j], %r via %d : memref<?x?xi64> -> i64
  return %0 : i64
}

func.func private @strided(%ctx: !symm.ctx, %m: memref<4x8xi8, strided<[32, 2], offset: 5>>, %i: index, %j: index,
    %r: i32, %d: i64) -> i8 {
  %0 = symm.remote_load %ctx, %m[%i, %j], %r via %d : memref<4x8xi8, strided<[32, 2], offset: 5>> -> i8
  return %0 : i8
}

func.func private @any_layout(%ctx: !symm.ctx, %m: memref<?x?xf64, strided<[?, ?], offset: ?>>, %i: index, %j: index,
    %r: i32, %d: i64) -> f64 {
  %0 = symm.remote_load %ctx, %m[%i, %j], %r via %d : memref<?x?xf64, strided<[?, ?], offset: ?>> -> f64
  return %0 : f64
}

// An affine map that says strides is as good.
func.func private @map(%ctx: !symm.ctx, %m: memref<4x8xf32, affine_map<(i, j) -> (j * 4 + i + 2)>>, %i: index,
    %j: index, %r: i32, %d: i64) -> f32 {
  %0 = symm.remote_load %ctx, %m[%i, %j], %r via %d : memref<4x8xf32, affine_map<(i, j) -> (j * 4 + i + 2)>> -> f32
  return %0 : f32
}

// There is one memory on a CPU: memory spaces go.
func.func private @space(%ctx: !symm.ctx, %m: memref<8xf32, 1>, %n: memref<8xf32, #gpu.address_space<global>>,
    %i: index, %r: i32, %d: i64) -> (f32, f32) {
  %0 = symm.remote_load %ctx, %m[%i], %r via %d : memref<8xf32, 1> -> f32
  %1 = symm.remote_load %ctx, %n[%i], %r via %d : memref<8xf32, #gpu.address_space<global>> -> f32
  return %0, %1 : f32, f32
}

// `index` is moved as i64, floats of 8 bits as i8.
func.func private @elements(%ctx: !symm.ctx, %m: memref<8xindex>, %n: memref<8xf8E4M3FN>, %i: index, %r: i32, %d: i64)
    -> (index, f8E4M3FN) {
  %0 = symm.remote_load %ctx, %m[%i], %r via %d : memref<8xindex> -> index
  %1 = symm.remote_load %ctx, %n[%i], %r via %d : memref<8xf8E4M3FN> -> f8E4M3FN
  return %0, %1 : index, f8E4M3FN
}

// OUTPUT:
// module {
//   func.func private @pointer(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: i64) -> f32 {
//     %0 = llvm.getelementptr %arg1[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %1 = llvm.load %0 {alignment = 4 : i64} : !llvm.ptr -> f32
//     return %1 : f32
//   }
//   func.func private @global(%arg0: !llvm.ptr, %arg1: !llvm.ptr<1>, %arg2: i32, %arg3: i64) -> f32 {
//     %0 = llvm.getelementptr %arg1[%arg3] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
//     %1 = llvm.addrspacecast %0 : !llvm.ptr<1> to !llvm.ptr
//     %2 = llvm.load %1 {alignment = 4 : i64} : !llvm.ptr -> f32
//     return %2 : f32
//   }
//   func.func private @rank_0(%arg0: !llvm.ptr, %arg1: memref<f32>, %arg2: i32, %arg3: i64) -> f32 {
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<f32> to !llvm.struct<(ptr, ptr, i64)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64)>
//     %2 = llvm.getelementptr %1[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = llvm.load %2 {alignment = 4 : i64} : !llvm.ptr -> f32
//     return %3 : f32
//   }
//   func.func private @rank_0_offset(%arg0: !llvm.ptr, %arg1: memref<f32, strided<[], offset: ?>>, %arg2: i32, %arg3: i64) -> f32 {
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<f32, strided<[], offset: ?>> to !llvm.struct<(ptr, ptr, i64)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64)>
//     %2 = llvm.getelementptr %1[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = llvm.extractvalue %0[2] : !llvm.struct<(ptr, ptr, i64)>
//     %4 = llvm.getelementptr %2[%3] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//     %5 = llvm.load %4 {alignment = 4 : i64} : !llvm.ptr -> f32
//     return %5 : f32
//   }
//   func.func private @static(%arg0: !llvm.ptr, %arg1: memref<4x8xf16>, %arg2: index, %arg3: index, %arg4: i32, %arg5: i64) -> f16 {
//     %c8_i64 = arith.constant 8 : i64
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<4x8xf16> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = llvm.getelementptr %1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = arith.index_cast %arg2 : index to i64
//     %4 = arith.muli %3, %c8_i64 : i64
//     %5 = arith.index_cast %arg3 : index to i64
//     %6 = arith.addi %4, %5 : i64
//     %7 = llvm.getelementptr %2[%6] : (!llvm.ptr, i64) -> !llvm.ptr, f16
//     %8 = llvm.load %7 {alignment = 2 : i64} : !llvm.ptr -> f16
//     return %8 : f16
//   }
//   func.func private @dynamic(%arg0: !llvm.ptr, %arg1: memref<?x?xi64>, %arg2: index, %arg3: index, %arg4: i32, %arg5: i64) -> i64 {
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<?x?xi64> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = llvm.getelementptr %1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = arith.index_cast %arg2 : index to i64
//     %4 = llvm.extractvalue %0[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %5 = arith.muli %3, %4 : i64
//     %6 = arith.index_cast %arg3 : index to i64
//     %7 = arith.addi %5, %6 : i64
//     %8 = llvm.getelementptr %2[%7] : (!llvm.ptr, i64) -> !llvm.ptr, i64
//     %9 = llvm.load %8 {alignment = 8 : i64} : !llvm.ptr -> i64
//     return %9 : i64
//   }
//   func.func private @strided(%arg0: !llvm.ptr, %arg1: memref<4x8xi8, strided<[32, 2], offset: 5>>, %arg2: index, %arg3: index, %arg4: i32, %arg5: i64) -> i8 {
//     %c2_i64 = arith.constant 2 : i64
//     %c32_i64 = arith.constant 32 : i64
//     %c5_i64 = arith.constant 5 : i64
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<4x8xi8, strided<[32, 2], offset: 5>> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = llvm.getelementptr %1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = arith.index_cast %arg2 : index to i64
//     %4 = arith.muli %3, %c32_i64 : i64
//     %5 = arith.index_cast %arg3 : index to i64
//     %6 = arith.muli %5, %c2_i64 : i64
//     %7 = arith.addi %4, %c5_i64 : i64
//     %8 = arith.addi %7, %6 : i64
//     %9 = llvm.getelementptr %2[%8] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %10 = llvm.load %9 {alignment = 1 : i64} : !llvm.ptr -> i8
//     return %10 : i8
//   }
//   func.func private @any_layout(%arg0: !llvm.ptr, %arg1: memref<?x?xf64, strided<[?, ?], offset: ?>>, %arg2: index, %arg3: index, %arg4: i32, %arg5: i64) -> f64 {
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<?x?xf64, strided<[?, ?], offset: ?>> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = llvm.getelementptr %1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = llvm.extractvalue %0[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %4 = arith.index_cast %arg2 : index to i64
//     %5 = llvm.extractvalue %0[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %6 = arith.muli %4, %5 : i64
//     %7 = arith.index_cast %arg3 : index to i64
//     %8 = llvm.extractvalue %0[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %9 = arith.muli %7, %8 : i64
//     %10 = arith.addi %3, %6 : i64
//     %11 = arith.addi %10, %9 : i64
//     %12 = llvm.getelementptr %2[%11] : (!llvm.ptr, i64) -> !llvm.ptr, f64
//     %13 = llvm.load %12 {alignment = 8 : i64} : !llvm.ptr -> f64
//     return %13 : f64
//   }
//   func.func private @map(%arg0: !llvm.ptr, %arg1: memref<4x8xf32, affine_map<(d0, d1) -> (d1 * 4 + d0 + 2)>>, %arg2: index, %arg3: index, %arg4: i32, %arg5: i64) -> f32 {
//     %c4_i64 = arith.constant 4 : i64
//     %c2_i64 = arith.constant 2 : i64
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<4x8xf32, affine_map<(d0, d1) -> (d1 * 4 + d0 + 2)>> to !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
//     %2 = llvm.getelementptr %1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = arith.index_cast %arg2 : index to i64
//     %4 = arith.index_cast %arg3 : index to i64
//     %5 = arith.muli %4, %c4_i64 : i64
//     %6 = arith.addi %3, %c2_i64 : i64
//     %7 = arith.addi %6, %5 : i64
//     %8 = llvm.getelementptr %2[%7] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//     %9 = llvm.load %8 {alignment = 4 : i64} : !llvm.ptr -> f32
//     return %9 : f32
//   }
//   func.func private @space(%arg0: !llvm.ptr, %arg1: memref<8xf32>, %arg2: memref<8xf32>, %arg3: index, %arg4: i32, %arg5: i64) -> (f32, f32) {
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<8xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %2 = llvm.getelementptr %1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = arith.index_cast %arg3 : index to i64
//     %4 = llvm.getelementptr %2[%3] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//     %5 = llvm.load %4 {alignment = 4 : i64} : !llvm.ptr -> f32
//     %6 = builtin.unrealized_conversion_cast %arg2 : memref<8xf32> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %7 = llvm.extractvalue %6[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %8 = llvm.getelementptr %7[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %9 = llvm.getelementptr %8[%3] : (!llvm.ptr, i64) -> !llvm.ptr, f32
//     %10 = llvm.load %9 {alignment = 4 : i64} : !llvm.ptr -> f32
//     return %5, %10 : f32, f32
//   }
//   func.func private @elements(%arg0: !llvm.ptr, %arg1: memref<8xindex>, %arg2: memref<8xf8E4M3FN>, %arg3: index, %arg4: i32, %arg5: i64) -> (index, f8E4M3FN) {
//     %0 = builtin.unrealized_conversion_cast %arg1 : memref<8xindex> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %1 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %2 = llvm.getelementptr %1[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %3 = arith.index_cast %arg3 : index to i64
//     %4 = llvm.getelementptr %2[%3] : (!llvm.ptr, i64) -> !llvm.ptr, i64
//     %5 = llvm.load %4 {alignment = 8 : i64} : !llvm.ptr -> i64
//     %6 = builtin.unrealized_conversion_cast %5 : i64 to index
//     %7 = builtin.unrealized_conversion_cast %arg2 : memref<8xf8E4M3FN> to !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %8 = llvm.extractvalue %7[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//     %9 = llvm.getelementptr %8[%arg5] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %10 = llvm.getelementptr %9[%3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     %11 = llvm.load %10 {alignment = 1 : i64} : !llvm.ptr -> i8
//     %12 = builtin.unrealized_conversion_cast %11 : i8 to f8E4M3FN
//     return %6, %12 : index, f8E4M3FN
//   }
// }
