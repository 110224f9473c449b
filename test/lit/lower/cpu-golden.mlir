// A whole kernel: what a signal to a peer and a wait for one become.
// RUN: %golden symm-opt %s --symm-hoist-translation --symm-lower-to-cpu --canonicalize --cse

module attributes {gpu.container_module, symm.num_ranks = 2 : i32, symm.heap_stride = 67108864 : i64} {
  gpu.module @kernels {
    gpu.func @meet(%ctx: !symm.ctx, %flag: !llvm.ptr, %peer: i32) kernel {
      %one = arith.constant 1 : i64
      symm.signal set %ctx, %flag, %one, %peer group block : !llvm.ptr, i64
      symm.wait %ctx, %flag ge %one group block : !llvm.ptr, i64
      gpu.return
    }
  }
}

// OUTPUT:
// #tbaa_root = #llvm.tbaa_root<id = "symm">
// #tbaa_type_desc = #llvm.tbaa_type_desc<id = "symm table", members = {<#tbaa_root, 0>}>
// #tbaa_tag = #llvm.tbaa_tag<base_type = #tbaa_type_desc, access_type = #tbaa_type_desc, offset = 0, constant = true>
// module attributes {gpu.container_module, symm.heap_stride = 67108864 : i64, symm.num_ranks = 2 : i32} {
//   func.func private @symm_rt_wait64(!llvm.ptr, !llvm.ptr, i32, i64, i64, !llvm.ptr) -> i32
//   llvm.mlir.global internal constant @_symm_string_0("cpu-golden.mlir:9:7\00") {addr_space = 0 : i32}
//   func.func private @symm_rt_wake(!llvm.ptr)
//   func.func private @_symm_device_kernels_meet(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: !llvm.ptr) attributes {symm.device} {
//     %0 = llvm.mlir.addressof @_symm_string_0 : !llvm.ptr
//     %c5_i32 = arith.constant 5 : i32
//     %c1_i64 = arith.constant 1 : i64
//     %c1152921504606846976_i64 = arith.constant 1152921504606846976 : i64
//     %c2_i32 = arith.constant 2 : i32
//     %c67108864_i64 = arith.constant 67108864 : i64
//     %c0_i64 = arith.constant 0 : i64
//     %1 = llvm.load %arg0 invariant {alignment = 8 : i64, tbaa = [#tbaa_tag]} : !llvm.ptr -> i64
//     %2 = arith.extsi %arg2 : i32 to i64
//     %3 = arith.subi %2, %1 : i64
//     %4 = arith.muli %3, %c67108864_i64 : i64
//     %5 = arith.cmpi ult, %arg2, %c2_i32 : i32
//     %6 = arith.select %5, %4, %c1152921504606846976_i64 : i64
//     %7 = llvm.getelementptr %arg1[%6] : (!llvm.ptr, i64) -> !llvm.ptr, i8
//     llvm.store %c1_i64, %7 atomic release {alignment = 8 : i64} : i64, !llvm.ptr
//     call @symm_rt_wake(%7) : (!llvm.ptr) -> ()
//     %8 = call @symm_rt_wait64(%arg0, %arg1, %c5_i32, %c1_i64, %c0_i64, %0) : (!llvm.ptr, !llvm.ptr, i32, i64, i64, !llvm.ptr) -> i32
//     return
//   }
//   func.func @_symm_kernel_kernels_meet(%arg0: !llvm.ptr, %arg1: !llvm.ptr) {
//     %0 = llvm.load %arg0 : !llvm.ptr -> !llvm.ptr
//     %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
//     %2 = llvm.getelementptr %arg0[8] : (!llvm.ptr) -> !llvm.ptr, i8
//     %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
//     %4 = llvm.load %3 : !llvm.ptr -> !llvm.ptr
//     %5 = llvm.getelementptr %arg0[16] : (!llvm.ptr) -> !llvm.ptr, i8
//     %6 = llvm.load %5 : !llvm.ptr -> !llvm.ptr
//     %7 = llvm.load %6 : !llvm.ptr -> i32
//     call @_symm_device_kernels_meet(%1, %4, %7, %arg1) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> ()
//     return
//   }
// }
