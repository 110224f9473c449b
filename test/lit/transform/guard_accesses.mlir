// What leaves its tensor is left out and recorded: the reduction, the record, and the access as it was.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-guard-accesses --mlir-print-op-generic | FileCheck %s

!words = !tt.ptr<i64>
!halves = tensor<4x8x!tt.ptr<f16>>
!indices = tensor<4x8xi32, #ttg.blocked<{order = [1, 0]}>>
!pointers = tensor<4x8x!tt.ptr<f32>, #ttg.blocked<{order = [1, 0]}>>
!floats = tensor<4x8xf32, #ttg.blocked<{order = [1, 0]}>>

// CHECK-LABEL: sym_name = "store"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, tensor<128xf32>, tensor<128xi32>, i32) -> (),
    sym_name = "store"}> ({
// CHECK: ^bb0(%[[TABLE:.*]]: !tt.ptr<i64>, %[[BASE:.*]]: !tt.ptr<f32>,
^bb0(%table: !tt.ptr<i64>, %base: !tt.ptr<f32>, %v: tensor<128xf32>, %i: tensor<128xi32>, %peer: i32):
  // The tensor that the argument lies in is looked up once, after the context.
  // CHECK: %[[CTX:.*]] = "symm.ctx"(%[[TABLE]])
  // CHECK-DAG: "symm.heap_base"(%[[CTX]],
  // CHECK-DAG: "tt.ptr_to_int"(%[[BASE]]) : (!tt.ptr<f32>) -> i64
  // CHECK: %[[FOUND:.*]]:3 = "scf.while"
  // CHECK: "tt.splat"
  // CHECK-NEXT: %[[P:.*]] = "tt.addptr"
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %start = "tt.splat"(%base) : (!tt.ptr<f32>) -> tensor<128x!tt.ptr<f32>>
  %p = "tt.addptr"(%start, %i) : (tensor<128x!tt.ptr<f32>>, tensor<128xi32>) -> tensor<128x!tt.ptr<f32>>
  // CHECK: %[[ADDRESS:.*]] = "tt.ptr_to_int"(%[[P]])
  // CHECK: %[[SIZE:.*]] = "arith.subi"(%[[FOUND]]#2, %[[FOUND]]#1)
  // CHECK: "arith.cmpi"{{.*}}predicate = 9 : i64{{.*}} : (tensor<128xi64>, tensor<128xi64>) -> tensor<128xi1>
  // CHECK: %[[LOWEST:.*]] = "tt.reduce"
  // CHECK: "arith.minui"
  // CHECK: "arith.cmpi"(%[[LOWEST]],
  // CHECK: "scf.if"
  // CHECK: "tt.atomic_rmw"{{.*}}atomic_rmw_op = 8
  // CHECK: "tt.get_program_id"
  // CHECK: "symm.fence"() <{group = 2 : i32, scope = 3 : i32, sem = 2 : i32}>
  // CHECK: "tt.store"
  // CHECK: "scf.if"
  // CHECK-NEXT: "symm.remote_store"(%[[CTX]], %[[P]],
  // CHECK-SAME: cache
  // CHECK-NEXT: "scf.yield"
  symm.remote_store %ctx, %p, %v, %peer cache cs : tensor<128x!tt.ptr<f32>>, tensor<128xf32> loc("k.py":7:3)
  // The same tensor: what is known of it. The mask's other elements are not looked at.
  // CHECK-NOT: "scf.while"
  // CHECK: %[[MASK:.*]] = "arith.cmpi"
  // CHECK: "arith.andi"(%{{.*}}, %[[MASK]]) : (tensor<128xi1>, tensor<128xi1>) -> tensor<128xi1>
  // CHECK: %{{.*}} = "scf.if"
  // CHECK-NEXT: "symm.remote_load"
  // CHECK: "arith.constant"() <{value = dense<0.000000e+00> : tensor<128xf32>}>
  %m = "arith.cmpi"(%i, %i) <{predicate = 0 : i64}> : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
  %w = symm.remote_load %ctx, %p, %peer mask %m : tensor<128xi1> volatile : tensor<128x!tt.ptr<f32>> -> tensor<128xf32>
  "tt.return"() : () -> ()
}) : () -> ()

