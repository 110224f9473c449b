// Where symm.is_near has said that a rank is far, an access of a Triton kernel through symm.as_remote is an error (S1).
// RUN: symm-opt %s --allow-unregistered-dialect --symm-check-reach --verify-diagnostics
// RUN: not symm-opt %s --allow-unregistered-dialect --symm-triton=version=3.9.0 2>&1 | FileCheck %s
// CHECK: error: 'tt.load' op S1: an access through as_remote of a rank that is far here

module attributes {symm.engine = "nvshmem"} {
  "tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, tensor<8xi1>) -> (), sym_name = "kernel"}> ({
  ^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %peer: i32, %mask: tensor<8xi1>):
    %ctx = symm.ctx %table : !tt.ptr<i64>
    %at = "tt.make_range"() <{end = 8 : i32, start = 0 : i32}> : () -> tensor<8xi32>
    %remote = symm.as_remote %ctx, %p, %peer : !tt.ptr<i32>
    %block = "tt.splat"(%remote) : (!tt.ptr<i32>) -> tensor<8x!tt.ptr<i32>>
    %q = "tt.addptr"(%block, %at) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> tensor<8x!tt.ptr<i32>>
    %near = symm.is_near %ctx, %peer
    %true = "arith.constant"() <{value = true}> : () -> i1
    %far = "arith.xori"(%near, %true) : (i1, i1) -> i1
    %all_near = "tt.splat"(%near) : (i1) -> tensor<8xi1>
    %all_far = "tt.splat"(%far) : (i1) -> tensor<8xi1>
    "scf.if"(%far) ({
      // expected-error @below {{'tt.load' op S1}}
      %v = "tt.load"(%q, %mask) : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
      // expected-error @below {{'tt.atomic_rmw' op S1}}
      %old = "tt.atomic_rmw"(%q, %at, %mask) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
      // Nothing gets there.
      "tt.store"(%q, %v, %all_near) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> ()
      // The address itself is a value.
      "test.use"(%q) : (tensor<8x!tt.ptr<i32>>) -> ()
      "scf.yield"() : () -> ()
    }, {
      "tt.store"(%q, %at) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> ()
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    // A mask says it, too.
    "tt.store"(%q, %at, %all_near) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> ()
    // expected-error @below {{'tt.store' op S1}}
    "tt.store"(%q, %at, %all_far) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> ()
    "cf.cond_br"(%near)[^near, ^rest] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^near:
    "tt.return"() : () -> ()
  ^rest:
    // expected-error @below {{'tt.store' op S1}}
    "tt.store"(%q, %at, %mask) : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> ()
    "tt.return"() : () -> ()
  }) : () -> ()
}
