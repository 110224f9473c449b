// Packets that a Triton target has no access for are refused at the op (S1).
// RUN: symm-opt %s --allow-unregistered-dialect '--symm-lower-to-triton=target=hip:gfx90a' --verify-diagnostics
// RUN: not symm-opt %s --allow-unregistered-dialect '--symm-lower-to-triton=target=cuda:60' 2>&1 | FileCheck %s
// CHECK-COUNT-3: op S1: the accesses of sm_60 that are made as a whole are not known here
// CHECK-NOT: op S1

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %e: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // expected-error @below {{S1: the accesses of gfx90a that are made as a whole are not known here}}
  symm.put_packet %ctx, %p, %v, %e, %r : !tt.ptr<i64>, i64
  // expected-error @below {{S1: the accesses of gfx90a that are made as a whole are not known here}}
  %0 = symm.wait_packet %ctx, %p, %e : !tt.ptr<i64> -> i64
  // expected-error @below {{S1: the accesses of gfx90a that are made as a whole are not known here}}
  %1, %2 = symm.try_packet %ctx, %p, %e : !tt.ptr<i64> -> i64, i1
  "tt.return"() : () -> ()
}) : () -> ()
