// Accesses by the GPU's engine for tensors (TMA): its stores are done before a release, its loads come behind an
// acquire.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:90 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,TMA
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:80 \
// RUN:   | FileCheck %s --check-prefixes=CHECK,OLD
// OLD-NOT: bulk
// OLD-NOT: proxy

// CHECK-LABEL: sym_name = "kernel"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, i32, !tt.tensordesc<tensor<8xf32>>) -> (),
  sym_name = "kernel"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %r: i32, %d: !tt.tensordesc<tensor<8xf32>>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // TMA: asm_string = "ld.acquire.sys
  // TMA: asm_string = "fence.proxy.async.global;\0Amov.u32 $0, 0;", constraints = "=r,~{memory}", {{.*}}, pure = false}
  // CHECK: "ttg.barrier"
  // CHECK-NEXT: "tt.descriptor_load"
  symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
  %x = "tt.descriptor_load"(%d, %v) : (!tt.tensordesc<tensor<8xf32>>, i32) -> tensor<8xf32>
  "tt.descriptor_store"(%d, %x, %v) : (!tt.tensordesc<tensor<8xf32>>, tensor<8xf32>, i32) -> ()
  // TMA: asm_string = "cp.async.bulk.wait_group 0;\0Amov.u32 $0, 0;", constraints = "=r,~{memory}", {{.*}},
  // TMA-SAME: pure = false}
  // CHECK: "ttg.barrier"
  // CHECK-NEXT: "tt.atomic_rmw"
  symm.signal set %ctx, %f, %v, %r : !tt.ptr<i32>, i32
  // TMA: "cp.async.bulk.wait_group 0;
  // TMA-NEXT: "ttg.barrier"
  // TMA-NEXT: "fence.acq_rel.sys;
  // TMA-NEXT: "fence.proxy.async.global;
  // TMA-NEXT: "ttg.barrier"
  symm.fence
  "tt.return"() : () -> ()
}) : () -> ()
