// What kernels with an engine cannot do.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton -split-input-file -verify-diagnostics

module attributes {symm.engine = "openshmem"} {
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32) -> (), sym_name = "another_engine"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %r: i32):
  // expected-error@+1 {{'symm.ctx' op S1: needs the engine "openshmem", which Triton kernels for sm_90 do not have}}
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.remote_store %ctx, %f, %r, %r : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()
}

// -----

module attributes {symm.engine = "nvshmem"} {
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32) -> (), sym_name = "partitions"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // expected-error@+1 {{'symm.remote_store' op S1: an engine needs all warps of a kernel, and this one divides them among partitions}}
  symm.remote_store %ctx, %f, %r, %r : !tt.ptr<i32>, i32
  "ttg.warp_specialize"() ({
    "ttg.warp_yield"() : () -> ()
  }) : () -> ()
  "tt.return"() : () -> ()
}) : () -> ()
}
