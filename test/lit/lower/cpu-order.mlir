// Atomics, signals, waits, fences and barriers on the CPU.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s
// RUN: symm-opt %s --symm-cpu | FileCheck %s --check-prefix=LLVM
// LLVM: llvm.func @timeout(
// RUN: symm-opt %s --symm-cpu | FileCheck %s --check-prefix=GONE
// GONE-NOT: {{(^ *|= |")(symm|scf|arith|memref|gpu|func)[.]}}
// GONE-NOT: unrealized_conversion_cast

// Whoever waits in the runtime is woken after each update.
// CHECK-LABEL: func.func @rmw(
func.func @rmw(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %i: i32, %l: i64, %h: f16, %f: f32, %g: f64) {
  // CHECK: %[[A:.*]] = llvm.getelementptr %arg1[%arg3]
  // CHECK: llvm.atomicrmw add %[[A]], %arg4 acq_rel {alignment = 4 : i64} : !llvm.ptr, i32
  // CHECK-NEXT: call @symm_rt_wake(%[[A]])
  // CHECK-NEXT: llvm.atomicrmw fadd %[[A]], %arg6 acq_rel {alignment = 2 : i64} : !llvm.ptr, f16
  // CHECK: llvm.atomicrmw fadd %[[A]], %arg7 acq_rel {alignment = 4 : i64} : !llvm.ptr, f32
  // CHECK: llvm.atomicrmw fadd %[[A]], %arg8 acq_rel {alignment = 8 : i64} : !llvm.ptr, f64
  // CHECK: llvm.atomicrmw sub %[[A]], %arg5 acq_rel {alignment = 8 : i64} : !llvm.ptr, i64
  // CHECK: llvm.atomicrmw _and %[[A]], %arg4 acq_rel
  // CHECK: llvm.atomicrmw _or %[[A]], %arg4 acq_rel
  // CHECK: llvm.atomicrmw _xor %[[A]], %arg4 acq_rel
  // CHECK: llvm.atomicrmw min %[[A]], %arg4 acq_rel
  // CHECK: llvm.atomicrmw max %[[A]], %arg4 acq_rel
  // CHECK: llvm.atomicrmw umin %[[A]], %arg4 acq_rel
  // CHECK: llvm.atomicrmw umax %[[A]], %arg4 acq_rel
  // CHECK: llvm.atomicrmw xchg %[[A]], %arg7 acq_rel {alignment = 4 : i64} : !llvm.ptr, f32
  // CHECK-NEXT: call @symm_rt_wake(%[[A]])
  // CHECK-NEXT: return
  %0 = symm.atomic_rmw add %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %1 = symm.atomic_rmw fadd %ctx, %p, %h, %r via %d : !llvm.ptr, f16
  %2 = symm.atomic_rmw fadd %ctx, %p, %f, %r via %d : !llvm.ptr, f32
  %3 = symm.atomic_rmw fadd %ctx, %p, %g, %r via %d : !llvm.ptr, f64
  %4 = symm.atomic_rmw sub %ctx, %p, %l, %r via %d : !llvm.ptr, i64
  %5 = symm.atomic_rmw and %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %6 = symm.atomic_rmw or %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %7 = symm.atomic_rmw xor %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %8 = symm.atomic_rmw min %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %9 = symm.atomic_rmw max %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %10 = symm.atomic_rmw umin %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %11 = symm.atomic_rmw umax %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  %12 = symm.atomic_rmw xchg %ctx, %p, %f, %r via %d : !llvm.ptr, f32
  return
}

// CHECK-LABEL: func.func @rmw_orders(
func.func @rmw_orders(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %i: i32, %in: i1) -> i32 {
  // CHECK: llvm.atomicrmw add {{.*}} monotonic
  // CHECK: llvm.atomicrmw add {{.*}} acquire
  // CHECK: llvm.atomicrmw add {{.*}} release
  // CHECK: scf.if %arg5 -> (i32) {
  // CHECK-NEXT: llvm.atomicrmw add {{.*}} acq_rel
  %0 = symm.atomic_rmw add %ctx, %p, %i, %r via %d sem relaxed : !llvm.ptr, i32
  %1 = symm.atomic_rmw add %ctx, %p, %i, %r via %d sem acquire : !llvm.ptr, i32
  %2 = symm.atomic_rmw add %ctx, %p, %i, %r via %d sem release : !llvm.ptr, i32
  %3 = symm.atomic_rmw add %ctx, %p, %i, %r via %d mask %in : i1 : !llvm.ptr, i32
  return %3 : i32
}

