// On gfx90a nothing releases to peers through a cached heap: what does is refused at the op (S1), and compiles where
// the heap is fine-grained memory, which is not cached (rocdl-gfx90a.mlir).
// RUN: symm-opt %s --symm-lower-to-rocdl=chip=gfx90a -verify-diagnostics
// RUN: symm-opt %s --symm-lower-to-rocdl="chip=gfx90a fine-grained-heap=true" | FileCheck %s --implicit-check-not=symm.
// CHECK: llvm.fence release

gpu.module @kernels {
  gpu.func @releases(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %peer: i32, %m: memref<4xf32>,
      %p: !llvm.ptr, %e: i32) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: on gfx90a a release at system scope does not reach peers through a cached heap; fine-grained-heap=true says that it is not cached}}
    symm.signal set %ctx, %f[%c0], %v, %peer : memref<1xi64>, i64
    // expected-error @+1 {{S1: on gfx90a a release at system scope}}
    symm.put_signal set %ctx, %m, %m, %f[%c0], %v, %peer : memref<4xf32>, memref<4xf32>, memref<1xi64>, i64
    // expected-error @+1 {{S1: on gfx90a a release at system scope}}
    %a = symm.atomic_rmw add %ctx, %f[%c0], %v, %peer : memref<1xi64>, i64
    // expected-error @+1 {{S1: on gfx90a a release at system scope}}
    %b = symm.atomic_rmw add %ctx, %f[%c0], %v, %peer sem release : memref<1xi64>, i64
    // expected-error @+1 {{S1: on gfx90a a release at system scope}}
    %c = symm.atomic_cas %ctx, %f[%c0], %v, %v, %peer : memref<1xi64>, i64
    // expected-error @+1 {{S1: on gfx90a a release at system scope}}
    symm.fence
    // expected-error @+1 {{S1: on gfx90a a release at system scope}}
    symm.fence sem release
    // expected-error @+1 {{S1: on gfx90a a release at system scope}}
    symm.barrier %ctx
    // expected-error @+1 {{S1: on gfx90a packets do not reach peers through a cached heap; fine-grained-heap=true says}}
    symm.put_packet %ctx, %p, %v, %e, %peer : !llvm.ptr, i64
    // expected-error @+1 {{S1: on gfx90a packets do not reach peers}}
    %w = symm.wait_packet %ctx, %p, %e : !llvm.ptr -> i64
    // expected-error @+1 {{S1: on gfx90a packets do not reach peers}}
    %x, %ok = symm.try_packet %ctx, %p, %e : !llvm.ptr -> i64, i1
    // These release nothing, or not to peers.
    symm.signal set %ctx, %f[%c0], %v, %peer sem relaxed : memref<1xi64>, i64
    symm.wait %ctx, %f[%c0] ge %v : memref<1xi64>, i64
    symm.fence sem acquire
    symm.fence scope gpu
    gpu.return
  }
}
