// Orders of chips whose memory model is not known here, and what one version can't compile.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=hip:gfx1100 --split-input-file \
// RUN:   --verify-diagnostics=only-expected
// RUN: not symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:60 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SM60
// RUN: not symm-opt %s --allow-unregistered-dialect '--symm-lower-to-triton=target=hip:gfx942 version=3.6.0' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CAS
// SM60: the memory order of sm_60 is not known here
// CAS: 'symm.atomic_cas' op S1: Triton 3.6 has no compare-and-swap at system scope for AMD GPUs; 3.7 has

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, tensor<8x!tt.ptr<i64>>, tensor<8xi64>, i32) -> (),
  sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %q: tensor<8x!tt.ptr<i64>>, %w: tensor<8xi64>, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %0 = symm.remote_load %ctx, %p, %r : !tt.ptr<i64> -> i64
  %1 = symm.atomic_rmw add %ctx, %p, %v, %r sem relaxed : !tt.ptr<i64>, i64
  // expected-error @below {{S1: the memory order of gfx1100 is not known here; that of sm_70 and later}}
  %2 = symm.atomic_rmw add %ctx, %p, %v, %r : !tt.ptr<i64>, i64
  // expected-error @below {{S1: the memory order of gfx1100 is not known here}}
  symm.wait %ctx, %p ge %v sem relaxed : !tt.ptr<i64>, i64
  // expected-error @below {{S1: the memory order of gfx1100 is not known here}}
  symm.fence
  // expected-error @below {{S1: the clock of gfx1100 is not known here, which a timeline needs}}
  %4 = symm.trace_begin %ctx, "wait 0 ge"(%v)
  %3 = symm.atomic_cas %ctx, %q, %w, %w, %r sem relaxed : tensor<8x!tt.ptr<i64>>, tensor<8xi64>
  "tt.return"() : () -> ()
}) : () -> ()
