// A release in one partition of specialised warps beside stores of another one that does not wait for them (S1).
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:90 --verify-diagnostics \
// RUN:   --split-input-file

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.tensordesc<tensor<8xf32>>,
  !ttg.memdesc<8xf32, #ttg.shared_memory>) -> (), sym_name = "kernel"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %d: !tt.tensordesc<tensor<8xf32>>,
     %s: !ttg.memdesc<8xf32, #ttg.shared_memory>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  "ttg.warp_specialize"() ({
    "ttng.wait_barrier"(%s, %zero) : (!ttg.memdesc<8xf32, #ttg.shared_memory>, i32) -> ()
    // expected-error @+1 {{S1: releases what this partition of the warps did, while another one stores through tensor}}
    symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
    "ttg.warp_yield"() : () -> ()
  }, {
    "ttg.warp_specialize.partitions"() ({
      "ttng.async_tma_copy_local_to_global"(%d, %zero, %s) : (!tt.tensordesc<tensor<8xf32>>, i32,
        !ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttng.arrive_barrier"(%s) : (!ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttg.warp_return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// Two partitions beside the default one, told by a copy's arrival.
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.tensordesc<tensor<8xf32>>,
  !ttg.memdesc<8xf32, #ttg.shared_memory>) -> (), sym_name = "two"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %d: !tt.tensordesc<tensor<8xf32>>,
     %s: !ttg.memdesc<8xf32, #ttg.shared_memory>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  "ttg.warp_specialize"() ({
    "ttg.warp_yield"() : () -> ()
  }, {
    "ttg.warp_specialize.partitions"() ({
      "ttng.wait_barrier"(%s, %zero) : (!ttg.memdesc<8xf32, #ttg.shared_memory>, i32) -> ()
      // expected-error @+1 {{S1: releases what this partition of the warps did, while another one stores through tensor}}
      symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
      "ttg.warp_return"() : () -> ()
    }, {
      "ttng.async_tma_copy_local_to_global"(%d, %zero, %s) : (!tt.tensordesc<tensor<8xf32>>, i32,
        !ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttng.async_copy_mbarrier_arrive"(%s) : (!ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttg.warp_return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// A third one hears of it, and tells the one that releases through memory.
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.tensordesc<tensor<8xf32>>,
  !ttg.memdesc<8xf32, #ttg.shared_memory>) -> (), sym_name = "passed_on"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %d: !tt.tensordesc<tensor<8xf32>>,
     %s: !ttg.memdesc<8xf32, #ttg.shared_memory>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  "ttg.warp_specialize"() ({
    "ttng.wait_barrier"(%s, %zero) : (!ttg.memdesc<8xf32, #ttg.shared_memory>, i32) -> ()
    "tt.store"(%f, %v) : (!tt.ptr<i32>, i32) -> ()
    "ttg.warp_yield"() : () -> ()
  }, {
    "ttg.warp_specialize.partitions"() ({
      // expected-error @+1 {{S1: releases what this partition of the warps did, while another one stores through tensor}}
      symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
      "ttg.warp_return"() : () -> ()
    }, {
      "ttng.async_tma_copy_local_to_global"(%d, %zero, %s) : (!tt.tensordesc<tensor<8xf32>>, i32,
        !ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttng.arrive_barrier"(%s) : (!ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttg.warp_return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// One that waits for no barrier is told nothing by those that do: this is right.
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32, !tt.tensordesc<tensor<8xf32>>,
  !ttg.memdesc<8xf32, #ttg.shared_memory>) -> (), sym_name = "apart"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %v: i32, %d: !tt.tensordesc<tensor<8xf32>>,
     %s: !ttg.memdesc<8xf32, #ttg.shared_memory>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  "ttg.warp_specialize"() ({
    "ttng.wait_barrier"(%s, %zero) : (!ttg.memdesc<8xf32, #ttg.shared_memory>, i32) -> ()
    "ttg.warp_yield"() : () -> ()
  }, {
    "ttg.warp_specialize.partitions"() ({
      symm.signal set %ctx, %f, %v, %zero : !tt.ptr<i32>, i32
      "ttg.warp_return"() : () -> ()
    }, {
      "ttng.async_tma_copy_local_to_global"(%d, %zero, %s) : (!tt.tensordesc<tensor<8xf32>>, i32,
        !ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttng.arrive_barrier"(%s) : (!ttg.memdesc<8xf32, #ttg.shared_memory>) -> ()
      "ttg.warp_return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  "tt.return"() : () -> ()
}) : () -> ()
