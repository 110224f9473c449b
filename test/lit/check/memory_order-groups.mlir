// A group signals and waits through its first thread: only a fence of that group stands for its order (O3).
// RUN: symm-opt %s --symm-check-memory-order -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @signals
func.func @signals(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %p: i32, %x: f32, %m: memref<8xf32>) {
  // CHECK: symm.fence sem release group block
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed group block
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release group block
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group block : memref<4xi64>, i64
  // CHECK: symm.fence sem release{{$}}
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} group block
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  // expected-remark@+1 {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group block : memref<4xi64>, i64
  // CHECK: symm.fence sem release group block
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release group block
  // expected-remark@+1 {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  return
}

// CHECK-LABEL: @waits
func.func @waits(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %m: memref<8xf32>) -> (f32, f32) {
  // CHECK: symm.wait {{.*}} sem relaxed group warp
  symm.wait %ctx, %flag[%i] ge %v sem relaxed group warp : memref<4xi64>, i64
  symm.fence sem acquire group warp
  %x = memref.load %m[%i] : memref<8xf32>
  // CHECK: symm.wait {{.*}} ge %{{[a-z0-9]+}} group warp
  // expected-remark@+1 {{O1: relaxed, but reads come after it without an acquire fence; made acquire}}
  symm.wait %ctx, %flag[%i] ge %v sem relaxed group warp : memref<4xi64>, i64
  symm.fence sem acquire
  %y = memref.load %m[%i] : memref<8xf32>
  return %x, %y : f32, f32
}
