// With an engine, an access through the as_remote of a far rank is left out and recorded with the rank, as nothing is
// mapped there (N4); what symm's ops access is checked in this rank's heap, as without.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-guard-accesses --mlir-print-op-generic | FileCheck %s

// CHECK: "builtin.module"
module attributes {symm.engine = "nvshmem"} {
// CHECK-LABEL: sym_name = "plain"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, i32) -> (), sym_name = "plain"}> ({
^bb0(%table: !tt.ptr<i64>, %base: !tt.ptr<f16>, %peer: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %remote = symm.as_remote %ctx, %base, %peer : !tt.ptr<f16>
  // CHECK: "symm.heap_delta"
  // CHECK: "tt.atomic_rmw"
  // CHECK: %[[NEAR:.*]] = "symm.is_near"(%{{.*}}, %[[PEER:arg[0-9]+]])
  // CHECK: %[[LOWEST:.*]] = "arith.select"(%[[NEAR]],
  // CHECK: %[[RANK:.*]] = "arith.{{ext[su]i}}"(%[[PEER]])
  // CHECK: "arith.cmpi"(%[[LOWEST]],
  // CHECK: "scf.if"
  // CHECK: "tt.store"(%{{.*}}, %[[RANK]])
  // CHECK: "tt.load"
  %v = "tt.load"(%remote) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f16>) -> f16 loc("k.py":9:3)
  // CHECK-NOT: "symm.is_near"
  // CHECK: "symm.remote_store"
  symm.remote_store %ctx, %base, %v, %peer : !tt.ptr<f16>, f16
  "tt.return"() : () -> ()
}) : () -> ()

// Of several ranks, those are far that have no base here: what leads there leads from the base of this rank to 0.
// CHECK-LABEL: sym_name = "ranks"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, tensor<8xi32>) -> (), sym_name = "ranks"}> ({
^bb0(%table: !tt.ptr<i64>, %base: !tt.ptr<f16>, %ranks: tensor<8xi32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %all = "tt.splat"(%base) : (!tt.ptr<f16>) -> tensor<8x!tt.ptr<f16>>
  %remote = symm.as_remote %ctx, %all, %ranks each tensor<8xi32> : tensor<8x!tt.ptr<f16>>
  // CHECK: %[[DISTANCE:.*]] = "arith.subi"({{.*}} : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  // CHECK: "tt.atomic_rmw"
  // CHECK: %[[HEAP:.*]] = "symm.heap_base"
  // CHECK: %[[MINE:.*]] = "tt.ptr_to_int"(%[[HEAP]])
  // CHECK: %[[AWAY:.*]] = "arith.subi"(%{{.*}}, %[[MINE]])
  // CHECK: %[[AWAYS:.*]] = "tt.splat"(%[[AWAY]])
  // CHECK: %[[FAR:.*]] = "arith.cmpi"(%[[DISTANCE]], %[[AWAYS]])
  // CHECK: "arith.select"(%[[FAR]],
  // CHECK: "tt.reduce"
  // CHECK: "tt.atomic_rmw"
  // CHECK: "tt.load"
  %v = "tt.load"(%remote) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<8x!tt.ptr<f16>>) -> tensor<8xf16> loc("k.py":19:3)
  "tt.return"() : () -> ()
}) : () -> ()
}
// CHECK: symm.waits = "{{[0-9]+}}\09plain\09k.py\099\09outside tl.load pointer\0A
// CHECK-SAME: \09plain\09k.py\099\09far tl.load pointer\0A
// CHECK-SAME: \09ranks\09k.py\0919\09far tl.load pointer\0A
