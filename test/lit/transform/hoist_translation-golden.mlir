// The whole output for a loop over peers with a loop over elements in it.
// RUN: %golden symm-opt %s --symm-hoist-translation

func.func @scatter(%ctx: !symm.ctx, %data: memref<?xf32>, %flag: memref<1xi64>, %n: index, %peers: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %arrived = arith.constant 1 : i64
  %first = arith.constant 0 : i32
  scf.for %peer = %zero to %peers step %one : i32 {
    scf.for %i = %c0 to %n step %c1 {
      %v = symm.remote_load %ctx, %data[%i], %first : memref<?xf32> -> f32
      symm.remote_store %ctx, %data[%i], %v, %peer : memref<?xf32>, f32
    }
    symm.signal add %ctx, %flag[%c0], %arrived, %peer : memref<1xi64>, i64
  }
  return
}

// OUTPUT:
// module {
//   func.func @scatter(%arg0: !symm.ctx, %arg1: memref<?xf32>, %arg2: memref<1xi64>, %arg3: index, %arg4: i32) {
//     %c0_i32 = arith.constant 0 : i32
//     %0 = symm.heap_delta %arg0, %c0_i32
//     %c0 = arith.constant 0 : index
//     %c1 = arith.constant 1 : index
//     %c0_i32_0 = arith.constant 0 : i32
//     %c1_i32 = arith.constant 1 : i32
//     %c1_i64 = arith.constant 1 : i64
//     %c0_i32_1 = arith.constant 0 : i32
//     scf.for %arg5 = %c0_i32_0 to %arg4 step %c1_i32  : i32 {
//       %1 = symm.heap_delta %arg0, %arg5
//       scf.for %arg6 = %c0 to %arg3 step %c1 {
//         %2 = symm.remote_load %arg0, %arg1[%arg6], %c0_i32_1 via %0 : memref<?xf32> -> f32
//         symm.remote_store %arg0, %arg1[%arg6], %2, %arg5 via %1 : memref<?xf32>, f32
//       }
//       symm.signal add %arg0, %arg2[%c0], %c1_i64, %arg5 via %1 : memref<1xi64>, i64
//     }
//     return
//   }
// }
