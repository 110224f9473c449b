// In a module with an engine each access of a peer asks the table whether it is near (N1): then it is what it is without
// one, and a call of the runtime otherwise (N2).
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s

module attributes {symm.engine = "openshmem", symm.num_ranks = 4 : i32} {
  // The reach of a rank is 8 words after its base: 4 bases and 2 words of extensions lie between.
  // CHECK-LABEL: func.func @is_near(
  // CHECK-SAME: %[[TABLE:.*]]: !llvm.ptr, %[[PEER:.*]]: i32
  func.func @is_near(%ctx: !symm.ctx, %peer: i32) -> i1 {
    // A rank that is out of range has no heap.
    // CHECK-DAG: %[[FAR:.*]] = arith.constant 0 : i64
    // CHECK-DAG: %[[BEFORE:.*]] = arith.constant 8 : i64
    // CHECK: %[[IN_RANGE:.*]] = arith.cmpi ult, %[[PEER]]
    // CHECK: arith.addi %{{.*}}, %[[BEFORE]] : i64
    // CHECK: %[[WORD:.*]] = llvm.load %{{.*}} invariant
    // CHECK: %[[REACH:.*]] = arith.select %[[IN_RANGE]], %[[WORD]], %[[FAR]] : i64
    // CHECK: arith.cmpi slt, %[[REACH]], %[[FAR]] : i64
    %near = symm.is_near %ctx, %peer
    return %near : i1
  }

  // CHECK-LABEL: func.func @accesses(
  func.func @accesses(%ctx: !symm.ctx, %p: !llvm.ptr, %m: memref<8xi32>, %f: memref<4xi64>, %v: i64, %w: i32, %x: f32,
                      %peer: i32, %i: index) {
    // CHECK: scf.if
    // CHECK-NEXT: llvm.store %{{.*}} : i64, !llvm.ptr
    // CHECK-NEXT: } else {
    // CHECK: func.call @symm_rt_far_copy(
    symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, i64
    // CHECK: scf.if
    // CHECK: "llvm.intr.memcpy"
    // CHECK: } else {
    // CHECK: func.call @symm_rt_far_copy(
    symm.put %ctx, %m, %m, %peer : memref<8xi32>, memref<8xi32>
    // CHECK: scf.if
    // CHECK-NEXT: llvm.store %{{.*}} atomic release
    // CHECK-NEXT: } else {
    // CHECK: func.call @symm_rt_far_update(
    symm.signal set %ctx, %f[%i], %v, %peer : memref<4xi64>, i64
    // CHECK: scf.if
    // CHECK: llvm.atomicrmw max
    // CHECK: } else {
    // CHECK: func.call @symm_rt_far_update(
    %max = symm.atomic_rmw max %ctx, %m[%i], %w, %peer : memref<8xi32>, i32
    // A sum of floats is swapped in.
    // CHECK: scf.if
    // CHECK: llvm.atomicrmw fadd
    // CHECK: } else {
    // CHECK: scf.while
    // CHECK: arith.addf
    // CHECK: func.call @symm_rt_far_update(
    %sum = symm.atomic_rmw fadd %ctx, %p, %x, %peer : !llvm.ptr, f32
    return
  }

  // A vector is one call, under a mask if all of its lanes are on.
  // CHECK-LABEL: func.func @vectors(
  // CHECK-SAME: %[[MASK:[^:]*]]: vector<4xi1>
  func.func @vectors(%mask: vector<4xi1>, %ctx: !symm.ctx, %p: !llvm.ptr, %v: vector<4xi32>, %peer: i32)
      -> vector<4xi32> {
    // CHECK-DAG: %[[ELEMENT:.*]] = arith.constant 4 : i64
    // CHECK-DAG: %[[ALL:.*]] = arith.constant 16 : i64
    // CHECK: } else {
    // CHECK: call @symm_rt_far_copy(%{{.*}}, %{{.*}}, %{{.*}}, %[[ALL]],
    // CHECK-NOT: symm_rt_far_copy
    symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, vector<4xi32>
    // CHECK: llvm.intr.masked.store
    // CHECK: %[[FULL:.*]] = "llvm.intr.vector.reduce.and"(%[[MASK]])
    // CHECK: scf.if %[[FULL]]
    // CHECK-NEXT: call @symm_rt_far_copy(%{{.*}}, %{{.*}}, %{{.*}}, %[[ALL]],
    // CHECK-NEXT: } else {
    // CHECK-COUNT-4: call @symm_rt_far_copy(%{{.*}}, %{{.*}}, %{{.*}}, %[[ELEMENT]],
    symm.remote_store %ctx, %p, %v, %peer mask %mask : vector<4xi1> : !llvm.ptr, vector<4xi32>
    // CHECK: llvm.intr.masked.load
    // CHECK: %[[FULL:.*]] = "llvm.intr.vector.reduce.and"(%[[MASK]])
    // CHECK: scf.if %[[FULL]]
    // CHECK-NEXT: call @symm_rt_far_copy(%{{.*}}, %{{.*}}, %{{.*}}, %[[ALL]],
    // CHECK: } else {
    // CHECK-COUNT-4: call @symm_rt_far_copy(%{{.*}}, %{{.*}}, %{{.*}}, %[[ELEMENT]],
    %got = symm.remote_load %ctx, %p, %peer mask %mask : vector<4xi1> other %v : vector<4xi32>
        : !llvm.ptr -> vector<4xi32>
    return %got : vector<4xi32>
  }
}
