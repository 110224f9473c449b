// Loads, stores and copies on the CPU: types, masks, alignment, volatile.
// RUN: symm-opt %s --symm-lower-to-cpu --canonicalize --cse | FileCheck %s
// RUN: symm-opt %s --symm-cpu | FileCheck %s --check-prefix=LLVM
// LLVM: llvm.func @copies(
// RUN: symm-opt %s --symm-cpu | FileCheck %s --check-prefix=GONE
// GONE-NOT: {{(^ *|= |")(symm|scf|arith|memref|gpu|func)[.]}}
// GONE-NOT: unrealized_conversion_cast

// CHECK-LABEL: func.func @types(
func.func @types(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64)
    -> (i1, i8, i16, i32, i64, index, f8E5M2, f16, bf16, f32, f64) {
  // CHECK: %[[A:.*]] = llvm.getelementptr %arg1[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  // A bit is moved as a byte: LLVM's NVPTX back end leaves loads of one bit out of the order of their block.
  // CHECK-NEXT: %[[BYTE:.*]] = llvm.load %[[A]] {alignment = 1 : i64} : !llvm.ptr -> i8
  // CHECK-NEXT: arith.trunci %[[BYTE]] : i8 to i1
  %0 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> i1
  // The same load.
  %1 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> i8
  // CHECK-NEXT: llvm.load %[[A]] {alignment = 2 : i64} : !llvm.ptr -> i16
  %2 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> i16
  // CHECK-NEXT: llvm.load %[[A]] {alignment = 4 : i64} : !llvm.ptr -> i32
  %3 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> i32
  // CHECK-NEXT: llvm.load %[[A]] {alignment = 8 : i64} : !llvm.ptr -> i64
  %4 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> i64
  // The two loads of 8 bytes are one by now, and so are those of one.
  // CHECK-NEXT: builtin.unrealized_conversion_cast %{{.*}} : i64 to index
  %5 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> index
  // CHECK-NEXT: builtin.unrealized_conversion_cast %{{.*}} : i8 to f8E5M2
  %6 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> f8E5M2
  // CHECK: llvm.load %[[A]] {alignment = 2 : i64} : !llvm.ptr -> f16
  %7 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> f16
  // CHECK-NEXT: llvm.load %[[A]] {alignment = 2 : i64} : !llvm.ptr -> bf16
  %8 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> bf16
  // CHECK-NEXT: llvm.load %[[A]] {alignment = 4 : i64} : !llvm.ptr -> f32
  %9 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> f32
  // CHECK-NEXT: llvm.load %[[A]] {alignment = 8 : i64} : !llvm.ptr -> f64
  %10 = symm.remote_load %ctx, %p, %r via %d : !llvm.ptr -> f64
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10
    : i1, i8, i16, i32, i64, index, f8E5M2, f16, bf16, f32, f64
}

// A vector is aligned as the op says; `cv` and `wt` are volatile, the other cache modifiers hints.
// CHECK-LABEL: func.func @vectors(
func.func @vectors(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %v: vector<4xf32>)
    -> (vector<4xf32>, vector<2xindex>) {
  // CHECK: %[[A:.*]] = llvm.getelementptr
  // CHECK-NEXT: %[[V:.*]] = llvm.load %[[A]] {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  %0 = symm.remote_load %ctx, %p, %r via %d cache cg {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  // CHECK-NEXT: llvm.load %[[A]] {alignment = 8 : i64} : !llvm.ptr -> vector<2xi64>
  %1 = symm.remote_load %ctx, %p, %r via %d {alignment = 8 : i64} : !llvm.ptr -> vector<2xindex>
  // CHECK: llvm.store volatile %arg4, %[[A]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
  symm.remote_store %ctx, %p, %v, %r via %d cache wt {alignment = 16 : i64} : !llvm.ptr, vector<4xf32>
  return %0, %1 : vector<4xf32>, vector<2xindex>
}

