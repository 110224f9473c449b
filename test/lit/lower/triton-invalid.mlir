// What has no form in Triton is refused at the op (S1).
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton --split-input-file --verify-diagnostics

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, !llvm.ptr, i64, i32, memref<i64>, i1) -> (),
  sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %l: !llvm.ptr, %v: i64, %r: i32, %mem: memref<i64>, %m: i1):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // expected-error @below {{S1: takes a !tt.ptr to integers or floats, or a tensor of them, got !llvm.ptr}}
  %0 = symm.remote_load %ctx, %l, %r : !llvm.ptr -> f32
  // expected-error @below {{S1: Triton's cache modifiers here are ca, cg, cv, got wb}}
  %1 = symm.remote_load %ctx, %p, %r cache wb : !tt.ptr<i64> -> i64
  // expected-error @below {{S1: Triton's cache modifiers here are wb, cg, cs, wt, got ca}}
  symm.remote_store %ctx, %p, %v, %r cache ca : !tt.ptr<i64>, i64
  // expected-error @below {{S1: Triton has no volatile stores}}
  symm.remote_store %ctx, %p, %v, %r volatile : !tt.ptr<i64>, i64
  // expected-error @below {{S1: takes no count here: use blocks of pointers, and a mask}}
  symm.get %ctx, %p, %p, %r count %v : i64 of i64 : !tt.ptr<i64>, !tt.ptr<i64>
  // expected-error @below {{S1: the bulk copy engine is not available from Triton}}
  symm.put %ctx, %p, %p, %r group block engine bulk : !tt.ptr<i64>, !tt.ptr<i64>
  // expected-error @below {{S1: a wait in a Triton kernel has no timeout}}
  %2 = symm.wait %ctx, %p ge %v timeout %v : !tt.ptr<i64>, i64 -> i1
  // expected-error @below {{S1: takes a flag of type !tt.ptr}}
  symm.wait %ctx, %mem[] ge %v : memref<i64>, i64
  // expected-error @below {{S1: Triton's compare-and-swap takes no mask}}
  %3 = symm.atomic_cas %ctx, %p, %v, %v, %r mask %m : i1 : !tt.ptr<i64>, i64
  // expected-error @below {{S1: is for host functions, not for kernels}}
  symm.barrier_all %ctx
  // expected-error @below {{S1: is not available in Triton kernels; use Triton's own}}
  symm.print "{}"(%v) : i64
  // expected-error @below {{S1: a record of a Triton kernel takes no values at its end}}
  symm.trace_end %v(%v)
  "tt.return"() : () -> ()
}) : () -> ()

// -----

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, vector<4xf32>, i32) -> (), sym_name = "invalid_vector"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %v: vector<4xf32>, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // expected-error @below {{S1: Triton has tensors for vectors, got vector<4xf32>}}
  %0 = symm.remote_load %ctx, %p, %r : !tt.ptr<f32> -> vector<4xf32>
  // expected-error @below {{S1: Triton has tensors for vectors, got vector<4xf32>}}
  symm.remote_store %ctx, %p, %v, %r : !tt.ptr<f32>, vector<4xf32>
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// Packets carry vectors elsewhere.
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, vector<4xi32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %slots: !tt.ptr<i64>, %v: vector<4xi32>, %e: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // expected-error @below {{S1: Triton has tensors for vectors, got vector<4xi32>}}
  symm.put_packet %ctx, %slots, %v, %e, %r : !tt.ptr<i64>, vector<4xi32>
  // expected-error @below {{S1: Triton has tensors for vectors, got vector<2xf16>}}
  %0 = symm.wait_packet %ctx, %slots, %e : !tt.ptr<i64> -> vector<2xf16>
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// A context comes only from a table.
"tt.func"() <{function_type = (!symm.ctx, !tt.ptr<f32>, i32) -> (), sym_name = "k"}> ({
^bb0(%ctx: !symm.ctx, %p: !tt.ptr<f32>, %r: i32):
  // expected-error @below {{S1: takes a context that a symm.ctx of the same function makes}}
  %0 = symm.as_remote %ctx, %p, %r : !tt.ptr<f32>
  "tt.return"() : () -> ()
}) : () -> ()

// -----

func.func @parts_to_a_function(%bases: !llvm.ptr, %me: i32, %n: i32) {
  // expected-error @below {{S1: a context is passed to a function or a block as the pointer to its table}}
  %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
  func.call @helper(%ctx) : (!symm.ctx) -> ()
  return
}
func.func private @helper(!symm.ctx)
