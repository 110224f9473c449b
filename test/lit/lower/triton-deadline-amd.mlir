// Waits with a deadline in a Triton kernel on AMD: after many polls, a loop that looks at the record and the clock, too.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=hip:gfx942 --split-input-file \
// RUN:   --verify-diagnostics | FileCheck %s

// CHECK-LABEL: sym_name = "flag"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.ptr<i64>) -> (), sym_name = "flag"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %v: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: scf.while
  // CHECK: global_load_dword $0, $1, off sc0 sc1
  // CHECK: scf.if
  // CHECK: arith.divui
  // CHECK: s_memrealtime $0
  // CHECK: scf.while
  // CHECK: global_load_dword $0, $1, off sc0 sc1
  // CHECK: global_load_dwordx2 $0, $1, off sc0 sc1
  // CHECK: s_memrealtime $0
  // CHECK: s_sleep 1
  // CHECK: scf.if
  // CHECK: global_atomic_smax_x2 $0, $1, $2, off sc0 sc1
  // CHECK-COUNT-4: global_store_dwordx2 $1, $2, off sc0 sc1
  // CHECK-NOT: global_atomic_swap_x2
  // CHECK: global_load_dwordx2
  // CHECK: global_store_dwordx2
  // It acquires whether it has seen the flag early or late.
  // CHECK: buffer_inv sc0 sc1
  symm.wait %ctx, %p ge %v deadline %d : !tt.ptr<i64> tag 7 : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK-LABEL: sym_name = "logged"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, !tt.ptr<i64>) -> (), sym_name = "logged"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK-NOT: arith.divui
  // CHECK: arith.constant 200 : i64
  // CHECK: global_atomic_smax_x2
  // CHECK-COUNT-5: global_store_dwordx2
  // CHECK: global_atomic_swap_x2
  // CHECK-COUNT-6: global_store_dwordx2
  // CHECK-NOT: global_store_dwordx2
  symm.wait %ctx, %p ge %v deadline %d : !tt.ptr<i64> tag 9 limit 2000 logs : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// -----

"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<128x!tt.ptr<i64>>, i32, !tt.ptr<i64>) -> (), sym_name = "packets"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<128x!tt.ptr<i64>>, %e: i32, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // expected-error @below {{S1: packets have deadlines on NVIDIA GPUs only: give the kernel a context without timeout}}
  %0 = symm.wait_packet %ctx, %p, %e deadline %d : !tt.ptr<i64> tag 2 : tensor<128x!tt.ptr<i64>> -> tensor<128xi64>
  "tt.return"() : () -> ()
}) : () -> ()

// -----

"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<128x!tt.ptr<i64>>, !tt.ptr<i64>) -> (), sym_name = "floats"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<128x!tt.ptr<i64>>, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // expected-error @below {{S1: floats in lines have deadlines on NVIDIA GPUs only: give the kernel a context without timeout}}
  %0, %1 = symm.wait_packet %ctx, %p, sentinel 32 deadline %d : !tt.ptr<i64> tag 2 : tensor<128x!tt.ptr<i64>> -> tensor<128xi64>, tensor<128xi64>
  "tt.return"() : () -> ()
}) : () -> ()
