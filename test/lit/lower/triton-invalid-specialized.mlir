// Ops in a loop that Triton divides among partitions of the warps: it drops them, or does them in several of the
// partitions (S1). Loads and stores of tensors are like Triton's own. Where it has no partitions, there is nothing to
// refuse.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:100 --split-input-file \
// RUN:   --verify-diagnostics
// For sm_90 it divides the whole kernel.
// RUN: not symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:90 --split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SM90
// SM90-COUNT-11: op S1: in a loop with warp_specialize=True, which Triton divides
// SM90-NOT: op S1:
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:80 --split-input-file 2> /dev/null \
// RUN:   | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=hip:gfx942 --split-input-file 2> /dev/null \
// RUN:   | FileCheck %s
// CHECK: sym_name = "every_op"
// CHECK: sym_name = "inner"

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, !tt.ptr<f32>, i32) -> (), sym_name = "every_op"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %p: !tt.ptr<f32>, %v: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
  scf.for %i = %zero to %v step %v : i32 {
    %me = symm.rank %ctx
    %far = symm.as_remote %ctx, %p, %i : !tt.ptr<f32>
    %x = symm.remote_load %ctx, %p, %i : !tt.ptr<f32> -> f32
    symm.remote_store %ctx, %p, %x, %i : !tt.ptr<f32>, f32
    // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
    symm.signal add %ctx, %f, %v, %i sem relaxed : !tt.ptr<i32>, i32
    // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
    symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
    // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
    symm.fence sem acquire
    // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
    symm.barrier %ctx
    // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
    %old = symm.atomic_rmw add %ctx, %f, %v, %i sem relaxed : !tt.ptr<i32>, i32
    // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
    symm.get %ctx, %p, %p, %i : !tt.ptr<f32>, !tt.ptr<f32>
    // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
    symm.put_signal set %ctx, %p, %p, %f, %v, %i : !tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<i32>, i32
  } {tt.warp_specialize}
  symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32) -> (), sym_name = "inner"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  scf.for %i = %zero to %v step %v : i32 {
    scf.for %j = %zero to %v step %v : i32 {
      // expected-error @+1 {{S1: in a loop with warp_specialize=True}}
      symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
    }
  } {tt.warp_specialize}
  scf.for %i = %zero to %v step %v : i32 {
    symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
  }
  "tt.return"() : () -> ()
}) : () -> ()
