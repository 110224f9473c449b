// Waits of a group that follow each other share a barrier: one thread waits for all of them (O3).
// RUN: symm-translate %s --to ptx --chip sm_90 | FileCheck %s
// RUN: symm-translate %s --to amdgcn --chip gfx942 | FileCheck %s --check-prefix=ISA

gpu.module @kernels {
  // A thread that waits by itself comes after the barrier.
  // CHECK-LABEL: .entry alone(
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK:       ret;
  gpu.func @alone(%ctx: !symm.ctx, %f: memref<8xi64>, %v: i64, %i: index) kernel {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %f[%c0] eq %v group block : memref<8xi64>, i64
    symm.wait %ctx, %f[%i] eq %v : memref<8xi64>, i64
    symm.wait %ctx, %f[%c0] eq %v group block : memref<8xi64>, i64
    gpu.return
  }

  // CHECK-LABEL: .entry two(
  // CHECK-NOT:   bar.
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK-NOT:   bar.
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK-NOT:   bar.
  // CHECK:       st.global.b64
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}two:
  // ISA:         s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @two(%ctx: !symm.ctx, %f: memref<8xi64>, %v: i64, %out: memref<8xi64>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    symm.wait %ctx, %f[%c0] eq %v group block : memref<8xi64>, i64
    symm.wait %ctx, %f[%c1] eq %v group block : memref<8xi64>, i64
    memref.store %v, %out[%i] : memref<8xi64>
    gpu.return
  }

  // A copy after a wait needs the barrier that the wait ends with, also one that ends with a signal.
  // CHECK-LABEL: .entry told(
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK:       st.global.v4
  // CHECK:       bar.sync
  // CHECK:       st.release.sys.global.b64
  // CHECK-NOT:   bar.
  // CHECK:       ret;
  gpu.func @told(%ctx: !symm.ctx, %f: memref<8xi64>, %v: i64, %a: memref<64xf32>, %b: memref<64xf32>, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %f[%c0] eq %v group block : memref<8xi64>, i64
    symm.put_signal set %ctx, %a, %b, %f[%c0], %v, %p group block
      : memref<64xf32>, memref<64xf32>, memref<8xi64>, i64
    gpu.return
  }

  // From every rank: the barrier is after the loop.
  // CHECK-LABEL: .entry all(
  // CHECK-NOT:   bar.
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK-NOT:   {{bar\.|ld.acquire}}
  // CHECK:       st.global.b64
  // CHECK-NOT:   bar.
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}all:
  // ISA:         s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @all(%ctx: !symm.ctx, %f: memref<8xi64>, %v: i64, %out: memref<8xi64>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = symm.num_ranks %ctx
    %ranks = arith.index_cast %n : i32 to index
    scf.for %r = %c0 to %ranks step %c1 {
      symm.wait %ctx, %f[%r] eq %v group block : memref<8xi64>, i64
    }
    memref.store %v, %out[%i] : memref<8xi64>
    gpu.return
  }

  // A signal has a barrier before it.
  // CHECK-LABEL: .entry hand_on(
  // CHECK-NOT:   bar.
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK-NOT:   bar.
  // CHECK:       st.release.sys
  // CHECK-NOT:   bar.
  // CHECK:       ret;
  // ISA-LABEL:   {{^}}hand_on:
  // ISA:         buffer_wbl2 sc1
  // ISA:         s_barrier
  // ISA-NOT:     s_barrier
  // ISA:         s_endpgm
  gpu.func @hand_on(%ctx: !symm.ctx, %f: memref<8xi64>, %v: i64, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %f[%c0] eq %v group block : memref<8xi64>, i64
    symm.signal set %ctx, %f[%c0], %v, %p group block : memref<8xi64>, i64
    gpu.return
  }

  // Not at the end, not where the other group is another one, and not where one of them may give up.
  // CHECK-LABEL: .entry last(
  // CHECK:       bar.sync
  // CHECK:       ret;
  gpu.func @last(%ctx: !symm.ctx, %f: memref<8xi64>, %v: i64) kernel {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %f[%c0] eq %v group block : memref<8xi64>, i64
    gpu.return
  }

  // CHECK-LABEL: .entry warp(
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.warp.sync
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK:       ld.acquire.sys.global.b64
  // CHECK:       bar.sync
  // CHECK:       bar.sync
  // CHECK:       ret;
  gpu.func @warp(%ctx: !symm.ctx, %f: memref<8xi64>, %v: i64, %ns: i64, %out: memref<8xi1>) kernel {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %f[%c0] eq %v group warp : memref<8xi64>, i64
    symm.wait %ctx, %f[%c0] ge %v group block : memref<8xi64>, i64
    %came = symm.wait %ctx, %f[%c0] eq %v timeout %ns group block : memref<8xi64>, i64 -> i1
    memref.store %came, %out[%c0] : memref<8xi1>
    gpu.return
  }
}
