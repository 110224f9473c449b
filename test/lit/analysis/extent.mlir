// The bytes that a loop's accesses touch are computed before it where their bounds are known; a loop in which one is
// not stays as it is.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation --symm-pipeline-remote | FileCheck %s

// What a mask lets through ends at its limit, and a division by what is fixed keeps the order.
// CHECK-LABEL: sym_name = "known"
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i64>, %{{.*}}: !tt.ptr<f16>, %{{.*}}: !tt.ptr<f16>, %{{.*}}: i32, %[[N:[a-z0-9]+]]: i32, %[[LIMIT:[a-z0-9]+]]: i32
// CHECK: %[[WIDE:.*]] = arith.extsi %[[LIMIT]] : i32 to i64
// CHECK: %[[LAST:.*]] = arith.subi %[[WIDE]], %{{.*}} : i64
// CHECK: arith.minsi %{{.*}}, %[[LAST]] : i64
// CHECK: {tt.num_stages = 6 : i32}
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, !tt.ptr<f16>, i32, i32, i32) -> (), sym_name = "known"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %peer: i32, %n: i32, %limit: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ps = "tt.splat"(%p) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>
  %qs = "tt.splat"(%q) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>
  %range = "tt.make_range"() {start = 0 : i32, end = 8192 : i32} : () -> tensor<8192xi32>
  %limits = "tt.splat"(%limit) : (i32) -> tensor<8192xi32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %row = arith.divsi %i, %n : i32
    %rows = "tt.splat"(%row) : (i32) -> tensor<8192xi32>
    %at = arith.addi %rows, %range : tensor<8192xi32>
    %mask = arith.cmpi slt, %at, %limits : tensor<8192xi32>
    %from = "tt.addptr"(%ps, %at) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %to = "tt.addptr"(%qs, %at) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %v = symm.remote_load %ctx, %from, %peer mask %mask : tensor<8192xi1> : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    "tt.store"(%to, %v, %mask) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>, tensor<8192xi1>) -> ()
  }
  "tt.return"() : () -> ()
}) : () -> ()

// An offset that was loaded may be anything.
// CHECK-LABEL: sym_name = "unknown"
// CHECK-NOT: tt.num_stages
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "unknown"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f16>, %q: !tt.ptr<i32>, %peer: i32, %n: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ps = "tt.splat"(%p) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>
  %range = "tt.make_range"() {start = 0 : i32, end = 8192 : i32} : () -> tensor<8192xi32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %place = "tt.addptr"(%q, %i) : (!tt.ptr<i32>, i32) -> !tt.ptr<i32>
    %offset = "tt.load"(%place) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<i32>) -> i32
    %offsets = "tt.splat"(%offset) : (i32) -> tensor<8192xi32>
    %at = arith.addi %offsets, %range : tensor<8192xi32>
    %from = "tt.addptr"(%ps, %at) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>) -> tensor<8192x!tt.ptr<f16>>
    %to = "tt.splat"(%p) : (!tt.ptr<f16>) -> tensor<8192x!tt.ptr<f16>>
    %v = symm.remote_load %ctx, %from, %peer : tensor<8192x!tt.ptr<f16>> -> tensor<8192xf16>
    "tt.store"(%to, %v) : (tensor<8192x!tt.ptr<f16>>, tensor<8192xf16>) -> ()
  }
  "tt.return"() : () -> ()
}) : () -> ()