// A failed exchange only acquires, if at all.
// CHECK-LABEL: func.func @cas(
func.func @cas(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %i: i32, %l: i64, %in: i1) -> (i32, i64) {
  // CHECK: %[[PAIR:.*]] = llvm.cmpxchg %[[A:.*]], %arg4, %arg4 acq_rel acquire {alignment = 4 : i64} : !llvm.ptr, i32
  // CHECK-NEXT: llvm.extractvalue %[[PAIR]][0]
  // CHECK-NEXT: call @symm_rt_wake(%[[A]])
  // CHECK: llvm.cmpxchg %[[A]], %arg5, %arg5 acquire acquire {alignment = 8 : i64} : !llvm.ptr, i64
  // CHECK: llvm.cmpxchg %[[A]], %arg5, %arg5 release monotonic
  // CHECK: llvm.cmpxchg %[[A]], %arg5, %arg5 monotonic monotonic
  // CHECK: scf.if %arg6 -> (i64) {
  // CHECK-NEXT: llvm.cmpxchg
  %0 = symm.atomic_cas %ctx, %p, %i, %i, %r via %d : !llvm.ptr, i32
  %1 = symm.atomic_cas %ctx, %p, %l, %l, %r via %d sem acquire : !llvm.ptr, i64
  %2 = symm.atomic_cas %ctx, %p, %l, %l, %r via %d sem release : !llvm.ptr, i64
  %3 = symm.atomic_cas %ctx, %p, %l, %l, %r via %d sem relaxed : !llvm.ptr, i64
  %4 = symm.atomic_cas %ctx, %p, %l, %l, %r via %d mask %in : i1 : !llvm.ptr, i64
  return %0, %4 : i32, i64
}

// CHECK-LABEL: func.func @signal(
func.func @signal(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %i: i32, %l: i64) {
  // CHECK: llvm.store %arg4, %[[A:.*]] atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  // CHECK-NEXT: call @symm_rt_wake(%[[A]])
  // CHECK-NEXT: llvm.store %arg5, %[[A]] atomic monotonic {alignment = 8 : i64} : i64, !llvm.ptr
  // CHECK-NEXT: call @symm_rt_wake(%[[A]])
  // CHECK-NEXT: llvm.atomicrmw add %[[A]], %arg5 release {alignment = 8 : i64} : !llvm.ptr, i64
  // CHECK-NEXT: call @symm_rt_wake(%[[A]])
  // CHECK-NEXT: llvm.atomicrmw add %[[A]], %arg4 monotonic {alignment = 4 : i64} : !llvm.ptr, i32
  // CHECK-NEXT: call @symm_rt_wake(%[[A]])
  // CHECK-NEXT: return
  symm.signal set %ctx, %p, %i, %r via %d : !llvm.ptr, i32
  symm.signal set %ctx, %p, %l, %r via %d sem relaxed group block : !llvm.ptr, i64
  symm.signal add %ctx, %p, %l, %r via %d group warp : !llvm.ptr, i64
  symm.signal add %ctx, %p, %i, %r via %d sem relaxed : !llvm.ptr, i32
  return
}

// The data first, then a release.
// CHECK-LABEL: func.func @put_signal(
func.func @put_signal(%ctx: !symm.ctx, %m: memref<8xf32>, %p: !llvm.ptr, %r: i32, %d: i64, %l: i64, %n: index) {
  // CHECK: %[[F:.*]] = llvm.getelementptr %arg2[%arg4]
  // CHECK: "llvm.intr.memcpy"
  // CHECK-NEXT: llvm.store %arg5, %[[F]] atomic release {alignment = 8 : i64}
  // CHECK-NEXT: call @symm_rt_wake(%[[F]])
  symm.put_signal set %ctx, %m, %m, %p, %l, %r via %d : memref<8xf32>, memref<8xf32>, !llvm.ptr, i64
  // CHECK: "llvm.intr.memcpy"
  // CHECK-NEXT: llvm.atomicrmw add %[[F]], %arg5 release {alignment = 8 : i64}
  // CHECK-NEXT: call @symm_rt_wake(%[[F]])
  symm.put_signal add %ctx, %p, %p, %p, %l, %r via %d count %n : index of f16 : !llvm.ptr, !llvm.ptr, !llvm.ptr, i64
  return
}

