// What is missing is told by who the two are: threads of a block, a host, another launch, blocks of ranks.

// RUN: not symm-check %s --entry block --threads 2 | FileCheck %s --check-prefix=BLOCK
// RUN: not symm-check %s --entry host | FileCheck %s --check-prefix=HOST
// RUN: not symm-check %s --entry launches | FileCheck %s --check-prefix=LAUNCHES
// RUN: not symm-check %s --entry lock --as-written | FileCheck %s --check-prefix=LOCK
// RUN: not symm-check %s --entry not_launched | FileCheck %s --check-prefix=NOT_LAUNCHED
// RUN: not symm-check %s --entry fewer_blocks | FileCheck %s --check-prefix=FEWER
// RUN: not symm-check %s --entry not_come | FileCheck %s --check-prefix=NOT_COME
// RUN: not symm-check %s --entry elsewhere | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not symm-check %s --entry threads --threads 2 | FileCheck %s --check-prefix=THREADS

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // BLOCK: error: race (O1)
    // BLOCK: help: nothing orders the two: a barrier of the block (gpu.barrier) between them
    // BLOCK: error: write-after-read (O1)
    // BLOCK: help: nothing orders the two: a barrier of the block (gpu.barrier) between them
    gpu.func @neighbours(%ctx: !symm.ctx, %data: memref<2xi32>) kernel {
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %id = gpu.thread_id x
      %other = arith.subi %c1, %id : index
      memref.store %one, %data[%id] : memref<2xi32>
      %v = memref.load %data[%other] : memref<2xi32>
      memref.store %v, %data[%id] : memref<2xi32>
      gpu.return
    }

    gpu.func @read(%ctx: !symm.ctx, %data: memref<2xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %peer = arith.subi %one, %me : i32
      %v = symm.remote_load %ctx, %data[%c0], %peer : memref<2xi32> -> i32
      memref.store %v, %data[%c1] : memref<2xi32>
      gpu.return
    }

    gpu.func @write(%ctx: !symm.ctx, %data: memref<2xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      memref.store %one, %data[%c0] : memref<2xi32>
      gpu.return
    }

    // LOCK: error: missing-release (O1)
    // LOCK-NOT: scope gpu
    // LOCK: help: what announces the first access has to release at scope sys
    // LOCK-NOT: scope gpu
    gpu.func @lock(%ctx: !symm.ctx, %data: memref<2xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.while : () -> () {
        %old = symm.atomic_cas %ctx, %data[%c0], %zero, %one, %zero sem acquire : memref<2xi32>, i32
        %busy = arith.cmpi ne, %old, %zero : i32
        scf.condition(%busy)
      } do {
        scf.yield
      }
      %v = symm.remote_load %ctx, %data[%c1], %zero : memref<2xi32> -> i32
      %next = arith.addi %v, %one : i32
      symm.remote_store %ctx, %data[%c1], %next, %zero : memref<2xi32>, i32
      %held = symm.atomic_rmw xchg %ctx, %data[%c0], %zero, %zero sem relaxed : memref<2xi32>, i32
      gpu.return
    }

    // NOT_LAUNCHED: error: never-signalled
    // NOT_LAUNCHED: is at a barrier of all ranks, to which rank 1 block 0 does not come:
    // NOT_LAUNCHED-SAME: rank 1 has not launched a kernel
    // NOT_LAUNCHED: help: every rank has to launch the kernel
    // FEWER: rank 1 block 1 thread 0: is at a barrier of all ranks, to which rank 0 block 1 does not come:
    // FEWER-SAME: rank 0 has not launched block 1
    // THREADS: error: race (O1)
    // THREADS: thread 0: is at a barrier of all ranks, as a thread alone
    // THREADS: thread 1: is at a barrier of all ranks, as a thread alone
    // THREADS: help: a block comes to it once: give it group block, or let one thread of the block come to it
    gpu.func @barrier(%ctx: !symm.ctx, %data: memref<2xi32>) kernel {
      symm.barrier %ctx
      gpu.return
    }

    // NOT_COME: rank 0 block 0 thread 0: is at a barrier of all ranks, to which rank 1 block 0 does not come:
    // NOT_COME-SAME: all that rank 1 has launched has ended
    gpu.func @leaves(%ctx: !symm.ctx, %data: memref<2xi32>) kernel {
      %zero = arith.constant 0 : i32
      %me = symm.rank %ctx
      %first = arith.cmpi eq, %me, %zero : i32
      scf.if %first {
        symm.barrier %ctx
      }
      gpu.return
    }

    // One thread of rank 1 has started, and has not ended.
    // ELSEWHERE: rank 0 block 0 thread 0: is at a barrier of all ranks, to which rank 1 block 0 does not come:
    // ELSEWHERE-SAME: it waits
    gpu.func @waits_before(%ctx: !symm.ctx, %flag: memref<2xi32>) kernel {
      %at = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %me = symm.rank %ctx
      %second = arith.cmpi eq, %me, %one : i32
      scf.if %second {
        symm.wait %ctx, %flag[%at] ge %one : memref<2xi32>, i32
      }
      symm.barrier %ctx
      gpu.return
    }
  }

  func.func @block(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@neighbours blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }

  // HOST: error: race (O1)
  // HOST: host: writes 8 bytes
  // HOST: help: nothing orders the two: a barrier of all hosts (symm.barrier_all) between them
  func.func @host(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    %mine = memref.alloc() : memref<2xi32>
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    memref.store %one, %mine[%c0] : memref<2xi32>
    memref.store %one, %mine[%c1] : memref<2xi32>
    gpu.memcpy %data, %mine : memref<2xi32>, memref<2xi32>
    gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }

  // LAUNCHES: error: race (O1)
  // LAUNCHES: help: nothing orders the two: signal after the first, and wait before the second;
  // LAUNCHES-SAME: they are of two launches, and a barrier of all hosts (symm.barrier_all) between these orders them
  func.func @launches(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }

  func.func @lock(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@lock blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }

  func.func @not_launched(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    %zero = arith.constant 0 : i32
    %me = symm.rank %ctx
    %first = arith.cmpi eq, %me, %zero : i32
    scf.if %first {
      gpu.launch_func @kernels::@barrier blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%ctx : !symm.ctx, %data : memref<2xi32>)
    }
    return
  }

  func.func @fewer_blocks(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    %me = symm.rank %ctx
    %rank = arith.index_cast %me : i32 to index
    %blocks = arith.addi %rank, %c1 : index
    gpu.launch_func @kernels::@barrier blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }

  func.func @not_come(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@leaves blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }

  func.func @elsewhere(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@waits_before blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }

  func.func @threads(%ctx: !symm.ctx) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %data = symm.alloc %ctx : memref<2xi32>
    gpu.launch_func @kernels::@barrier blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
      args(%ctx : !symm.ctx, %data : memref<2xi32>)
    return
  }
}
