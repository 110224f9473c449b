// Loops and branches that exchange the tensors of their pointers carry the tensors' ends along.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-guard-accesses --mlir-print-op-generic | FileCheck %s

!words = !tt.ptr<i64>
!pointers = tensor<64x!tt.ptr<f32>>

// CHECK-LABEL: sym_name = "for"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, !tt.ptr<f32>, i32, f32) -> (), sym_name = "for"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32, %v: f32):
  %ctx = symm.ctx %table : !words
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: %[[LOOP:.*]]:8 = "scf.for"(%{{.*}}, %{{.*}}, %{{.*}}, %{{[^,]*}}, %{{[^,]*}}, %[[A0:[^,]*]]#1, %[[A0]]#2, %{{[^,]*}}, %[[B0:[^,]*]]#1, %[[B0]]#2, %{{[^,]*}})
  %end:2 = scf.for %i = %zero to %n step %one iter_args(%p = %a, %q = %b) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
    // CHECK: ^bb0(%{{.*}}: i32, %[[P:.*]]: !tt.ptr<f32>, %[[Q:.*]]: !tt.ptr<f32>, %[[PS:.*]]: i64, %[[PE:.*]]: i64, %[[PD:.*]]: i64, %[[QS:.*]]: i64, %[[QE:.*]]: i64, %[[QD:.*]]: i64):
    // CHECK: %[[AT:.*]] = "tt.ptr_to_int"(%[[P]])
    // CHECK: %[[HERE:.*]] = "arith.subi"(%[[AT]], %[[PD]])
    // CHECK: "arith.subi"(%[[PE]], %[[PS]])
    // CHECK: "arith.subi"(%[[HERE]], %[[PS]])
    // CHECK: "tt.store"(%[[P]], %{{.*}}) : (!tt.ptr<f32>, f32)
    "tt.store"(%p, %v) : (!tt.ptr<f32>, f32) -> ()
    // CHECK: "scf.yield"(%[[Q]], %[[P]], %[[QS]], %[[QE]], %[[QD]], %[[PS]], %[[PE]], %[[PD]])
    scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32>
  // CHECK: {test.kept = 3 : i32}
  } {test.kept = 3 : i32}
  // CHECK: "arith.subi"(%[[LOOP]]#3, %[[LOOP]]#2)
  // CHECK: "tt.store"(%[[LOOP]]#0, %{{.*}}) : (!tt.ptr<f32>, f32)
  "tt.store"(%end#0, %v) : (!tt.ptr<f32>, f32) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "while"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, !tt.ptr<f32>, i32, i1) -> (), sym_name = "while"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %peer: i32, %go: i1):
  %ctx = symm.ctx %table : !words
  // One of another rank's: it has a distance.
  // CHECK: %[[FAR:.*]] = "symm.heap_delta"
  %there = symm.as_remote %ctx, %b, %peer : !tt.ptr<f32>
  // CHECK: %[[LOOP:.*]]:5 = "scf.while"(%{{[^,]*}}, %{{[^,]*}}, %{{.*}}, %[[FAR]])
  %end:2 = scf.while (%p = %a, %q = %there) : (!tt.ptr<f32>, !tt.ptr<f32>) -> (i32, !tt.ptr<f32>) {
    // CHECK: ^bb0(%[[P:.*]]: !tt.ptr<f32>, %[[Q:.*]]: !tt.ptr<f32>, %[[PS:.*]]: i64, %[[PE:.*]]: i64, %[[PD:.*]]: i64, %[[QS:.*]]: i64, %[[QE:.*]]: i64, %[[QD:.*]]: i64):
    %v = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32
    "tt.store"(%q, %v) : (!tt.ptr<f32>, f32) -> ()
    // CHECK: "scf.condition"(%{{.*}}, %{{.*}}, %[[Q]], %[[QS]], %[[QE]], %[[QD]])
    scf.condition(%go) %peer, %q : i32, !tt.ptr<f32>
  } do {
  // CHECK: ^bb0(%{{.*}}: i32, %[[R:.*]]: !tt.ptr<f32>, %[[RS:.*]]: i64, %[[RE:.*]]: i64, %[[RD:.*]]: i64):
  ^bb0(%i: i32, %r: !tt.ptr<f32>):
    // CHECK: "scf.yield"(%[[R]], %{{[^,]*}}, %[[RS]], %[[RE]], %[[RD]], %[[AS:[^,]*]]#1, %[[AS]]#2, %{{.*}})
    scf.yield %r, %a : !tt.ptr<f32>, !tt.ptr<f32>
  }
  // Of what is known to be on the heap the ends are at most the heap's.
  // CHECK: "arith.cmpi"(%[[LOOP]]#2, %{{.*}}) <{predicate = 0 : i64}>
  // CHECK: %[[START:.*]] = "arith.select"(%{{.*}}, %{{.*}}#1, %[[LOOP]]#2)
  // CHECK: %[[END:.*]] = "arith.select"(%{{.*}}, %{{.*}}#2, %[[LOOP]]#3)
  // CHECK: "arith.subi"(%[[END]], %[[START]])
  // CHECK: "symm.remote_load"(%{{.*}}, %[[LOOP]]#1
  %w = symm.remote_load %ctx, %end#1, %peer : !tt.ptr<f32> -> f32
  "tt.return"() : () -> ()
}) : () -> ()