// Each comparison has its number; an unsigned one is another (O6), where it makes a difference.
// CHECK-LABEL: func.func @wait(
func.func @wait(%ctx: !symm.ctx, %p: !llvm.ptr, %i: i32, %l: i64) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK-DAG: %[[EQ:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[NE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[LT:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[LE:.*]] = arith.constant 3 : i32
  // CHECK-DAG: %[[GT:.*]] = arith.constant 4 : i32
  // CHECK-DAG: %[[GE:.*]] = arith.constant 5 : i32
  // CHECK-DAG: %[[ULT:.*]] = arith.constant 6 : i32
  // CHECK-DAG: %[[ULE:.*]] = arith.constant 7 : i32
  // CHECK-DAG: %[[UGT:.*]] = arith.constant 8 : i32
  // CHECK-DAG: %[[UGE:.*]] = arith.constant 9 : i32
  // CHECK: call @symm_rt_wait64(%arg0, %arg1, %[[EQ]], %arg3, %[[ZERO]], %{{.*}})
  // CHECK: call @symm_rt_wait64(%arg0, %arg1, %[[NE]], %arg3
  // CHECK: call @symm_rt_wait64(%arg0, %arg1, %[[LT]], %arg3
  // CHECK: call @symm_rt_wait64(%arg0, %arg1, %[[LE]], %arg3
  // CHECK: call @symm_rt_wait64(%arg0, %arg1, %[[GT]], %arg3
  // CHECK: call @symm_rt_wait64(%arg0, %arg1, %[[GE]], %arg3
  // CHECK: call @symm_rt_wait32(%arg0, %arg1, %[[EQ]], %arg2
  // CHECK: call @symm_rt_wait32(%arg0, %arg1, %[[NE]], %arg2
  // CHECK: call @symm_rt_wait32(%arg0, %arg1, %[[ULT]], %arg2
  // CHECK: call @symm_rt_wait32(%arg0, %arg1, %[[ULE]], %arg2
  // CHECK: call @symm_rt_wait32(%arg0, %arg1, %[[UGT]], %arg2
  // CHECK: call @symm_rt_wait32(%arg0, %arg1, %[[UGE]], %arg2
  symm.wait %ctx, %p eq %l : !llvm.ptr, i64
  symm.wait %ctx, %p ne %l : !llvm.ptr, i64
  symm.wait %ctx, %p lt %l : !llvm.ptr, i64
  symm.wait %ctx, %p le %l : !llvm.ptr, i64
  symm.wait %ctx, %p gt %l : !llvm.ptr, i64
  symm.wait %ctx, %p ge %l group block : !llvm.ptr, i64
  symm.wait %ctx, %p unsigned eq %i : !llvm.ptr, i32
  symm.wait %ctx, %p unsigned ne %i : !llvm.ptr, i32
  symm.wait %ctx, %p unsigned lt %i : !llvm.ptr, i32
  symm.wait %ctx, %p unsigned le %i : !llvm.ptr, i32
  symm.wait %ctx, %p unsigned gt %i : !llvm.ptr, i32
  symm.wait %ctx, %p unsigned ge %i : !llvm.ptr, i32
  return
}

// The runtime is told where the program waits, and whether to give up.
// CHECK-LABEL: func.func @timeout(
func.func @timeout(%ctx: !symm.ctx, %f: memref<4xi32>, %j: index, %i: i32, %ns: i64) -> i1 {
  // CHECK: %[[AT:.*]] = llvm.mlir.addressof @[[WHERE:.*]] : !llvm.ptr
  // With 0 the runtime waits for ever.
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
  // CHECK: %[[TIMEOUT:.*]] = arith.maxsi %arg4, %[[ONE]] : i64
  // CHECK: %[[SEEN:.*]] = call @symm_rt_wait32(%arg0, %{{.*}}, %{{.*}}, %arg3, %[[TIMEOUT]], %[[AT]])
  // CHECK-NEXT: %[[RESULT:.*]] = arith.trunci %[[SEEN]] : i32 to i1
  // CHECK-NEXT: return %[[RESULT]]
  %seen = symm.wait %ctx, %f[%j] ge %i timeout %ns : memref<4xi32>, i32 -> i1 loc("ring.mlir":42:7)
  return %seen : i1
}

// CHECK-LABEL: func.func @fences(
func.func @fences() {
  // CHECK-NEXT: llvm.fence acq_rel
  // CHECK-NEXT: llvm.fence acquire
  // CHECK-NEXT: llvm.fence release
  // CHECK-NEXT: llvm.fence acq_rel
  // CHECK-NEXT: return
  symm.fence
  symm.fence sem acquire
  symm.fence sem release
  symm.fence scope cta
  return
}

// A context made from parts has no table to show: the runtime asks its thread.
// CHECK-LABEL: func.func @parts(
func.func @parts(%bases: !llvm.ptr, %me: i32, %n: i32, %p: !llvm.ptr, %v: i32) {
  // CHECK: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK: call @symm_rt_wait32(%[[NULL]], %arg3,
  %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
  symm.wait %ctx, %p eq %v : !llvm.ptr, i32
  return
}

// Each block tells every rank its epoch, then waits for theirs.
gpu.module @kernels {
  // CHECK-LABEL: func.func private @_symm_device_kernels_barrier(
  gpu.func @barrier(%ctx: !symm.ctx) kernel {
    // CHECK: %[[OLD:.*]] = llvm.load %[[COUNTER:[0-9]+]] : !llvm.ptr -> i64
    // CHECK-NEXT: %[[EPOCH:.*]] = arith.addi %[[OLD]]
    // CHECK-NEXT: llvm.store %[[EPOCH]], %[[COUNTER]]
    // CHECK: scf.for
    // CHECK: llvm.store %[[EPOCH]], %[[THEIRS:.*]] atomic release {alignment = 8 : i64}
    // CHECK-NEXT: call @symm_rt_wake(%[[THEIRS]])
    // CHECK: scf.for
    // CHECK: symm_rt_wait64(%arg0, %{{.*}}, %{{.*}}, %[[EPOCH]],
    symm.barrier %ctx group block
    gpu.return
  }
}
