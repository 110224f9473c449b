// The threads of one block: shared memory, barriers, groups.

// RUN: symm-check %s --ranks 1 --entry right --schedules 5 | FileCheck %s --check-prefix=RIGHT
// RUN: not symm-check %s --ranks 1 --entry no_barrier | FileCheck %s --check-prefix=NONE
// RUN: not symm-check %s --ranks 1 --entry divergent | FileCheck %s --check-prefix=DIVERGENT
// RUN: not symm-check %s --ranks 1 --entry unwritten | FileCheck %s --check-prefix=UNWRITTEN

// RIGHT: symm-check: nothing found

!buffer = memref<4xi32, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Each thread reads what its neighbour has written.
    gpu.func @right(%out: memref<4xi32>) workgroup(%shared: !buffer) kernel {
      %c1 = arith.constant 1 : index
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %value = arith.index_cast %thread : index to i32
      memref.store %value, %shared[%thread] : !buffer
      gpu.barrier
      %after = arith.addi %thread, %c1 : index
      %next = arith.remui %after, %threads : index
      %v = memref.load %shared[%next] : !buffer
      memref.store %v, %out[%thread] : memref<4xi32>
      gpu.return
    }

    // NONE: error: {{race|write-after-read|never-written}}
    // NONE: of the blocks' shared memory
    gpu.func @no_barrier(%out: memref<4xi32>) workgroup(%shared: !buffer) kernel {
      %c1 = arith.constant 1 : index
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %value = arith.index_cast %thread : index to i32
      memref.store %value, %shared[%thread] : !buffer
      %after = arith.addi %thread, %c1 : index
      %next = arith.remui %after, %threads : index
      %v = memref.load %shared[%next] : !buffer
      memref.store %v, %out[%thread] : memref<4xi32>
      gpu.return
    }

    // DIVERGENT: error: barrier-divergence (O3)
    // DIVERGENT: is at a barrier to which these do not come: rank 0 block 0 thread 0
    gpu.func @divergent(%out: memref<4xi32>) workgroup(%shared: !buffer) kernel {
      %c0 = arith.constant 0 : index
      %thread = gpu.thread_id x
      %others = arith.cmpi ne, %thread, %c0 : index
      scf.if %others {
        gpu.barrier
      }
      gpu.return
    }

    // UNWRITTEN: error: never-written
    gpu.func @unwritten(%out: memref<4xi32>) workgroup(%shared: !buffer) kernel {
      %thread = gpu.thread_id x
      %v = memref.load %shared[%thread] : !buffer
      memref.store %v, %out[%thread] : memref<4xi32>
      gpu.return
    }
  }

  func.func @right(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %out = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@right blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%out : memref<4xi32>)
    return
  }

  func.func @no_barrier(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %out = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@no_barrier blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%out : memref<4xi32>)
    return
  }

  func.func @divergent(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %out = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@divergent blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%out : memref<4xi32>)
    return
  }

  func.func @unwritten(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %out = symm.alloc %ctx : memref<4xi32>
    gpu.launch_func @kernels::@unwritten blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%out : memref<4xi32>)
    return
  }
}
