// Packets in a Triton kernel (P1): assembly in a loop that runs once, and a barrier before an answer alone.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=cuda:90 version=3.6.0' | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=hip:gfx942 version=3.6.0' | FileCheck %s --check-prefixes=CHECK,HIP

// CHECK-LABEL: sym_name = "pair"
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<128x!tt.ptr<i64>>, tensor<128xf16>, i32, i32) -> (),
  sym_name = "pair"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<128x!tt.ptr<i64>>, %v: tensor<128xf16>, %e: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // An element is zero-extended to the 64 bits of data.
  // CHECK: "tt.bitcast"(%{{.*}}) : (tensor<128xf16>) -> tensor<128xi16>
  // CHECK-NEXT: arith.extui %{{.*}} : tensor<128xi16> to tensor<128xi64>
  // CHECK-NOT: gpu.barrier
  // CUDA: st.relaxed.sys.global.v2.b64
  // HIP: global_store_dwordx2 $1, $2, off sc0 sc1\0Aglobal_store_dwordx2 $1, $3, off offset:8 sc0 sc1
  // CHECK-SAME: ~{memory}{{.*}} pure = false
  symm.put_packet %ctx, %p, %v, %e, %r : tensor<128x!tt.ptr<i64>>, tensor<128xf16>
  // CHECK: scf.while
  // CUDA: ld.relaxed.sys.global.v2.b64 {$0, $1}, [$2];
  // CUDA-SAME: ~{memory}{{.*}} pure = false
  // CUDA: AGAIN:
  // CUDA-SAME: nanosleep
  // HIP: .Lsymm_again_${:uid}:\0Aglobal_load_dwordx2
  // CHECK-SAME: ~{memory}{{.*}} pure = false
  // CHECK: scf.condition
  // CHECK: arith.trunci %{{.*}} : tensor<128xi64> to tensor<128xi16>
  %0 = symm.wait_packet %ctx, %p, %e : tensor<128x!tt.ptr<i64>> -> tensor<128xf16>
  // A look is one thread's for all that hold the element: an atomic of each half.
  // CHECK-COUNT-2: "tt.atomic_rmw"(%{{.*}}, %{{.*}}) {atomic_rmw_op = 2 : i32, scope = 3 : i32, sem = 1 : i32}
  %1, %2 = symm.try_packet %ctx, %p, %e : tensor<128x!tt.ptr<i64>> -> tensor<128xf16>, tensor<128xi1>
  // CHECK: gpu.barrier
  // CUDA: st.relaxed
  // HIP: global_store
  symm.put_packet %ctx, %p, %0, %e, %r : tensor<128x!tt.ptr<i64>>, tensor<128xf16>
  // CHECK-NOT: gpu.barrier
  // CUDA: st.relaxed
  // HIP: global_store
  symm.put_packet %ctx, %p, %0, %e, %r : tensor<128x!tt.ptr<i64>>, tensor<128xf16>
  "tt.return"() : () -> ()
}) : () -> ()

// What brings the threads together in between does.
// CHECK-LABEL: sym_name = "met"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32, i32) -> (), sym_name = "met"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %e: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %0 = symm.wait_packet %ctx, %p, %e : !tt.ptr<i64> -> i64
  // CHECK: gpu.barrier
  "gpu.barrier"() : () -> ()
  // CHECK-NOT: gpu.barrier
  // CHECK: "tt.return"
  symm.put_packet %ctx, %p, %v, %e, %r : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// A barrier of shared memory alone does not: what a thread has read may still be on its way.
// CHECK-LABEL: sym_name = "apart"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, i32, i32) -> (), sym_name = "apart"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %e: i32, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %0 = symm.wait_packet %ctx, %p, %e : !tt.ptr<i64> -> i64
  // CHECK: "ttg.barrier"() {addrSpace = 1 : i32}
  "ttg.barrier"() {addrSpace = 1 : i32} : () -> ()
  // CHECK: gpu.barrier
  // CHECK: "tt.return"
  symm.put_packet %ctx, %p, %v, %e, %r : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()
