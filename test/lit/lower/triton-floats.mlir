// Lines of floats in a Triton kernel (P1): two words of 64 bits, accessed as one of 16 bytes on NVIDIA GPUs.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=cuda:90 version=3.6.0' | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=hip:gfx942 version=3.6.0' | FileCheck %s --check-prefixes=CHECK,HIP

// CHECK-LABEL: sym_name = "pair"
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<128x!tt.ptr<i64>>, tensor<128xi64>, i32) -> (),
  sym_name = "pair"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<128x!tt.ptr<i64>>, %v: tensor<128xi64>, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK-NOT: gpu.barrier
  // CUDA: st.relaxed.sys.global.v4.b32 [$1], {a, b, c, d};
  // HIP: global_store_dwordx2 $1, $2, off sc0 sc1\0Aglobal_store_dwordx2 $1, $3, off offset:8 sc0 sc1
  // CHECK-SAME: ~{memory}{{.*}} pure = false
  symm.put_packet %ctx, %p, %v upper %v, sentinel 32, %r : tensor<128x!tt.ptr<i64>>, tensor<128xi64>, tensor<128xi64>
  // CHECK: scf.while
  // CUDA: ld.relaxed.sys.global.v4.b32 {a, b, c, d}, [$2];
  // CUDA: AGAIN:\0Asetp.eq.b32 missing, a, -1;\0Asetp.eq.or.b32 missing, b, -1, missing;
  // HIP: .Lsymm_again_${:uid}:\0Aglobal_load_dwordx2
  // CHECK-SAME: ~{memory}{{.*}} pure = false
  %0, %1 = symm.wait_packet %ctx, %p, sentinel 32 : tensor<128x!tt.ptr<i64>> -> tensor<128xi64>, tensor<128xi64>
  // A look is one thread's for all that hold the line: an atomic of each word.
  // CHECK-COUNT-4: "tt.atomic_rmw"(%{{.*}}, %{{.*}}) {atomic_rmw_op = 2 : i32, scope = 3 : i32, sem = 1 : i32}
  %2, %3, %4 = symm.try_packet %ctx, %p, sentinel 16 : tensor<128x!tt.ptr<i64>> -> tensor<128xi64>, tensor<128xi1>, tensor<128xi64>
  // What threads have received is cleared when all have it.
  // CHECK: gpu.barrier
  // CUDA: st.relaxed.sys.global.v2.b64 [$1], {a, b};
  // HIP: global_store
  symm.put_packet %ctx, %p, %v upper %v, sentinel 64, %r clear : tensor<128x!tt.ptr<i64>>, tensor<128xi64>, tensor<128xi64>
  // CUDA: ld.relaxed.sys.global.v2.b64
  %5, %6 = symm.wait_packet %ctx, %p, sentinel 64 : tensor<128x!tt.ptr<i64>> -> tensor<128xi64>, tensor<128xi64>
  "tt.return"() : () -> ()
}) : () -> ()
