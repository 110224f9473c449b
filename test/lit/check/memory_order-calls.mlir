// What a caller has written is released after `inline`: the pipelines look again. What calls a
// device function is not known, and counts.
// RUN: symm-opt %s --split-input-file --symm-cpu --verify-diagnostics -o /dev/null
// RUN: sed 's/expected-remark/expected-error/; s/; made.*}}/}}/' %s > %t
// RUN: symm-opt %t --split-input-file --symm-cpu=strict=true --verify-diagnostics

func.func @signal(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32) {
  // expected-remark @below {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

func.func @caller(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %x: f32, %v: i32, %r: i32) {
  symm.remote_store %ctx, %m[], %x, %r : memref<f32>, f32
  func.call @signal(%ctx, %f, %v, %r) : (!symm.ctx, memref<i32>, i32, i32) -> ()
  return
}

// -----

gpu.module @kernels {
  func.func @device(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32, %yes: i1) {
    // expected-remark @below {{O1: relaxed, but writes come before it without a release fence; made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    scf.if %yes {
      // expected-remark @below {{O1: relaxed, but reads come after it without an acquire fence; made acquire}}
      symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
    }
    return
  }
  // A kernel has no callers, and a fence of the function's own serves.
  gpu.func @kernel(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32) kernel {
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    gpu.return
  }
  gpu.func @fenced(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32) {
    symm.fence sem release
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    gpu.return
  }
}
