// RUN: symm-opt %s --symm-infer-order --allow-unregistered-dialect | FileCheck %s
// A fence right after an acquire wait does nothing where all that comes before the wait are plain accesses and barriers
// of any dialect. It stays after what may have seen a flag: a volatile access, an atomic, and what nothing is known of.

gpu.module @k {
  // CHECK-LABEL: gpu.func @accesses
  // CHECK: symm.wait
  // CHECK-NOT: symm.fence
  // CHECK: gpu.return
  gpu.func @accesses(%ctx: !symm.ctx, %m: memref<16xf32>, %flag: memref<8xi64>, %i: index, %v: i64,
      %mask: vector<4xi1>, %old: vector<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    affine.for %j = 0 to 4 {
      %x = affine.load %m[%j] : memref<16xf32>
      affine.store %x, %m[%j] : memref<16xf32>
    }
    %a = vector.maskedload %m[%c0], %mask, %old : memref<16xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.maskedstore %m[%c0], %mask, %a : memref<16xf32>, vector<4xi1>, vector<4xf32>
    memref.copy %m, %m : memref<16xf32> to memref<16xf32>
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }

  // CHECK-LABEL: gpu.func @barriers
  // CHECK: symm.wait
  // CHECK-NOT: symm.fence
  // CHECK: gpu.return
  gpu.func @barriers(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64, %n: index, %word: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %w = arith.constant 32 : i32
    nvvm.barrier
    rocdl.barrier
    nvvm.bar.warp.sync %word : i32
    %other, %valid = gpu.shuffle xor %word, %word, %w : i32
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      memref.store %v, %flag[%j] : memref<8xi64>
    }
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }

  // CHECK-LABEL: gpu.func @volatile
  // CHECK: symm.wait
  // CHECK-NEXT: symm.fence sem acquire
  gpu.func @volatile(%ctx: !symm.ctx, %p: !llvm.ptr, %flag: memref<8xi64>, %i: index, %v: i64) kernel {
    %seen = llvm.load volatile %p : !llvm.ptr -> i64
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }

  // CHECK-LABEL: gpu.func @relaxed
  // CHECK: symm.wait
  // CHECK-NEXT: symm.fence sem acquire
  gpu.func @relaxed(%ctx: !symm.ctx, %p: !llvm.ptr, %flag: memref<8xi64>, %i: index, %v: i64) kernel {
    %seen = llvm.load %p atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }

  // CHECK-LABEL: gpu.func @updates
  // CHECK: symm.wait
  // CHECK-NEXT: symm.fence sem acquire
  gpu.func @updates(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64) kernel {
    scf.parallel (%j) = (%i) to (%i) step (%i) {
      %old = memref.atomic_rmw addi %v, %flag[%j] : (i64, memref<8xi64>) -> i64
    }
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }

  // CHECK-LABEL: gpu.func @anything
  // CHECK: symm.wait
  // CHECK-NEXT: symm.fence sem acquire
  gpu.func @anything(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %v: i64) kernel {
    "test.anything"() : () -> ()
    symm.wait %ctx, %flag[%i] eq %v : memref<8xi64>, i64
    symm.fence sem acquire
    gpu.return
  }
}
