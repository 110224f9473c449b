// A relaxed atomic update of a flag, an array that the function waits for, is checked as a relaxed signal is (O1).
// RUN: symm-opt %s --symm-check-memory-order --verify-diagnostics | FileCheck %s
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s --check-prefix=PTX
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=AMD

gpu.module @kernels {
  // A slot is read, and given back: the peer that waits for the credit writes over it.
  // CHECK-LABEL: gpu.func @credit(
  // CHECK: symm.atomic_rmw add {{.*}} sem release :
  // PTX-LABEL: .entry credit(
  // PTX: ld.global.b32
  // PTX: atom.release.sys.global.add.u32
  // AMD-LABEL: credit:
  // AMD: global_load_dword
  // AMD: buffer_wbl2 sc0 sc1
  // AMD-NEXT: s_waitcnt vmcnt(0)
  // AMD: global_atomic_add
  gpu.func @credit(%ctx: !symm.ctx, %slot: memref<8xi32>, %credits: memref<4xi32>, %out: memref<8xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    symm.wait %ctx, %credits[%c1] ge %one : memref<4xi32>, i32
    %v = memref.load %slot[%c0] : memref<8xi32>
    // expected-remark @below {{'symm.atomic_rmw' op O1: relaxed, but reads come before it without a release fence: a peer may overwrite what they read; made release}}
    %0 = symm.atomic_rmw add %ctx, %credits[%c0], %one, %peer sem relaxed : memref<4xi32>, i32
    memref.store %v, %out[%c0] : memref<8xi32>
    gpu.return
  }

  // Through a view, with an exchange; and a comparison, after a write.
  // CHECK-LABEL: gpu.func @others(
  // CHECK: symm.atomic_rmw xchg {{.*}} sem release :
  // CHECK: symm.atomic_cas {{.*}} sem release :
  // PTX-LABEL: .entry others(
  // PTX: atom.release.sys.global.exch.b32
  // PTX: atom.release.sys.global.cas.b32
  // AMD-LABEL: others:
  gpu.func @others(%ctx: !symm.ctx, %slot: memref<8xi32>, %credits: memref<4xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %view = memref.cast %credits : memref<4xi32> to memref<?xi32>
    %v = symm.remote_load %ctx, %slot[%c0], %peer : memref<8xi32> -> i32
    // expected-remark @below {{but reads come before it without a release fence}}
    %0 = symm.atomic_rmw xchg %ctx, %view[%c0], %v, %peer sem relaxed : memref<?xi32>, i32
    symm.remote_store %ctx, %slot[%c0], %one, %peer : memref<8xi32>, i32
    // expected-remark @below {{'symm.atomic_cas' op O1: relaxed, but writes come before it without a release fence; made release}}
    %1 = symm.atomic_cas %ctx, %credits[%c0], %v, %one, %peer sem relaxed : memref<4xi32>, i32
    symm.wait %ctx, %view[%c0] ge %one : memref<?xi32>, i32
    gpu.return
  }

  // A fence covers it, and updates of flags follow each other as signals do.
  // CHECK-LABEL: gpu.func @covered(
  // PTX-LABEL: .entry covered(
  // CHECK-COUNT-2: symm.atomic_rmw add {{.*}} sem relaxed :
  // CHECK: symm.signal {{.*}} sem relaxed :
  gpu.func @covered(%ctx: !symm.ctx, %slot: memref<8xi32>, %credits: memref<4xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %v = memref.load %slot[%c0] : memref<8xi32>
    symm.fence sem release
    %0 = symm.atomic_rmw add %ctx, %credits[%c0], %v, %peer sem relaxed : memref<4xi32>, i32
    %1 = symm.atomic_rmw add %ctx, %credits[%c0], %one, %peer sem relaxed : memref<4xi32>, i32
    symm.signal add %ctx, %credits[%c0], %one, %peer sem relaxed : memref<4xi32>, i32
    symm.wait %ctx, %credits[%c0] ge %one : memref<4xi32>, i32
    gpu.return
  }

  // Signals to a block of ranks, and polls of several flags, of which a Triton kernel makes atomics.
  // CHECK-LABEL: gpu.func @blocks(
  // CHECK: symm.atomic_rmw xchg {{.*}} is_signal sem release :
  // CHECK: symm.atomic_rmw or {{.*}} is_wait sem acquire :
  // PTX-LABEL: .entry blocks(
  // PTX: atom.release.sys.global.exch.b32
  // PTX: atom.acquire.sys.global.or.b32
  // AMD-LABEL: blocks:
  gpu.func @blocks(%ctx: !symm.ctx, %data: memref<8xi32>, %flags: memref<4xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    symm.remote_store %ctx, %data[%c0], %one, %peer : memref<8xi32>, i32
    // expected-remark @below {{'symm.atomic_rmw' op O1: relaxed, but writes come before it without a release fence; made release}}
    %0 = symm.atomic_rmw xchg %ctx, %flags[%c0], %one, %peer is_signal sem relaxed : memref<4xi32>, i32
    // expected-remark @below {{'symm.atomic_rmw' op O1: relaxed, but reads come after it without an acquire fence; made acquire}}
    %1 = symm.atomic_rmw or %ctx, %flags[%c0], %zero, %me is_wait sem relaxed : memref<4xi32>, i32
    %v = memref.load %data[%c0] : memref<8xi32>
    memref.store %v, %data[%c0] : memref<8xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @fenced_blocks(
  // CHECK: symm.atomic_rmw xchg {{.*}} is_signal sem relaxed :
  // CHECK: symm.atomic_rmw or {{.*}} is_wait sem relaxed :
  gpu.func @fenced_blocks(%ctx: !symm.ctx, %data: memref<8xi32>, %flags: memref<4xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %me = symm.rank %ctx
    symm.remote_store %ctx, %data[%c0], %one, %peer : memref<8xi32>, i32
    symm.fence sem release
    %0 = symm.atomic_rmw xchg %ctx, %flags[%c0], %one, %peer is_signal sem relaxed : memref<4xi32>, i32
    %1 = symm.atomic_rmw or %ctx, %flags[%c0], %zero, %me is_wait sem relaxed : memref<4xi32>, i32
    symm.fence sem acquire
    %v = memref.load %data[%c0] : memref<8xi32>
    memref.store %v, %data[%c0] : memref<8xi32>
    gpu.return
  }

  // A count that nobody waits for tells nobody anything.
  // CHECK-LABEL: gpu.func @histogram(
  // CHECK: symm.atomic_rmw add {{.*}} sem relaxed :
  gpu.func @histogram(%ctx: !symm.ctx, %data: memref<8xi32>, %counts: memref<4xi32>, %flag: memref<1xi32>, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    symm.wait %ctx, %flag[%c0] ge %one : memref<1xi32>, i32
    %v = memref.load %data[%c0] : memref<8xi32>
    %at = arith.index_cast %v : i32 to index
    %0 = symm.atomic_rmw add %ctx, %counts[%at], %one, %peer sem relaxed : memref<4xi32>, i32
    gpu.return
  }
}
