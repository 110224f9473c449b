// Under strict an update of another rank's memory that would not reach it is an error (O2); one that may be of this
// GPU's own memory stays a remark.
// RUN: symm-opt %s --symm-nvvm=strict=true --verify-diagnostics

gpu.module @kernels {
  gpu.func @remote(%ctx: !symm.ctx, %m: memref<8xi32>, %x: i32, %peer: i32) kernel {
    %t = gpu.thread_id x
    %all = symm.as_remote %ctx, %m, %peer : memref<8xi32>
    // expected-error @+1 {{'memref.atomic_rmw' op O2: LLVM makes atom.relaxed.gpu of it, which does not reach another rank}}
    %a = memref.atomic_rmw addi %x, %all[%t] : (i32, memref<8xi32>) -> i32
    // expected-remark @+1 {{'memref.atomic_rmw' op O2: reaches the threads of this GPU only}}
    %b = memref.atomic_rmw addi %x, %m[%t] : (i32, memref<8xi32>) -> i32
    gpu.return
  }

  gpu.func @pointers(%ctx: !symm.ctx, %p: !llvm.ptr, %x: i32, %peer: i32) kernel {
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    // expected-error @+1 {{'llvm.atomicrmw' op O2: reaches the threads of this GPU only}}
    %a = llvm.atomicrmw add %q, %x monotonic : !llvm.ptr, i32
    // expected-remark @+1 {{'llvm.atomicrmw' op O2: reaches the threads of this GPU only}}
    %b = llvm.atomicrmw add %p, %x monotonic : !llvm.ptr, i32
    gpu.return
  }
}
