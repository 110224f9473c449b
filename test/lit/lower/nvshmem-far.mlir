// With an engine every op that names a rank has its near path inlined, and calls NVSHMEM's device functions where the
// rank is far (N1 to N3).
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 | FileCheck %s

module attributes {symm.engine = "nvshmem"} {
  gpu.module @kernels {
    // CHECK-DAG: llvm.func @nvshmemx_signal_op(!llvm.ptr, i64, i32, i32)
    // CHECK-DAG: llvm.func @nvshmem_quiet()
    // CHECK-DAG: llvm.func @nvshmemx_putmem_signal_block(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64, i32, i32)

    // CHECK-LABEL: gpu.func @signal(
    gpu.func @signal(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %peer: i32) kernel {
      // CHECK: scf.if
      // CHECK: llvm.store {{.*}} release
      // CHECK: } else {
      // CHECK: llvm.fence release
      // CHECK: llvm.call @nvshmemx_signal_op(
      // CHECK: llvm.call @nvshmem_quiet()
      symm.signal set %ctx, %flag[%i], %v, %peer : memref<4xi64>, i64
      gpu.return
    }

    // CHECK-LABEL: gpu.func @own(
    gpu.func @own(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64) kernel {
      // CHECK-NOT: llvm.call
      %me = symm.rank %ctx
      symm.signal set %ctx, %flag[%i], %v, %me : memref<4xi64>, i64
      // CHECK: gpu.return
      gpu.return
    }

    // CHECK-LABEL: gpu.func @put_signal(
    gpu.func @put_signal(%ctx: !symm.ctx, %a: memref<64xf32>, %flag: memref<4xi64>, %i: index, %v: i64, %peer: i32)
        kernel {
      // CHECK: func.call @_symm_copy_4x
      // CHECK: } else {
      // CHECK: llvm.call @nvshmemx_putmem_signal_block(
      // CHECK: llvm.call @nvshmem_quiet()
      // CHECK: gpu.barrier
      symm.put_signal set %ctx, %a, %a, %flag[%i], %v, %peer group block
        : memref<64xf32>, memref<64xf32>, memref<4xi64>, i64
      gpu.return
    }

    // A smaller value is swapped in with the word around it.
    // CHECK-LABEL: gpu.func @narrow(
    gpu.func @narrow(%ctx: !symm.ctx, %a: memref<64xf16>, %i: index, %v: f16, %peer: i32) kernel {
      // CHECK: llvm.call @nvshmem_uint32_atomic_fetch(
      // CHECK: scf.while
      // CHECK: llvm.call @nvshmem_uint32_atomic_compare_swap(
      %old = symm.atomic_rmw fadd %ctx, %a[%i], %v, %peer : memref<64xf16>, f16
      gpu.return
    }

    // The address in this rank's heap stays what it was.
    // CHECK-LABEL: gpu.func @pointer(
    gpu.func @pointer(%ctx: !symm.ctx, %p: !llvm.ptr, %v: i32, %peer: i32) kernel {
      // CHECK: %[[OWN:.*]] = llvm.getelementptr %{{.*}}[12]
      // CHECK: llvm.getelementptr %[[OWN]]
      // CHECK: } else {
      // CHECK: llvm.call @nvshmem_uint32_p(
      %at = llvm.getelementptr %p[12] : (!llvm.ptr) -> !llvm.ptr, i8
      symm.remote_store %ctx, %at, %v, %peer : !llvm.ptr, i32
      gpu.return
    }
  }
}
