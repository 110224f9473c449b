// The bulk copy engine in PTX: the mbarriers and what threads wrote are handed to it by one fence and a barrier of the
// block, it is waited for, and a second barrier hands on what it wrote: a signal's own, if there is one. Nothing in it is
// divided for.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix COUNTED

// COUNTED-NOT: div.
// COUNTED-NOT: rem.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: .entry put(
    // CHECK-NOT:   fence
    // CHECK:       mbarrier.init.shared::cta.b64
    // CHECK:       fence.proxy.async;
    // CHECK-NOT:   fence
    // CHECK:       bar.sync 0;
    // CHECK:       mbarrier.arrive.expect_tx.shared::cta.b64
    // CHECK:       cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
    // CHECK:       mbarrier.try_wait.parity.shared::cta.b64
    // CHECK:       cp.async.bulk.global.shared::cta.bulk_group
    // CHECK:       cp.async.bulk.commit_group;
    // CHECK:       cp.async.bulk.wait_group.read 1;
    // CHECK:       cp.async.bulk.wait_group 0;
    // CHECK-NOT:   fence
    // CHECK:       mbarrier.inval.shared::cta.b64
    // CHECK-NOT:   fence
    // CHECK:       bar.sync 0;
    gpu.func @put(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %rank: i32) kernel {
      symm.put %ctx, %src, %dst, %rank count %n : i64 of f32 group block engine bulk : !llvm.ptr, !llvm.ptr
      gpu.return
    }

    // CHECK-LABEL: .entry put_signal(
    // CHECK:       fence.proxy.async;
    // CHECK:       bar.sync 0;
    // CHECK:       cp.async.bulk.wait_group 0;
    // CHECK:       bar.sync 0;
    // CHECK-NOT:   bar.sync
    // CHECK:       st.release.sys.global.b64
    // CHECK-NOT:   bar.sync
    // CHECK:       ret;
    gpu.func @put_signal(%ctx: !symm.ctx, %src: !llvm.ptr, %dst: !llvm.ptr, %n: i64, %flag: memref<1xi64>, %v: i64,
                         %rank: i32) kernel {
      %c0 = arith.constant 0 : index
      symm.put_signal set %ctx, %src, %dst, %flag[%c0], %v, %rank count %n : i64 of f32 group block engine bulk
        : !llvm.ptr, !llvm.ptr, memref<1xi64>, i64
      gpu.return
    }
  }
}
