// Loops that poll memory with plain loads are warned of; waits, searches and loops that do more are not.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-check-polls --verify-diagnostics

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i32>, i32) -> (), sym_name = "kernel"}> ({
^bb0(%table: !tt.ptr<i64>, %f: !tt.ptr<i32>, %peer: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.while : () -> () {
    // expected-warning @+1 {{polls memory in a loop with a plain load: compilers load once, or drop the loop; use wait}}
    %v = symm.remote_load %ctx, %f, %peer : !tt.ptr<i32> -> i32
    %go_on = arith.cmpi ne, %v, %one : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  // What is loaded goes around; the poll gives up after a while.
  %first = symm.remote_load %ctx, %f, %peer : !tt.ptr<i32> -> i32
  %last:2 = scf.while (%v = %first, %i = %zero) : (i32, i32) -> (i32, i32) {
    %is_missing = arith.cmpi ne, %v, %one : i32
    %is_early = arith.cmpi slt, %i, %peer : i32
    %go_on = arith.andi %is_missing, %is_early : i1
    scf.condition(%go_on) %v, %i : i32, i32
  } do {
  ^bb0(%v: i32, %i: i32):
    // expected-warning @+1 {{'symm.remote_load' op polls memory}}
    %w = symm.remote_load %ctx, %f, %peer : !tt.ptr<i32> -> i32
    %j = arith.addi %i, %one : i32
    scf.yield %w, %j : i32, i32
  }
  scf.while : () -> () {
    // expected-warning @+1 {{'tt.load' op polls memory}}
    %v = "tt.load"(%f) : (!tt.ptr<i32>) -> i32
    %go_on = arith.cmpi ne, %v, %one : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  // A bound that is loaded each time; a search.
  %counted = scf.while (%i = %zero) : (i32) -> i32 {
    %v = "tt.load"(%f) : (!tt.ptr<i32>) -> i32
    %go_on = arith.cmpi slt, %i, %v : i32
    scf.condition(%go_on) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %one : i32
    scf.yield %j : i32
  }
  %found = scf.while (%i = %zero) : (i32) -> i32 {
    %at = "tt.addptr"(%f, %i) : (!tt.ptr<i32>, i32) -> !tt.ptr<i32>
    %v = symm.remote_load %ctx, %at, %peer : !tt.ptr<i32> -> i32
    %go_on = arith.cmpi ne, %v, %one : i32
    scf.condition(%go_on) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %one : i32
    scf.yield %j : i32
  }
  // Volatile, and a loop that writes.
  scf.while : () -> () {
    %v = symm.remote_load %ctx, %f, %peer volatile : !tt.ptr<i32> -> i32
    %go_on = arith.cmpi ne, %v, %one : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  scf.while : () -> () {
    %v = symm.remote_load %ctx, %f, %peer : !tt.ptr<i32> -> i32
    %go_on = arith.cmpi ne, %v, %one : i32
    scf.condition(%go_on)
  } do {
    "tt.store"(%f, %one) : (!tt.ptr<i32>, i32) -> ()
    scf.yield
  }
  "tt.return"() : () -> ()
}) : () -> ()
