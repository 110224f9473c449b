// What all threads of a block reach together gets one fence before its loop; nothing else does.
// RUN: symm-opt %s --symm-infer-order | FileCheck %s

gpu.module @kernels {
  // The number of the block, sizes and constants are the same in all of its threads, and so is what is made of them.
  // CHECK-LABEL: gpu.func @together
  gpu.func @together(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %block = gpu.block_id x
    %size = gpu.block_dim x
    %from = arith.muli %block, %size : index
    %is_first = arith.cmpi eq, %block, %c0 : index
    // CHECK: scf.if
    // CHECK-NEXT: scf.for
    // CHECK-NEXT: memref.store
    // CHECK-NEXT: symm.fence sem release group block
    // CHECK-NEXT: scf.for
    // CHECK: symm.signal set {{.*}} sem relaxed group block
    scf.if %is_first {
      scf.for %k = %from to %n step %size {
        memref.store %v, %flag[%k] : memref<8xi64>
        scf.for %peer = %c0 to %n step %c1 {
          %p = arith.index_cast %peer : index to i32
          symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
        }
      }
    }
    gpu.return
  }

  // Within a loop from the number of the thread, and under a condition from memory.
  // CHECK-LABEL: gpu.func @apart
  gpu.func @apart(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %ends: memref<8xi1>) kernel {
    %c1 = arith.constant 1 : index
    %thread = gpu.thread_id x
    %some = memref.load %ends[%i] : memref<8xi1>
    // CHECK-NOT: symm.fence
    // CHECK-NOT: relaxed
    // CHECK: gpu.return
    scf.for %k = %thread to %i step %c1 {
      memref.store %v, %flag[%k] : memref<8xi64>
      scf.for %peer = %c1 to %i step %c1 {
        %p = arith.index_cast %peer : index to i32
        symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
      }
    }
    scf.if %some {
      scf.for %peer = %c1 to %i step %c1 {
        %p = arith.index_cast %peer : index to i32
        symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
      }
    }
    gpu.return
  }

  // In a block that a branch leads to, and within a loop as long as a value that one carries says.
  // CHECK-LABEL: gpu.func @elsewhere
  gpu.func @elsewhere(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %thread = gpu.thread_id x
    // CHECK-NOT: symm.fence
    // CHECK-NOT: relaxed
    // CHECK: gpu.return
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%m = %thread) -> index {
      scf.for %j = %c0 to %m step %c1 {
        memref.store %v, %flag[%j] : memref<8xi64>
        scf.for %peer = %c1 to %i step %c1 {
          %p = arith.index_cast %peer : index to i32
          symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
        }
      }
      %next = arith.addi %m, %c1 : index
      scf.yield %next : index
    }
    %some = arith.cmpi ult, %thread, %last : index
    cf.cond_br %some, ^some, ^end
  ^some:
    scf.for %peer = %c1 to %i step %c1 {
      %p = arith.index_cast %peer : index to i32
      symm.signal set %ctx, %flag[%i], %v, %p group block : memref<8xi64>, i64
    }
    cf.br ^end
  ^end:
    gpu.return
  }
}
