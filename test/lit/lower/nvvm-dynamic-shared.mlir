// Dynamic shared memory lies behind the words that are ours: it is declared, as CUDA's `extern __shared__` is. MLIR
// defines it with no bytes, of which the backend makes one, and puts the next variable behind that.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s

gpu.module @kernels {
  // CHECK-NOT: .b8 __dynamic_shmem__0;
  // CHECK: .extern .shared .align 16 .b8 __dynamic_shmem__0[];
  // CHECK: .shared .align 4 .b8 _symm_shared_words[128];
  gpu.func @kernel(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<1xi64>, %one: i64, %ns: i64) kernel {
    %zero = arith.constant 0 : index
    %thread = gpu.thread_id x
    %value = memref.load %m[%thread] : memref<1024xf32>
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %shared = memref.view %bytes[%zero][]
      : memref<?xi8, #gpu.address_space<workgroup>> to memref<1024xf32, #gpu.address_space<workgroup>>
    memref.store %value, %shared[%thread] : memref<1024xf32, #gpu.address_space<workgroup>>
    %in_time = symm.wait %ctx, %flag[%zero] ge %one timeout %ns group block : memref<1xi64>, i64 -> i1
    scf.if %in_time {
      %back = memref.load %shared[%zero] : memref<1024xf32, #gpu.address_space<workgroup>>
      memref.store %back, %m[%thread] : memref<1024xf32>
    }
    gpu.return
  }
}
