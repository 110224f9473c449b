// Dynamic shared memory lies after the words that are ours: it is declared, as CUDA's `extern __shared__` is. MLIR
// defines it with no bytes, of which the backend makes one, and puts the next variable after that.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s

gpu.module @kernels {
  // CHECK-NOT: .b8 __dynamic_shmem__0;
  // CHECK: .extern .shared .align 16 .b8 __dynamic_shmem__0[];
  // A variable of the program's own, whatever its name.
  // CHECK: .shared .align 4 .b8 __dynamic_shmem__tile[256];
  memref.global "private" @__dynamic_shmem__tile : memref<64xf32, 3>
  gpu.func @tile(%out: memref<64xf32>) kernel {
    %thread = gpu.thread_id x
    %tile = memref.get_global @__dynamic_shmem__tile : memref<64xf32, 3>
    %x = memref.load %out[%thread] : memref<64xf32>
    memref.store %x, %tile[%thread] : memref<64xf32, 3>
    gpu.barrier
    %c0 = arith.constant 0 : index
    %y = memref.load %tile[%c0] : memref<64xf32, 3>
    memref.store %y, %out[%thread] : memref<64xf32>
    gpu.return
  }

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
