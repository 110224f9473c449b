// A group signals and waits through its first thread: only a fence of that group stands for its order (O3).
// So does a barrier's release; and where threads come together, a fence before it does not cover what the others did.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-check-memory-order -verify-diagnostics | FileCheck %s

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

// CHECK-LABEL: @barriers
func.func @barriers(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %p: i32, %x: f32, %m: memref<8xf32>) {
  // CHECK: symm.barrier %{{.*}} group block
  // CHECK-NEXT: symm.signal set {{.*}} sem relaxed group block
  memref.store %x, %m[%i] : memref<8xf32>
  symm.barrier %ctx group block
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group block : memref<4xi64>, i64
  // CHECK: symm.barrier %{{.*}} group block
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  memref.store %x, %m[%i] : memref<8xf32>
  symm.barrier %ctx group block
  // expected-remark@+1 {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  // CHECK: symm.barrier %{{.*}}{{$}}
  // CHECK-NEXT: symm.signal set {{.*}}, %{{[a-z0-9]+}} group block
  memref.store %x, %m[%i] : memref<8xf32>
  symm.barrier %ctx
  // expected-remark@+1 {{O1: relaxed, but writes come before it without a release fence; made release}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group block : memref<4xi64>, i64
  return
}

// CHECK-LABEL: @others_come_in
func.func @others_come_in(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %p: i32, %x: f32,
    %m: memref<8xf32>, %n: index, %c: i1) -> f32 {
  %c1 = arith.constant 1 : index
  // CHECK-NOT: relaxed
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  gpu.barrier
  // expected-remark@+1 {{but writes come before it}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  symm.wait %ctx, %flag[%i] ge %v group block : memref<4xi64>, i64
  // expected-remark@+1 {{but writes come before it}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release group warp
  gpu.barrier
  // expected-remark@+1 {{but writes come before it}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group warp : memref<4xi64>, i64
  // In a branch, and in an earlier turn of a loop.
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  scf.if %c {
    gpu.barrier
  }
  // expected-remark@+1 {{but writes come before it}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  scf.for %k = %i to %n step %c1 {
    // expected-remark@+1 {{but writes come before it}}
    symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
    gpu.barrier
  }
  // The other way round.
  // expected-remark@+1 {{but reads come after it}}
  symm.wait %ctx, %flag[%i] ge %v sem relaxed : memref<4xi64>, i64
  gpu.barrier
  symm.fence sem acquire
  %y = memref.load %m[%i] : memref<8xf32>
  // CHECK: return
  return %y : f32
}

// Along blocks: on one of two ways, and around a loop. What was found for one op does not stand for another.
// CHECK-LABEL: @blocks
func.func @blocks(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %p: i32, %x: f32, %m: memref<8xf32>,
    %c: i1) {
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  // CHECK: symm.signal add {{.*}} sem relaxed
  symm.signal add %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  cf.cond_br %c, ^barrier, ^either
^barrier:
  gpu.barrier
  cf.br ^either
^either:
  // CHECK: symm.signal set {{.*}}, %{{[a-z0-9]+}} :
  // expected-remark@+1 {{but writes come before it}}
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  symm.fence sem release
  cf.br ^loop
^loop:
  // CHECK: symm.signal add {{.*}}, %{{[a-z0-9]+}} :
  // expected-remark@+1 {{but writes come before it}}
  symm.signal add %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  cf.cond_br %c, ^again, ^end
^again:
  gpu.barrier
  cf.br ^loop
^end:
  symm.fence sem release
  // CHECK: symm.signal set {{.*}} sem relaxed
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  return
}

// The fence is the same threads', or comes after the barrier.
// CHECK-LABEL: @nobody_comes_in
func.func @nobody_comes_in(%ctx: !symm.ctx, %flag: memref<4xi64>, %i: index, %v: i64, %p: i32, %x: f32,
    %m: memref<8xf32>) {
  // CHECK-COUNT-4: sem relaxed
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release group block
  gpu.barrier
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group block : memref<4xi64>, i64
  memref.store %x, %m[%i] : memref<8xf32>
  gpu.barrier
  symm.fence sem release
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release group warp
  nvvm.bar.warp.sync %p : i32
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed group warp : memref<4xi64>, i64
  memref.store %x, %m[%i] : memref<8xf32>
  symm.fence sem release
  symm.wait %ctx, %flag[%i] ge %v : memref<4xi64>, i64
  symm.signal set %ctx, %flag[%i], %v, %p sem relaxed : memref<4xi64>, i64
  return
}

// A Triton program is one thread to its author.
// CHECK-LABEL: "tt.func"
"tt.func"() <{function_type = (!symm.ctx, !tt.ptr<i64>, !tt.ptr<f32>, f32, i64, i32) -> (), sym_name = "triton"}> ({
^bb0(%ctx: !symm.ctx, %flag: !tt.ptr<i64>, %m: !tt.ptr<f32>, %x: f32, %v: i64, %p: i32):
  // CHECK: sem relaxed
  "tt.store"(%m, %x) : (!tt.ptr<f32>, f32) -> ()
  symm.fence sem release
  gpu.barrier
  symm.signal set %ctx, %flag, %v, %p sem relaxed : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// A Triton flag is known by the pointer that offsets are added to: a credit by a relaxed atomic is one here, too.
// CHECK-LABEL: sym_name = "credit"
// CHECK: symm.atomic_rmw add {{.*}} sem release :
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, !tt.ptr<i32>, i32) -> (), sym_name = "credit"}> ({
^bb0(%table: !tt.ptr<i64>, %slot: !tt.ptr<i32>, %credits: !tt.ptr<i32>, %peer: i32):
  %one = arith.constant 1 : i32
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %mine = "tt.addptr"(%credits, %one) : (!tt.ptr<i32>, i32) -> !tt.ptr<i32>
  symm.wait %ctx, %mine ge %one : !tt.ptr<i32>, i32
  %v = "tt.load"(%slot) : (!tt.ptr<i32>) -> i32
  // expected-remark @below {{'symm.atomic_rmw' op O1: relaxed, but reads come before it}}
  %0 = symm.atomic_rmw add %ctx, %credits, %v, %peer sem relaxed : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()
