// What may lie between two signals that are to become one: what touches no memory and waits for nobody.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-coalesce-signals | FileCheck %s

// CHECK-LABEL: func.func @quiet(
func.func @quiet(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %a: i64, %p: i32, %m: memref<8xf32>) {
  // CHECK-COUNT-1: symm.signal
  // CHECK-NOT: symm.signal
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  %rank = symm.rank %ctx
  %n = symm.num_ranks %ctx
  %base = symm.heap_base %ctx, %rank : !llvm.ptr
  %delta = symm.heap_delta %ctx, %p
  %there = symm.as_remote %ctx, %m, %p : memref<8xf32>
  %q = arith.addi %rank, %n : i32
  %view = memref.cast %m : memref<8xf32> to memref<?xf32>
  %next = llvm.getelementptr %base[1] : (!llvm.ptr) -> !llvm.ptr, i8
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  return
}

// CHECK-LABEL: func.func @not_quiet(
func.func @not_quiet(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %a: i64, %p: i32, %m: memref<8xf32>) {
  // CHECK-COUNT-6: symm.signal
  // CHECK: return
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  %0 = memref.load %m[%i] : memref<8xf32>
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  "unknown.op"() : () -> ()
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  %1 = symm.remote_load %ctx, %m[%i], %p : memref<8xf32> -> f32
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  symm.fence
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  %2 = symm.trace_begin %ctx, "mine"
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  return
}
