// What bounds checks do not see is said.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-guard-accesses -o /dev/null 2>&1 | FileCheck %s

!words = !tt.ptr<i64>

// CHECK-NOT: warning
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, i64, i32, i32) -> (), sym_name = "kernel"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %address: i64, %peer: i32, %n: i32):
  %ctx = symm.ctx %table : !words
  %p = "tt.int_to_ptr"(%address) : (i64) -> !tt.ptr<f32>
  // CHECK: :[[@LINE+1]]:8: warning: {{.*}}bounds checks do not see this tl.load: its pointer is not made from the kernel's arguments
  %v = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32
  // CHECK: :[[@LINE+1]]:3: warning: {{.*}}bounds checks do not see this symm put: its pointer is not made from the kernel's arguments
  symm.put %ctx, %p, %p, %peer : !tt.ptr<f32>, !tt.ptr<f32>
  %c1 = arith.constant 1 : i64
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %block = "tt.make_tensor_ptr"(%a, %c1, %c1, %i0) <{order = array<i32: 0>}> : (!tt.ptr<f32>, i64, i64, i32) -> !tt.ptr<tensor<64xf32>>
  // CHECK: :[[@LINE+1]]:8: warning: {{.*}}bounds checks do not see this tl.load: it is by a block pointer
  %b = "tt.load"(%block) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<tensor<64xf32>>) -> tensor<64xf32>
  %tensor = "tt.make_tensor_descriptor"(%a, %n, %c1) : (!tt.ptr<f32>, i32, i64) -> i64
  // CHECK: :[[@LINE+1]]:8: warning: {{.*}}bounds checks do not see this tt.descriptor_load: it is by a tensor descriptor, and confined to the shape of that
  %d = "tt.descriptor_load"(%tensor, %i0) : (i64, i32) -> tensor<64xf32>
  scf.for %i = %i0 to %n step %i1 : i32 {
    scf.for %k = %i0 to %n step %i1 : i32 {
      // CHECK: :[[@LINE+1]]:7: warning: {{.*}}bounds checks do not see this tl.store: it is in a loop with warp_specialize=True
      "tt.store"(%a, %v) : (!tt.ptr<f32>, f32) -> ()
    }
  } {tt.warp_specialize}
  // A loop of which nothing is known.
  %end = scf.for %i = %i0 to %n step %i1 iter_args(%q = %p) -> (!tt.ptr<f32>) : i32 {
    // CHECK: :[[@LINE+1]]:5: warning: {{.*}}bounds checks do not see this tl.store
    "tt.store"(%q, %v) : (!tt.ptr<f32>, f32) -> ()
    %next = "tt.int_to_ptr"(%address) : (i64) -> !tt.ptr<f32>
    scf.yield %next : !tt.ptr<f32>
  }
  // What is seen, and what symm accesses for itself.
  // CHECK-NOT: warning
  "tt.store"(%a, %v) : (!tt.ptr<f32>, f32) -> ()
  symm.remote_store %ctx, %p, %v, %peer : !tt.ptr<f32>, f32
  %me = symm.rank %ctx
  %base = symm.heap_base %ctx, %me : !words
  %word = "tt.load"(%base) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!words) -> i64
  "tt.return"() : () -> ()
}) : () -> ()

// Without a context of symm's there is nothing to look at.
"tt.func"() <{function_type = (i64) -> (), sym_name = "other"}> ({
^bb0(%address: i64):
  %p = "tt.int_to_ptr"(%address) : (i64) -> !tt.ptr<f32>
  %v = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32
  "tt.return"() : () -> ()
}) : () -> ()
