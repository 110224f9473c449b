// What a caller has written is released behind `inline`: the pipelines look again.
// RUN: symm-opt %s --symm-cpu --verify-diagnostics -o /dev/null
// RUN: sed 's/expected-remark/expected-error/; s/; made.*}}/}}/' %s > %t
// RUN: symm-opt %t --symm-cpu=strict=true --verify-diagnostics

func.func @signal(%ctx: !symm.ctx, %f: memref<i32>, %v: i32, %r: i32) {
  // expected-remark @below {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

func.func @caller(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %x: f32, %v: i32, %r: i32) {
  symm.remote_store %ctx, %x, %m[], %r : f32, memref<f32>
  func.call @signal(%ctx, %f, %v, %r) : (!symm.ctx, memref<i32>, i32, i32) -> ()
  return
}
