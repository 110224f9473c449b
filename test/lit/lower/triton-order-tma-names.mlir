// Every op by which the GPU's engine for tensors (TMA) stores or loads, each in a kernel of its own: a release after it waits
// for the store, and an acquire before it is followed by a fence of the proxies.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --symm-lower-to-triton=target=cuda:90 | FileCheck %s

// CHECK: "tt.descriptor_store"
// CHECK: "cp.async.bulk.wait_group 0;
// CHECK: "ttg.barrier"
// CHECK: "tt.atomic_rmw"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  "tt.descriptor_store"(%v) : (i32) -> ()
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "tt.descriptor_scatter"
// CHECK: "cp.async.bulk.wait_group 0;
// CHECK: "ttg.barrier"
// CHECK: "tt.atomic_rmw"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  "tt.descriptor_scatter"(%v) : (i32) -> ()
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "tt.descriptor_reduce"
// CHECK: "cp.async.bulk.wait_group 0;
// CHECK: "ttg.barrier"
// CHECK: "tt.atomic_rmw"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  "tt.descriptor_reduce"(%v) : (i32) -> ()
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "ttng.async_tma_copy_local_to_global"
// CHECK: "cp.async.bulk.wait_group 0;
// CHECK: "ttg.barrier"
// CHECK: "tt.atomic_rmw"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  "ttng.async_tma_copy_local_to_global"(%v) : (i32) -> ()
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "ttng.async_tma_scatter"
// CHECK: "cp.async.bulk.wait_group 0;
// CHECK: "ttg.barrier"
// CHECK: "tt.atomic_rmw"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  "ttng.async_tma_scatter"(%v) : (i32) -> ()
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "ttng.async_tma_reduce"
// CHECK: "cp.async.bulk.wait_group 0;
// CHECK: "ttg.barrier"
// CHECK: "tt.atomic_rmw"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  "ttng.async_tma_reduce"(%v) : (i32) -> ()
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "fence.proxy.async.global;
// CHECK: "ttg.barrier"
// CHECK-NEXT: "tt.descriptor_load"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
  %0 = "tt.descriptor_load"(%v) : (i32) -> i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "fence.proxy.async.global;
// CHECK: "ttg.barrier"
// CHECK-NEXT: "tt.descriptor_gather"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
  %0 = "tt.descriptor_gather"(%v) : (i32) -> i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "fence.proxy.async.global;
// CHECK: "ttg.barrier"
// CHECK-NEXT: "ttng.async_tma_copy_global_to_local"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
  %0 = "ttng.async_tma_copy_global_to_local"(%v) : (i32) -> i32
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// CHECK: "fence.proxy.async.global;
// CHECK: "ttg.barrier"
// CHECK-NEXT: "ttng.async_tma_gather"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32) -> (), sym_name = "k"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
  %0 = "ttng.async_tma_gather"(%v) : (i32) -> i32
  "tt.return"() : () -> ()
}) : () -> ()
