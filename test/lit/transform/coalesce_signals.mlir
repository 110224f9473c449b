// RUN: symm-opt %s --symm-coalesce-signals | FileCheck %s
// RUN: symm-opt %s --symm-coalesce-signals -o %t
// RUN: symm-opt %t --symm-coalesce-signals | diff %t -
// RUN: symm-opt %s --symm-coalesce-signals --mlir-print-debuginfo --mlir-print-local-scope \
// RUN:   | FileCheck %s --check-prefix=WHERE

// CHECK-LABEL: @add_add
// WHERE-LABEL: @add_add
func.func @add_add(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %a: i64, %b: i64, %p: i32) {
  // CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg3, %arg4 : i64
  // CHECK-NEXT: symm.signal add %arg0, %arg1[%arg2], %[[SUM]], %arg5 : memref<8xi64>, i64
  // CHECK-NEXT: return
  // WHERE: symm.signal {{.*}} loc(fused[{{.*}}:[[#@LINE+1]]:3, {{.*}}:[[#@LINE+2]]:3])
  symm.signal add %ctx, %flag[%i], %a, %p sem relaxed : memref<8xi64>, i64
  symm.signal add %ctx, %flag[%i], %b, %p : memref<8xi64>, i64
  return
}

// Sums of constants wrap around, as the flag does; a run of any length becomes one signal.
// CHECK-LABEL: @constants
func.func @constants(%ctx: !symm.ctx, %flag: memref<8xi32>, %p: i32) {
  %c3 = arith.constant 3 : index
  %most = arith.constant 2147483647 : i32
  %one = arith.constant 1 : i32
  // CHECK: %[[SUM:.*]] = arith.constant -2147483647 : i32
  // CHECK-NEXT: symm.signal add %arg0, %arg1[%{{.*}}], %[[SUM]], %arg2 : memref<8xi32>, i32
  // CHECK-NEXT: return
  symm.signal add %ctx, %flag[%c3], %most, %p : memref<8xi32>, i32
  symm.signal add %ctx, %flag[%c3], %one, %p : memref<8xi32>, i32
  %again = arith.constant 3 : index
  symm.signal add %ctx, %flag[%again], %one, %p : memref<8xi32>, i32
  return
}

// CHECK-LABEL: @sets
func.func @sets(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %k: index, %a: i64, %b: i64, %p: i32) {
  // CHECK-NEXT: symm.signal set %arg0, %arg1[%arg2], %arg6, %arg7 group block
  symm.signal set %ctx, %flag[%i], %a, %p group block : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%i], %b, %p sem relaxed group block : memref<8xi64>, i64
  // CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg5, %arg6 : i64
  // CHECK-NEXT: symm.signal set %arg0, %arg1[%arg3], %[[SUM]], %arg7 :
  symm.signal set %ctx, %flag[%j], %a, %p scope gpu : memref<8xi64>, i64
  symm.signal add %ctx, %flag[%j], %b, %p : memref<8xi64>, i64
  // CHECK-NEXT: symm.signal set %arg0, %arg1[%arg4], %arg6, %arg7 sem relaxed :
  // CHECK-NEXT: return
  symm.signal add %ctx, %flag[%k], %a, %p sem relaxed : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%k], %b, %p sem relaxed : memref<8xi64>, i64
  return
}

// From here on nothing is merged.

func.func private @callee()

// What lies in between may be what the second signal stands for, or see the first one's.
// CHECK-LABEL: @something_between
func.func @something_between(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %a: i64, %p: i32, %q: i32, %x: f32,
                             %m: memref<8xf32>) {
  // CHECK-COUNT-8: symm.signal
  // CHECK: return
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  symm.remote_store %ctx, %m[%i], %x, %p : memref<8xf32>, f32
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  symm.wait %ctx, %flag[%i] ge %a : memref<8xi64>, i64
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  symm.fence
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  func.call @callee() : () -> ()
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  symm.signal add %ctx, %flag[%i], %a, %q : memref<8xi64>, i64
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  %y = memref.load %flag[%i] : memref<8xi64>
  symm.signal add %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  return
}

// Another flag, which may be the same by another name; another rank; other threads; another width.
// CHECK-LABEL: @other_signals
func.func @other_signals(%ctx: !symm.ctx, %c2: !symm.ctx, %flag: !llvm.ptr, %alias: !llvm.ptr, %a: i64, %b: i32,
                         %p: i32, %q: i32) {
  // CHECK-COUNT-7: symm.signal
  // CHECK: return
  symm.signal add %ctx, %flag, %a, %p : !llvm.ptr, i64
  symm.signal add %ctx, %alias, %a, %p : !llvm.ptr, i64
  symm.signal add %ctx, %alias, %a, %q : !llvm.ptr, i64
  symm.signal add %ctx, %alias, %b, %q : !llvm.ptr, i32
  symm.signal add %ctx, %alias, %b, %q group block : !llvm.ptr, i32
  symm.signal add %ctx, %alias, %b, %q group warp : !llvm.ptr, i32
  symm.signal add %c2, %alias, %b, %q group warp : !llvm.ptr, i32
  return
}

// Another index, a branch, a loop, a block.
// CHECK-LABEL: @control_flow
func.func @control_flow(%ctx: !symm.ctx, %flag: memref<8xi64>, %i: index, %j: index, %a: i64, %p: i32, %yes: i1) {
  // CHECK-COUNT-5: symm.signal
  // CHECK: return
  symm.signal set %ctx, %flag[%i], %a, %p : memref<8xi64>, i64
  symm.signal set %ctx, %flag[%j], %a, %p : memref<8xi64>, i64
  scf.if %yes {
    symm.signal set %ctx, %flag[%j], %a, %p : memref<8xi64>, i64
  }
  symm.signal set %ctx, %flag[%j], %a, %p : memref<8xi64>, i64
  cf.br ^next
^next:
  symm.signal set %ctx, %flag[%j], %a, %p : memref<8xi64>, i64
  return
}

// Ranks count their barriers.
// CHECK-LABEL: @barriers
func.func @barriers(%ctx: !symm.ctx) {
  // CHECK-NEXT: symm.barrier %arg0 group block
  // CHECK-NEXT: symm.barrier %arg0 group block
  symm.barrier %ctx group block
  symm.barrier %ctx group block
  return
}
