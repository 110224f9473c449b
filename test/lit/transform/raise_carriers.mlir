// Calls of carriers become symm ops; there is one context for each table, and the carriers go.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-raise-carriers | FileCheck %s

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, i32, i1, f32) -> f32, sym_name = "symm.remote_load.1f3a",
  sym_visibility = "private"}> ({})
  {symm.carrier = "remote_load(ctx, ptr, rank, mask, other) {cache = cg, volatile = true}"}
  : () -> ()
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8xf32>, tensor<8x!tt.ptr<f32>>, i32) -> (),
  sym_name = "symm.remote_store.2b", sym_visibility = "private"}> ({})
  {symm.carrier = "remote_store(ctx, value, ptr, rank)"}
  : () -> ()
"tt.func"() <{function_type = (!tt.ptr<i64>) -> i32, sym_name = "symm.rank.77", sym_visibility = "private"}> ({})
  {symm.carrier = "rank(ctx)"} : () -> ()
// The text may be the name.
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64) -> (),
  sym_name = "symm.wait(ctx,flag,value){comparison=ge,unsigned=true}.8", sym_visibility = "private"}> ({}) : () -> ()
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32) -> (), sym_name = "symm.signal.9",
  sym_visibility = "private"}> ({})
  {symm.carrier = "signal(ctx, flag, value, rank) {kind = add, sem = relaxed, scope = gpu, group = thread}"} : () -> ()
"tt.func"() <{function_type = () -> (), sym_name = "symm.fence.10", sym_visibility = "private"}> ({})
  {symm.carrier = "fence() {sem = release}"} : () -> ()
"tt.func"() <{function_type = (f32) -> (), sym_name = "other", sym_visibility = "private"}> ({}) : () -> ()

// CHECK-NOT: symm.carrier
// CHECK: sym_name = "other"
// CHECK: sym_name = "kernel"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>, i1, f32) -> (),
  sym_name = "kernel"}> ({
// CHECK: ^bb0(%[[TABLE:.*]]: !tt.ptr<i64>, %[[TABLE2:.*]]: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<f32>,
^bb0(%table: !tt.ptr<i64>, %table2: !tt.ptr<i64>, %p: !tt.ptr<f32>, %q: tensor<8x!tt.ptr<f32>>, %m: i1, %z: f32):
  // CHECK-DAG: %[[CTX:.*]] = symm.ctx %[[TABLE]] : !tt.ptr<i64>
  // CHECK-DAG: %[[CTX2:.*]] = symm.ctx %[[TABLE2]] : !tt.ptr<i64>
  // CHECK: %[[ME:.*]] = symm.rank %[[CTX2]]
  %me = "tt.call"(%table2) <{callee = @symm.rank.77}> : (!tt.ptr<i64>) -> i32
  // CHECK: %[[V:.*]] = symm.remote_load %[[CTX]], %[[P]], %[[ME]] mask %{{[a-z0-9]+}} : i1
  // CHECK-SAME: other %{{[a-z0-9]+}} : f32 cache cg volatile
  // CHECK-SAME: : !tt.ptr<f32> -> f32
  %v = "tt.call"(%table, %p, %me, %m, %z) <{callee = @symm.remote_load.1f3a}>
    : (!tt.ptr<i64>, !tt.ptr<f32>, i32, i1, f32) -> f32
  %w = "tt.splat"(%v) : (f32) -> tensor<8xf32>
  // CHECK: symm.remote_store %[[CTX]], %{{.*}}, %{{.*}}, %[[ME]] : tensor<8x!tt.ptr<f32>>, tensor<8xf32>
  "tt.call"(%table, %w, %q, %me) <{callee = @symm.remote_store.2b}>
    : (!tt.ptr<i64>, tensor<8xf32>, tensor<8x!tt.ptr<f32>>, i32) -> ()
  %one = "arith.constant"() <{value = 1 : i64}> : () -> i64
  // A Triton program is a block, unless it says otherwise.
  // CHECK: symm.wait %[[CTX]], %[[TABLE2]] unsigned ge %{{.*}} group block : !tt.ptr<i64>, i64
  "tt.call"(%table, %table2, %one) <{callee = @"symm.wait(ctx,flag,value){comparison=ge,unsigned=true}.8"}>
    : (!tt.ptr<i64>, !tt.ptr<i64>, i64) -> ()
  // CHECK: symm.fence sem release group block
  "tt.call"() <{callee = @symm.fence.10}> : () -> ()
  // CHECK: symm.signal add %[[CTX]], %[[TABLE2]], %{{.*}}, %[[ME]] sem relaxed scope gpu : !tt.ptr<i64>, i64
  "tt.call"(%table, %table2, %one, %me) <{callee = @symm.signal.9}> : (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32) -> ()
  // CHECK: "tt.call"(%{{.*}}) <{callee = @other}>
  "tt.call"(%z) <{callee = @other}> : (f32) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// A context of parts is after the last of them: bases, the rank, how many ranks. A constant is the same everywhere.
"tt.func"() <{function_type = (!tt.ptr<i64>, i32, i32, !tt.ptr<f32>, i32) -> f32, sym_name = "symm.remote_load.11",
  sym_visibility = "private"}> ({})
  {symm.carrier = "remote_load(ctx, ctx.rank, ctx.num_ranks, ptr, rank)"}
  : () -> ()
// CHECK: sym_name = "parts"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, i32, i32) -> (), sym_name = "parts"}> ({
// CHECK: ^bb0(%[[BASES:.*]]: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<f32>, %[[PEER:.*]]: i32, %[[N:.*]]: i32):
^bb0(%bases: !tt.ptr<i64>, %p: !tt.ptr<f32>, %peer: i32, %n: i32):
  // CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
  // CHECK-DAG: %[[FIXED:.*]] = symm.ctx %[[BASES]] rank %[[THREE]] of %[[N]] : !tt.ptr<i64>
  %0 = arith.constant 0 : index
  // CHECK: scf.for
  scf.for %i = %0 to %0 step %0 {
    %three = arith.constant 3 : i32
    // CHECK: symm.remote_load %[[FIXED]], %[[P]], %[[PEER]]
    %a = "tt.call"(%bases, %three, %n, %p, %peer) <{callee = @symm.remote_load.11}>
      : (!tt.ptr<i64>, i32, i32, !tt.ptr<f32>, i32) -> f32
    // CHECK: %[[ME:.*]] = "test.rank"
    // CHECK-NEXT: %[[MINE:.*]] = symm.ctx %[[BASES]] rank %[[ME]] of %[[N]] : !tt.ptr<i64>
    %me = "test.rank"() : () -> i32
    "test.between"() : () -> ()
    // CHECK: symm.remote_load %[[MINE]], %[[P]], %[[PEER]]
    %b = "tt.call"(%bases, %me, %n, %p, %peer) <{callee = @symm.remote_load.11}>
      : (!tt.ptr<i64>, i32, i32, !tt.ptr<f32>, i32) -> f32
  }
  %again = arith.constant 3 : i32
  // CHECK: symm.remote_load %[[FIXED]], %[[P]], %[[PEER]]
  %c = "tt.call"(%bases, %again, %n, %p, %peer) <{callee = @symm.remote_load.11}>
    : (!tt.ptr<i64>, i32, i32, !tt.ptr<f32>, i32) -> f32
  "tt.return"() : () -> ()
}) : () -> ()
