// A carrier that says nothing sensible, and a call that does not fit its carrier.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-raise-carriers --split-input-file --verify-diagnostics

// expected-error @+1 {{is not a carrier of a symm op: there is no op symm.remote_lode}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "remote_lode(ctx)"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: 'rank' names no operands}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "rank"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: 'rank(ctx' lacks a ')'}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "rank(ctx"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: 'fence() {sem = release' lacks a '}'}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "fence() {sem = release"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: symm.rank has no operand 'peer', but ctx}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "rank(ctx, peer)"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: symm.fence has no attribute 'cache'}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "fence() {cache = cg}"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: 'sem' is relaxed or acquire or release or acq_rel, not 'soon'}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "fence() {sem = soon}"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: 'release' is not key = value}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "fence() {release}"} : () -> ()

// -----

"tt.func"() <{function_type = (!tt.ptr<i64>) -> i32, sym_name = "symm.rank.a"}> ({})
  {symm.carrier = "rank(ctx)"} : () -> ()
"tt.func"() <{function_type = (!tt.ptr<i64>) -> i32, sym_name = "symm.base.a"}> ({})
  {symm.carrier = "heap_base(ctx)"} : () -> ()
"tt.func"() <{function_type = (!tt.ptr<i64>, i64) -> (), sym_name = "kernel"}> ({
^bb0(%table: !tt.ptr<i64>, %n: i64):
  // expected-error @+1 {{stands for symm.rank with 1 operands, got 2}}
  %a = "tt.call"(%table, %n) <{callee = @symm.rank.a}> : (!tt.ptr<i64>, i64) -> i32
  // expected-error @+1 {{takes the context as a pointer to its table, !tt.ptr<i64>, got i64}}
  %b = "tt.call"(%n) <{callee = @symm.rank.a}> : (i64) -> i32
  // expected-error @+1 {{symm.heap_base takes one operand 'rank', got 0}}
  %c = "tt.call"(%table) <{callee = @symm.base.a}> : (!tt.ptr<i64>) -> i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: ctx.rank and ctx.num_ranks need ctx, and each other}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "rank(ctx, ctx.rank)"} : () -> ()

// -----

// expected-error @+1 {{is not a carrier of a symm op: ctx.rank and ctx.num_ranks need ctx, and each other}}
"tt.func"() <{function_type = () -> (), sym_name = "symm.a"}> ({}) {symm.carrier = "fence(ctx.rank, ctx.num_ranks)"}
  : () -> ()

// -----

"tt.func"() <{function_type = (!tt.ptr<i64>, i64, i32) -> i32, sym_name = "symm.rank.a"}> ({})
  {symm.carrier = "rank(ctx, ctx.rank, ctx.num_ranks)"} : () -> ()
"tt.func"() <{function_type = (!tt.ptr<i64>, i64, i32) -> (), sym_name = "kernel"}> ({
^bb0(%bases: !tt.ptr<i64>, %me: i64, %n: i32):
  // expected-error @+1 {{takes ctx.rank as an i32, got i64}}
  %a = "tt.call"(%bases, %me, %n) <{callee = @symm.rank.a}> : (!tt.ptr<i64>, i64, i32) -> i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, i32) -> f32, sym_name = "symm.remote_load.a"}> ({})
  {symm.carrier = "remote_load(ctx, ptr, rank)"} : () -> ()
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, i32) -> (), sym_name = "kernel"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %peer: i32):
  // expected-error @+1 {{accesses elements with their own type: !tt.ptr<f32> does not hold i16}}
  %a = "tt.call"(%table, %p, %peer) <{callee = @symm.remote_load.a}> : (!tt.ptr<i64>, !tt.ptr<f32>, i32) -> i16
  "tt.return"() : () -> ()
}) : () -> ()
