// Bulk ops in no function that this knows: what comes before them is sought up to the module, which is in no block.
// RUN: env MALLOC_PERTURB_=165 symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton --verify-diagnostics

"test.module"() ({
  "test.func"() ({
  ^bb0(%ctx: !symm.ctx, %to: memref<64xf32>, %flag: memref<1xi64>, %one: i64, %peer: i32):
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: takes a !tt.ptr to integers or floats, or a tensor of them, got memref<64xf32>}}
    symm.put_signal set %ctx, %to, %to, %flag[%c0], %one, %peer : memref<64xf32>, memref<64xf32>, memref<1xi64>, i64
    "test.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
