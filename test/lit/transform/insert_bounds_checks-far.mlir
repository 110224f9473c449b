// With an engine, ordinary ops that access a far rank's memory through symm.as_remote are reported (N4); symm's own ops
// reach it, and are checked as without.
// RUN: symm-opt %s --symm-insert-bounds-checks | FileCheck %s

module attributes {symm.engine = "nvshmem", symm.heap_size = 4194304 : i64} {
  // CHECK-LABEL: @through
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !llvm.ptr, %[[PEER:[a-z0-9]+]]: i32
  // CHECK: symm.as_remote
  // CHECK: %[[NEAR:.*]] = symm.is_near %{{.*}}, %[[PEER]]
  // CHECK: %[[FAR:.*]] = arith.xori %[[NEAR]],
  // CHECK-NEXT: scf.if %[[FAR]] {
  // CHECK-NEXT: symm.fault %{{.*}}, "an access through symm.as_remote of rank {}, which is far (N4): its heap is not mapped, so use symm's ops"(%[[PEER]])
  // CHECK: llvm.load
  func.func @through(%ctx: !symm.ctx, %p: !llvm.ptr, %peer: i32) -> f32 {
    %q = symm.as_remote %ctx, %p, %peer : !llvm.ptr
    %v = llvm.load %q : !llvm.ptr -> f32
    return %v : f32
  }

  // CHECK-LABEL: @by_ops
  // CHECK: symm.fault {{.*}} out of range
  // CHECK: symm.fault {{.*}} outside of
  // CHECK-NOT: symm.is_near
  // CHECK: symm.remote_store
  func.func @by_ops(%ctx: !symm.ctx, %p: !llvm.ptr, %v: f32, %peer: i32) {
    symm.remote_store %ctx, %p, %v, %peer : !llvm.ptr, f32
    return
  }
}
