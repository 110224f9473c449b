// The bulk copy engine in PTX: the mbarriers and what threads wrote are handed to it by a fence of each thread and a
// barrier of the block, it is waited for, and a second barrier hands on what it wrote, where somebody may read that: a
// signal's own, if there is one. Where the threads copy instead, they have a barrier where they need one. Nothing in it
// is divided for.
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix COUNTED
// RUN: symm-translate %s --to ptx --chip sm_90 -O 0 | FileCheck %s --check-prefix LIBRARY

// The bytes before and after those that the engine takes are read by threads, which others have written: after the
// barrier, too. The threads store them after the engine, so that no store lies between the fences and the engine.
// LIBRARY-LABEL: .func _symm_bulk_copy_4x4(
// LIBRARY-NOT: call.uni _symm_copy
// LIBRARY:     mbarrier.init
// LIBRARY-NOT: call.uni _symm_copy
// LIBRARY:     fence.proxy.async;
// LIBRARY-NOT: call.uni _symm_copy
// LIBRARY:     bar.sync
// LIBRARY-NOT: call.uni _symm_copy
// LIBRARY:     call.uni _symm_bulk_engine,
// LIBRARY:     call.uni _symm_copy_4x4,
// LIBRARY:     call.uni _symm_copy_4x4,
// LIBRARY:     bar.sync
// LIBRARY:     call.uni _symm_copy_4x4,
// LIBRARY:     ret;

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
    // CHECK-NOT:   {{fence|bar\.sync}}
    // CHECK:       ret;
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

    // What threads have written is handed over by a fence of each of them. Where they copy instead, they meet as well.
    // CHECK-LABEL: .entry written(
    // CHECK:       st.global.b32
    // CHECK-NOT:   {{ld.global|bar\.sync|cp.async}}
    // CHECK:       fence.proxy.async;
    // CHECK-COUNT-2: bar.sync 0;
    // CHECK-NOT:   bar.sync
    // CHECK:       ret;
    gpu.func @written(%ctx: !symm.ctx, %src: !llvm.ptr<1>, %dst: !llvm.ptr<1>, %n: i64, %x: i32, %rank: i32) kernel {
      %t = gpu.thread_id x
      %i = arith.index_cast %t : index to i64
      %at = llvm.getelementptr %src[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      llvm.store %x, %at : i32, !llvm.ptr<1>
      symm.put %ctx, %src, %dst, %rank count %n : i64 of f32 group block engine bulk : !llvm.ptr<1>, !llvm.ptr<1>
      gpu.return
    }

    // What is fetched is read by all.
    // CHECK-LABEL: .entry get(
    // CHECK:       fence.proxy.async;
    // CHECK:       bar.sync 0;
    // CHECK:       cp.async.bulk.wait_group 0;
    // CHECK-NOT:   fence
    // CHECK:       bar.sync 0;
    // CHECK:       ld.global.b32
    // CHECK-NOT:   bar.sync
    // CHECK:       ret;
    gpu.func @get(%ctx: !symm.ctx, %src: !llvm.ptr<1>, %dst: !llvm.ptr<1>, %n: i64, %out: memref<1024xi32>, %rank: i32)
        kernel {
      symm.get %ctx, %src, %dst, %rank count %n : i64 of f32 group block engine bulk : !llvm.ptr<1>, !llvm.ptr<1>
      %t = gpu.thread_id x
      %i = arith.index_cast %t : index to i64
      %at = llvm.getelementptr %dst[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %x = llvm.load %at : !llvm.ptr<1> -> i32
      memref.store %x, %out[%t] : memref<1024xi32>
      gpu.return
    }

    // Rows: the block meets before all of them, and for each that the engine takes.
    // CHECK-LABEL: .entry rows(
    // CHECK:       st.global.b32
    // CHECK-NOT:   {{ld.global|fence.proxy|cp.async}}
    // CHECK:       bar.sync 0;
    // CHECK:       fence.proxy.async;
    // CHECK:       bar.sync 0;
    // CHECK-NOT:   bar.sync
    // CHECK:       ret;
    gpu.func @rows(%ctx: !symm.ctx, %a: memref<8x65536xi32, strided<[131072, 1]>>,
                   %b: memref<8x65536xi32, strided<[131072, 1]>>, %x: i32, %rank: i32) kernel {
      %c0 = arith.constant 0 : index
      %t = gpu.thread_id x
      memref.store %x, %a[%c0, %t] : memref<8x65536xi32, strided<[131072, 1]>>
      symm.put %ctx, %a, %b, %rank group block engine bulk
        : memref<8x65536xi32, strided<[131072, 1]>>, memref<8x65536xi32, strided<[131072, 1]>>
      gpu.return
    }
  }
}
