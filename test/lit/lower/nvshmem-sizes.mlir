// With an engine a kernel gets no more registers than blocks of any size have for each thread: the calls take some.
// Where the program says how large its blocks are, that counts; without an engine nothing is said.
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_90 --split-input-file | FileCheck %s

module attributes {symm.engine = "nvshmem"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @any
    // CHECK-SAME: nvvm.maxntid = array<i32: 1024>
    gpu.func @any(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %peer: i32) kernel {
      symm.signal set %ctx, %flag[%i], %v, %peer : memref<4xi64>, i64
      gpu.return
    }

    // CHECK-LABEL: gpu.func @known
    // CHECK-NOT: nvvm.maxntid
    // CHECK: gpu.return
    gpu.func @known(%p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
  }
}

// -----

module {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @without
    // CHECK-NOT: nvvm.maxntid
    // CHECK: gpu.return
    gpu.func @without(%p: !llvm.ptr) kernel {
      gpu.return
    }
  }
}