// A branch that does more than choose, in a loop; each element has ends.
// CHECK-LABEL: sym_name = "branch"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, !tt.ptr<f32>, tensor<64xi32>, i1, i32) -> (), sym_name = "branch"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %i: tensor<64xi32>, %which: i1, %n: i32):
  %ctx = symm.ctx %table : !words
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %as = "tt.splat"(%a) : (!tt.ptr<f32>) -> !pointers
  // CHECK: "scf.for"
  // CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: tensor<64x!tt.ptr<f32>>, %{{.*}}: tensor<64xi64>, %{{.*}}: tensor<64xi64>, %{{.*}}: tensor<64xi64>):
  // CHECK: %[[ARMS:.*]]:4 = "scf.if"
  // CHECK: "scf.yield"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) : (tensor<64x!tt.ptr<f32>>, tensor<64xi64>, tensor<64xi64>, tensor<64xi64>)
  // CHECK: "scf.yield"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) : (tensor<64x!tt.ptr<f32>>, tensor<64xi64>, tensor<64xi64>, tensor<64xi64>)
  // CHECK: "arith.subi"(%[[ARMS]]#2, %[[ARMS]]#1) {{.*}}tensor<64xi64>
  // CHECK: "tt.load"(%[[ARMS]]#0)
  // CHECK: "scf.yield"(%[[ARMS]]#0, %[[ARMS]]#1, %[[ARMS]]#2, %[[ARMS]]#3)
  scf.for %k = %zero to %n step %one iter_args(%p = %as) -> (!pointers) : i32 {
    %q = scf.if %which -> (!pointers) {
      %bs = "tt.splat"(%b) : (!tt.ptr<f32>) -> !pointers
      %moved = "tt.addptr"(%bs, %i) : (!pointers, tensor<64xi32>) -> !pointers
      scf.yield %moved : !pointers
    } else {
      %moved = "tt.addptr"(%p, %i) : (!pointers, tensor<64xi32>) -> !pointers
      scf.yield %moved : !pointers
    }
    %v = "tt.load"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!pointers) -> tensor<64xf32>
    scf.yield %q : !pointers
  }
  "tt.return"() : () -> ()
}) : () -> ()

// Loops that only move a pointer stay as they are, one in the other too, and after them it is known.
// CHECK-LABEL: sym_name = "moved"
"tt.func"() <{function_type = (!words, !tt.ptr<f32>, i32, f32) -> (), sym_name = "moved"}> ({
^bb0(%table: !words, %a: !tt.ptr<f32>, %n: i32, %v: f32):
  %ctx = symm.ctx %table : !words
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: %[[END:.*]] = "scf.for"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) ({
  %end = scf.for %i = %zero to %n step %one iter_args(%p = %a) -> (!tt.ptr<f32>) : i32 {
    // CHECK: "scf.for"(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) ({
    %inner = scf.for %k = %zero to %n step %one iter_args(%q = %p) -> (!tt.ptr<f32>) : i32 {
      %next = "tt.addptr"(%q, %i) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
      scf.yield %next : !tt.ptr<f32>
    }
    scf.yield %inner : !tt.ptr<f32>
  }
  // CHECK: "tt.ptr_to_int"(%[[END]])
  // CHECK: "scf.if"
  // CHECK: "tt.store"(%[[END]], %{{.*}}) : (!tt.ptr<f32>, f32)
  "tt.store"(%end, %v) : (!tt.ptr<f32>, f32) -> ()
  "tt.return"() : () -> ()
}) : () -> ()
