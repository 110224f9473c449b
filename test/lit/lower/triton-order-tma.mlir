// Accesses by the GPU's engine for tensors (TMA): its stores are done before a release, its loads come after an
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

// Accesses after a store wait for it, once on a way, in branches and from one iteration to the next.
// CHECK-LABEL: sym_name = "accesses"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, !tt.ptr<i32>, i32, i1, !tt.tensordesc<tensor<8xf32>>,
  tensor<8xf32>) -> (), sym_name = "accesses"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %f: !tt.ptr<i32>, %v: i32, %c: i1, %d: !tt.tensordesc<tensor<8xf32>>,
     %x: tensor<8xf32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  // CHECK-NOT: wait_group
  // CHECK: "early"
  %early = symm.remote_load %ctx, %p, %zero : !tt.ptr<f32> -> f32
  "early"(%early) : (f32) -> ()
  // CHECK: scf.if
  // CHECK-NEXT: "tt.descriptor_store"
  scf.if %c {
    "tt.descriptor_store"(%d, %x, %v) : (!tt.tensordesc<tensor<8xf32>>, tensor<8xf32>, i32) -> ()
  }
  // TMA: "cp.async.bulk.wait_group 0;
  // TMA-NEXT: "ttg.barrier"
  // CHECK: "tt.load"
  // CHECK: "late"
  %late = symm.remote_load %ctx, %p, %zero : !tt.ptr<f32> -> f32
  "late"(%late) : (f32) -> ()
  // CHECK-NOT: wait_group
  // CHECK: "tt.atomic_rmw"
  symm.put %ctx, %p, %p, %zero : !tt.ptr<f32>, !tt.ptr<f32>
  %old = symm.atomic_rmw add %ctx, %f, %v, %zero sem relaxed : !tt.ptr<i32>, i32
  // CHECK: scf.for
  // TMA-NEXT: "cp.async.bulk.wait_group 0;
  // TMA-NEXT: "ttg.barrier"
  // CHECK: "tt.descriptor_store"
  scf.for %i = %zero to %v step %v : i32 {
    symm.remote_store %ctx, %p, %early, %zero : !tt.ptr<f32>, f32
    "tt.descriptor_store"(%d, %x, %i) : (!tt.tensordesc<tensor<8xf32>>, tensor<8xf32>, i32) -> ()
  }
  "tt.return"() : () -> ()
}) : () -> ()

// What a copy has brought to this rank is stored by threads and loaded by the engine, which is of another proxy: each thread
// fences after what it has stored, then all meet. Of copies that follow each other the last one has the fence, and what
// an acquire has anyway is left out.
// CHECK-LABEL: sym_name = "fetched"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f32>, !tt.ptr<i32>, i32, i1, !tt.tensordesc<tensor<8xf32>>) -> (),
  sym_name = "fetched"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f32>, %f: !tt.ptr<i32>, %v: i32, %c: i1, %d: !tt.tensordesc<tensor<8xf32>>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  // CHECK: "tt.store"
  // CHECK-NOT: proxy
  // CHECK: "tt.store"
  // TMA-NEXT: "fence.proxy.async.global;
  // CHECK-NEXT: "ttg.barrier"
  // CHECK-NEXT: "tt.descriptor_load"
  symm.get %ctx, %p, %p, %v : !tt.ptr<f32>, !tt.ptr<f32>
  symm.get %ctx, %p, %p, %v : !tt.ptr<f32>, !tt.ptr<f32>
  %x = "tt.descriptor_load"(%d, %v) : (!tt.tensordesc<tensor<8xf32>>, i32) -> tensor<8xf32>
  // In one branch, and from one iteration to the next.
  // CHECK: "tt.store"
  // TMA-NEXT: "fence.proxy.async.global;
  // CHECK: scf.if
  symm.copy %ctx, %p at %v, %p at %zero : !tt.ptr<f32>, !tt.ptr<f32>
  scf.if %c {
    %y = "tt.descriptor_load"(%d, %v) : (!tt.tensordesc<tensor<8xf32>>, i32) -> tensor<8xf32>
  }
  // CHECK: scf.for
  // CHECK: "tt.descriptor_load"
  // CHECK: "tt.store"
  // TMA-NEXT: "fence.proxy.async.global;
  scf.for %i = %zero to %v step %v : i32 {
    %y = "tt.descriptor_load"(%d, %i) : (!tt.tensordesc<tensor<8xf32>>, i32) -> tensor<8xf32>
    symm.get %ctx, %p, %p, %i : !tt.ptr<f32>, !tt.ptr<f32>
  }
  // A put is for a peer, and what a wait lets in is in order already.
  // CHECK: "tt.store"
  // CHECK-NOT: proxy
  // CHECK: "tt.store"
  // CHECK-NOT: proxy
  // TMA: ld.acquire.sys
  // TMA: "fence.proxy.async.global;
  // CHECK: "tt.descriptor_load"
  symm.put %ctx, %p, %p, %v : !tt.ptr<f32>, !tt.ptr<f32>
  symm.get %ctx, %p, %p, %v : !tt.ptr<f32>, !tt.ptr<f32>
  symm.wait %ctx, %f ge %v : !tt.ptr<i32>, i32
  %z = "tt.descriptor_load"(%d, %v) : (!tt.tensordesc<tensor<8xf32>>, i32) -> tensor<8xf32>
  // CHECK: "tt.store"
  // CHECK-NOT: proxy
  // CHECK: "tt.return"
  symm.get %ctx, %p, %p, %v : !tt.ptr<f32>, !tt.ptr<f32>
  "tt.return"() : () -> ()
}) : () -> ()

// A partition of specialised warps completes its stores where it waits for them, and at its end.
// CHECK-LABEL: sym_name = "partitions"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.tensordesc<tensor<8xf32>>,
  !ttg.memdesc<8xf32, #ttg.shared_memory>) -> (), sym_name = "partitions"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %d: !tt.tensordesc<tensor<8xf32>>,
     %s: !ttg.memdesc<8xf32, #ttg.shared_memory>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  // CHECK: "ttg.warp_specialize"
  "ttg.warp_specialize"() ({
    symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
    // CHECK: "tt.atomic_rmw"
    // CHECK-NEXT: "ttg.warp_yield"
    "ttg.warp_yield"() : () -> ()
  }, {
    "ttg.warp_specialize.partitions"() ({
      // CHECK: "ttng.async_tma_copy_local_to_global"
      // CHECK: "ttng.async_tma_store_wait"
      // TMA-NEXT: "cp.async.bulk.wait_group 1;
      // TMA-NEXT: "ttg.barrier"
      // CHECK-NEXT: "ttng.arrive_barrier"
      // TMA-NEXT: "cp.async.bulk.wait_group 0;
      // CHECK-NEXT: "ttg.warp_return"
      "ttng.async_tma_copy_local_to_global"(%d, %zero, %s) : (!tt.tensordesc<tensor<8xf32>>, i32,
        !ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttng.async_tma_store_wait"() {pendings = 1 : i32} : () -> ()
      "ttng.arrive_barrier"(%s) : (!ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttg.warp_return"() : () -> ()
    }, {
      // CHECK-NEXT: }, {
      // CHECK-NEXT: "ttg.warp_return"
      "ttg.warp_return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "tt.return"() : () -> ()
}) : () -> ()