// A mask for the whole access is a branch; the other value is zero if none is given. Branches of one mask become one.
// CHECK-LABEL: func.func @masks(
func.func @masks(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %in: i1, %x: f32) -> (f32, f32) {
  // CHECK: %[[ZERO:.*]] = llvm.mlir.zero : f32
  // CHECK: %[[A:.*]] = llvm.getelementptr
  // CHECK: scf.if %arg4 -> (f32, f32) {
  // CHECK-NEXT: %[[V:.*]] = llvm.load volatile %[[A]] {alignment = 4 : i64} : !llvm.ptr -> f32
  // CHECK-NEXT: %[[W:.*]] = llvm.load %[[A]] {alignment = 4 : i64} : !llvm.ptr -> f32
  // CHECK-NEXT: llvm.store volatile %arg5, %[[A]] {alignment = 4 : i64} : f32, !llvm.ptr
  // CHECK-NEXT: scf.yield %[[V]], %[[W]] : f32, f32
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %arg5, %[[ZERO]] : f32, f32
  %0 = symm.remote_load %ctx, %p, %r via %d mask %in : i1 other %x : f32 volatile : !llvm.ptr -> f32
  %1 = symm.remote_load %ctx, %p, %r via %d mask %in : i1 : !llvm.ptr -> f32
  symm.remote_store %ctx, %p, %x, %r via %d mask %in : i1 volatile : !llvm.ptr, f32
  return %0, %1 : f32, f32
}

// A mask for each lane is a masked access.
// CHECK-LABEL: func.func @lanes(
func.func @lanes(%ctx: !symm.ctx, %m: memref<8xf32>, %i: index, %r: i32, %d: i64, %in: vector<4xi1>,
    %v: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  // CHECK: %[[ZERO:.*]] = llvm.mlir.zero : vector<4xf32>
  // CHECK: llvm.intr.masked.load %[[A:.*]], %arg5, %arg6 {alignment = 4 : i32}
  %0 = symm.remote_load %ctx, %m[%i], %r via %d mask %in : vector<4xi1> other %v : vector<4xf32>
    {alignment = 4 : i64} : memref<8xf32> -> vector<4xf32>
  // CHECK: llvm.intr.masked.load %[[A]], %arg5, %[[ZERO]] {alignment = 16 : i32}
  %1 = symm.remote_load %ctx, %m[%i], %r via %d mask %in : vector<4xi1> {alignment = 16 : i64}
    : memref<8xf32> -> vector<4xf32>
  // CHECK: llvm.intr.masked.store %arg6, %[[A]], %arg5 {alignment = 4 : i32}
  symm.remote_store %ctx, %m[%i], %v, %r via %d mask %in : vector<4xi1> {alignment = 4 : i64}
    : memref<8xf32>, vector<4xf32>
  return %0, %1 : vector<4xf32>, vector<4xf32>
}

// CHECK-LABEL: func.func @stores(
func.func @stores(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %d: i64, %b: i1, %i: index, %e: f8E5M2, %h: f16) {
  // CHECK: %[[BYTE:.*]] = arith.extui %{{.*}} : i1 to i8
  // CHECK: llvm.store %[[BYTE]], %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr
  symm.remote_store %ctx, %p, %b, %r via %d : !llvm.ptr, i1
  // CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : i64, !llvm.ptr
  symm.remote_store %ctx, %p, %i, %r via %d : !llvm.ptr, index
  // CHECK: llvm.store %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr
  symm.remote_store %ctx, %p, %e, %r via %d : !llvm.ptr, f8E5M2
  // CHECK: llvm.store %{{.*}} {alignment = 2 : i64} : f16, !llvm.ptr
  symm.remote_store %ctx, %p, %h, %r via %d : !llvm.ptr, f16
  return
}

// A copy is a thread's own, whatever the group: blocks have one thread.
// CHECK-LABEL: func.func @copies(
func.func @copies(%ctx: !symm.ctx, %m: memref<8xf32>, %n: memref<8xf32>, %r: i32, %to: i32, %d: i64) {
  // CHECK-COUNT-3: "llvm.intr.memcpy"({{.*}}) <{isVolatile = false}>
  symm.get %ctx, %m, %n, %r via %d group thread : memref<8xf32>, memref<8xf32>
  symm.put %ctx, %m, %n, %r via %d group warp : memref<8xf32>, memref<8xf32>
  symm.copy %ctx, %m at %r via %d, %n at %to group block : memref<8xf32>, memref<8xf32>
  // CHECK: return
  return
}
