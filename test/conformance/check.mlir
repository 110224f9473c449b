// RUN: %run-all
// RUN: not symm-run %s --ranks 2 --driver cpu --arg wrong=1 2>&1 | FileCheck %s
// symm.check: one that holds is silent; one that does not names its rank and place and shows its values, the program
// goes on to the next, and the run fails.

module attributes {gpu.container_module} {
  func.func @main(%ctx: !symm.ctx, %wrong: i64 {symm.name = "wrong", symm.default = 0 : i64}) {
    %none = arith.constant 0 : i64
    %holds = arith.cmpi eq, %wrong, %none : i64
    %me = symm.rank %ctx
    %i1 = arith.constant true
    %i8 = arith.constant -8 : i8
    %i16 = arith.constant -16 : i16
    %i32 = arith.constant -32 : i32
    %i64 = arith.constant -9223372036854775808 : i64
    %index = arith.constant 64 : index
    %f16 = arith.constant 0.5 : f16
    %bf16 = arith.constant -1.5 : bf16
    %f32 = arith.constant 3.25 : f32
    %f64 = arith.constant 1.0e18 : f64
    // CHECK-DAG: check.mlir:[[# @LINE + 2]]:5: rank 0: check failed: on rank 0: {1} -8 -16 -32
    // CHECK-DAG: check.mlir:[[# @LINE + 1]]:5: rank 1: check failed: on rank 1: {1} -8 -16 -32
    symm.check %holds, "on rank {}: {{{}}} {} {} {}"(%me, %i1, %i8, %i16, %i32) : i32, i1, i8, i16, i32
    // CHECK-DAG: -9223372036854775808 64 0.5 -1.5 3.25 1000000000000000000
    symm.check %holds, "{} {} {} {} {} {}"(%i64, %index, %f16, %bf16, %f32, %f64) : i64, index, f16, bf16, f32, f64
    symm.check %i1, "this never fails"
    return
  }
}
