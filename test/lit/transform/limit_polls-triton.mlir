// Loops that poll by Triton's own atomics have the deadline of a kernel with a default time-out.
// RUN: split-file %s %t
// RUN: symm-opt %t/watched.mlir --allow-unregistered-dialect --symm-limit-polls --mlir-print-op-generic | FileCheck %s
// RUN: symm-opt %t/watched.mlir --allow-unregistered-dialect --symm-limit-polls=target=hip:gfx942 --mlir-print-op-generic | FileCheck %s --check-prefix=AMD
// RUN: symm-opt %t/plain.mlir --allow-unregistered-dialect --symm-limit-polls --mlir-print-op-generic | FileCheck %s --check-prefix=PLAIN

//--- watched.mlir
module attributes {symm.default_timeout = 1 : i32} {

// A lock: the record is on the rank's own heap, found before the loop.
// CHECK-LABEL: sym_name = "lock"
// AMD-LABEL: sym_name = "lock"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>) -> (), sym_name = "lock"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %free = arith.constant 0 : i32
  %mine = arith.constant 1 : i32
  // CHECK: %[[ME:.*]] = "symm.rank"
  // CHECK: %[[HEAP:.*]] = "symm.heap_base"(%{{.*}}, %[[ME]])
  // CHECK: %[[RECORD:.*]] = "tt.addptr"(%[[HEAP]],
  // CHECK: "scf.while"
  // CHECK: %[[OLD:.*]] = "tt.atomic_cas"
  // CHECK: "scf.if"
  // CHECK: %[[AT:.*]] = "tt.ptr_to_int"(%{{.*}}) : (!tt.ptr<i32>) -> i64
  // CHECK-DAG: %[[SEEN:.*]] = "arith.extsi"(%[[OLD]])
  // CHECK-DAG: %[[WANTED:.*]] = "arith.extsi"(%{{.*}})
  // CHECK: "tt.elementwise_inline_asm"(%[[RECORD]], %[[AT]], %[[WANTED]], %[[SEEN]], %{{.*}}, %{{.*}})
  // AMD: s_memrealtime
  scf.while : () -> () {
    %old = "tt.atomic_cas"(%p, %free, %mine) <{scope = 1 : i32, sem = 4 : i32}> : (!tt.ptr<i32>, i32, i32) -> i32 loc("k.py":7:3)
    %go_on = arith.cmpi eq, %old, %mine : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()

// A flag that another rank has, through a pointer to its heap: the record has the rank, and the address here.
// CHECK-LABEL: sym_name = "theirs"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32) -> (), sym_name = "theirs"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>, %peer: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %there = symm.as_remote %ctx, %p, %peer : !tt.ptr<i32>
  %flag = "tt.addptr"(%there, %two) : (!tt.ptr<i32>, i32) -> !tt.ptr<i32>
  // CHECK: "tt.atomic_rmw"
  // CHECK: %[[AT:.*]] = "tt.ptr_to_int"
  // CHECK: %[[DELTA:.*]] = "symm.heap_delta"
  // CHECK: "arith.subi"(%[[AT]], %[[DELTA]])
  // CHECK: "arith.shli"
  // CHECK: "arith.ori"
  // CHECK: globaltimer
  scf.while : () -> () {
    %old = "tt.atomic_rmw"(%flag, %zero) <{atomic_rmw_op = 4 : i32, scope = 3 : i32, sem = 2 : i32}> : (!tt.ptr<i32>, i32) -> i32 loc("k.py":9:3)
    %go_on = arith.cmpi slt, %old, %two : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()

// Who counts, or swaps at another place each time, is at work; and so is who has no context.
// CHECK-LABEL: sym_name = "work"
// CHECK-NOT: globaltimer
// CHECK: symm.waits = "{{[0-9]+}}\09lock\09k.py\097\09wait ne\0A{{[0-9]+}}\09theirs\09k.py\099\09wait ge\0A"
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>) -> (), sym_name = "work"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.while : () -> () {
    %old = "tt.atomic_rmw"(%p, %one) <{atomic_rmw_op = 4 : i32, scope = 1 : i32, sem = 4 : i32}> : (!tt.ptr<i32>, i32) -> i32
    %go_on = arith.cmpi slt, %old, %one : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  %end = scf.while (%place = %p) : (!tt.ptr<i32>) -> !tt.ptr<i32> {
    %old = "tt.atomic_cas"(%place, %zero, %one) <{scope = 1 : i32, sem = 4 : i32}> : (!tt.ptr<i32>, i32, i32) -> i32
    %go_on = arith.cmpi ne, %old, %zero : i32
    %next = "tt.addptr"(%place, %one) : (!tt.ptr<i32>, i32) -> !tt.ptr<i32>
    scf.condition(%go_on) %next : !tt.ptr<i32>
  } do {
  ^bb0(%was: !tt.ptr<i32>):
    scf.yield %was : !tt.ptr<i32>
  }
  "tt.return"() : () -> ()
}) : () -> ()

"tt.func"() <{function_type = (!tt.ptr<i32>) -> (), sym_name = "alone"}> ({
^bb0(%p: !tt.ptr<i32>):
  %free = arith.constant 0 : i32
  %mine = arith.constant 1 : i32
  scf.while : () -> () {
    %old = "tt.atomic_cas"(%p, %free, %mine) <{scope = 1 : i32, sem = 4 : i32}> : (!tt.ptr<i32>, i32, i32) -> i32
    %go_on = arith.cmpi ne, %old, %free : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()
}

//--- plain.mlir
// PLAIN: "tt.atomic_cas"
// PLAIN-NOT: globaltimer
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>) -> (), sym_name = "lock"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %free = arith.constant 0 : i32
  %mine = arith.constant 1 : i32
  scf.while : () -> () {
    %old = "tt.atomic_cas"(%p, %free, %mine) <{scope = 1 : i32, sem = 4 : i32}> : (!tt.ptr<i32>, i32, i32) -> i32
    %go_on = arith.cmpi ne, %old, %free : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()