// Triton's own accesses: of a pointer to another rank's memory, and of the kernel's own arguments, in a loop too.
// CHECK-LABEL: sym_name = "plain"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, i32, tensor<4x8xi32>) -> (), sym_name = "plain"}> ({
^bb0(%table: !tt.ptr<i64>, %base: !tt.ptr<f16>, %peer: i32, %i: tensor<4x8xi32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %remote = symm.as_remote %ctx, %base, %peer : !tt.ptr<f16>
  %starts = "tt.splat"(%remote) : (!tt.ptr<f16>) -> tensor<4x8x!tt.ptr<f16>>
  %p = "tt.addptr"(%starts, %i) : (tensor<4x8x!tt.ptr<f16>>, tensor<4x8xi32>) -> tensor<4x8x!tt.ptr<f16>>
  // CHECK: %[[DELTA:.*]] = "symm.heap_delta"
  // CHECK: %[[DELTAS:.*]] = "tt.splat"(%[[DELTA]])
  // CHECK: "arith.subi"(%{{.*}}, %[[DELTAS]])
  // CHECK: "tt.reduce"
  // CHECK: : (tensor<4x8xi64>) -> tensor<8xi64>
  // CHECK: "tt.reduce"
  // CHECK: : (tensor<8xi64>) -> i64
  // CHECK: "scf.if"
  // CHECK: "tt.load"{{.*}}isVolatile = true
  // CHECK: dense<0.000000e+00> : tensor<4x8xf16>
  %v = "tt.load"(%p) <{isVolatile = true, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!halves) -> tensor<4x8xf16>
  %zero = "arith.constant"() <{value = 0 : i32}> : () -> i32
  %one = "arith.constant"() <{value = 1 : i32}> : () -> i32
  // CHECK: "scf.for"
  %last = "scf.for"(%zero, %peer, %one, %base) ({
  ^bb0(%n: i32, %own: !tt.ptr<f16>):
    // CHECK: "tt.ptr_to_int"
    // CHECK-NOT: "symm.heap_delta"
    // CHECK: arith.constant{{.*}}0.000000e+00 : f16
    %x = "tt.load"(%own) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f16>) -> f16
    %next = "tt.addptr"(%own, %one) : (!tt.ptr<f16>, i32) -> !tt.ptr<f16>
    "scf.yield"(%next) : (!tt.ptr<f16>) -> ()
  }) : (i32, i32, i32, !tt.ptr<f16>) -> !tt.ptr<f16>
  "tt.return"() : () -> ()
}) : () -> ()

// What is known of no argument: a peer's memory is to be on the heap, the first of the list; one's own may be anywhere.
// CHECK-LABEL: sym_name = "unknown"
"tt.func"() <{function_type = (!tt.ptr<i64>, i64, i32) -> (), sym_name = "unknown"}> ({
^bb0(%table: !tt.ptr<i64>, %address: i64, %peer: i32):
  // CHECK: "symm.ctx"
  // CHECK: "arith.minui"
  // CHECK: "scf.while"
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %p = "tt.int_to_ptr"(%address) : (i64) -> !tt.ptr<f32>
  // CHECK: "tt.ptr_to_int"
  // CHECK-NOT: "tt.ptr_to_int"
  // CHECK: "symm.put"
  symm.put %ctx, %p, %p, %peer : !tt.ptr<f32>, !tt.ptr<f32>
  // CHECK-NOT: "tt.ptr_to_int"
  // CHECK: "tt.return"
  %v = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32
  "tt.return"() : () -> ()
}) : () -> ()

// Layouts of Gluon: a dimension less is a slice.
// CHECK-LABEL: sym_name = "layouts"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, i32, !indices) -> (), sym_name = "layouts"}> ({
^bb0(%table: !words, %base: !tt.ptr<f32>, %peer: i32, %i: !indices):
  %ctx = symm.ctx %table : !words
  %starts = "tt.splat"(%base) : (!tt.ptr<f32>) -> !pointers
  %p = "tt.addptr"(%starts, %i) : (!pointers, !indices) -> !pointers
  // CHECK: -> tensor<8xi64, #ttg.slice<{dim = 0, parent = #ttg.blocked<{order = [1, 0]}>}>>
  %v = symm.remote_load %ctx, %p, %peer : !pointers -> !floats
  "tt.return"() : () -> ()
}) : () -> ()
// Not kernels of Triton's: they stay as they are. Vectors are none of Triton's types, and are refused when it is lowered.
// CHECK-LABEL: sym_name = "not_triton"
// CHECK-NOT: scf.if
"func.func"() <{function_type = (!symm.ctx, memref<4xf32>, f32, i32) -> (), sym_name = "not_triton"}> ({
^bb0(%ctx: !symm.ctx, %p: memref<4xf32>, %v: f32, %peer: i32):
  %zero = arith.constant 0 : index
  symm.remote_store %ctx, %p[%zero], %v, %peer : memref<4xf32>, f32
  "func.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "table"
// CHECK-NOT: scf.if
"func.func"() <{function_type = (!llvm.ptr, memref<4xf32>, f32, i32) -> (), sym_name = "table"}> ({
^bb0(%table: !llvm.ptr, %p: memref<4xf32>, %v: f32, %peer: i32):
  %ctx = symm.ctx %table : !llvm.ptr
  %zero = arith.constant 0 : index
  symm.remote_store %ctx, %p[%zero], %v, %peer : memref<4xf32>, f32
  "func.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "vector"
// CHECK-NOT: scf.if
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, i32) -> (), sym_name = "vector"}> ({
^bb0(%table: !words, %p: !tt.ptr<f32>, %peer: i32):
  %ctx = symm.ctx %table : !words
  %v = symm.remote_load %ctx, %p, %peer : !tt.ptr<f32> -> vector<4xf32>
  "tt.return"() : () -> ()
}) : () -> ()
// CHECK: symm.waits = "{{[0-9]+}}\09store\09k.py\097\09outside symm store ptr\0A{{[0-9]+}}\09store\09
// CHECK-SAME: outside symm load ptr\0A{{[0-9]+}}\09plain\09
// CHECK-SAME: outside tl.load pointer\0A
