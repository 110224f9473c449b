// A program without an end is given up, or fails, with a sentence.

// RUN: split-file %s %t
// A loop that accesses nothing.
// RUN: not symm-check %t/spin.mlir --ranks 1 --steps 1000 2>&1 | FileCheck %s --check-prefix=SPIN
// RUN: not symm-check %t/spin.mlir --ranks 1 --steps 1000 --schedules 2 2>&1 | FileCheck %s --check-prefix=SPINS
// SPIN: spin.mlir:[[#]]:[[#]]: given up: rank 0 host: has not come to its end
// SPIN-NEXT: scf.
// SPIN: symm-check: nothing found; 1 execution tried; 1 given up after --steps 1000, and nothing is known of what comes
// SPINS: symm-check: nothing found; 3 executions tried; 3 given up after --steps 1000

// RUN: not symm-check %t/spin.mlir --ranks 1 --steps 1000 --json | FileCheck %s --check-prefix=JSON
// JSON: "unfinished": [
// JSON-NEXT: {
// JSON-NEXT: "rank": 0,
// JSON: "what": "has not come to its end"

// With no --steps it is given up within seconds of processor time.
// RUN: not bash -c "ulimit -t 9; exec symm-check %t/spin.mlir --ranks 1" 2>&1 | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: 1 given up after --steps 1000000

// A loop that does nothing at all, which a compiler may delete.
// RUN: not symm-check %t/forever.mlir --ranks 1 --steps 1000 2>&1 | FileCheck %s --check-prefix=FOREVER
// RUN: not symm-check %t/forever.mlir --ranks 1 --steps 1000 --as-written 2>&1 | FileCheck %s --check-prefix=FOREVER
// RUN: not symm-check %t/forever.mlir --ranks 1 --steps 1000 --entry calls 2>&1 | FileCheck %s --check-prefix=FOREVER
// FOREVER: forever.mlir:[[#]]:[[#]]: given up: rank 0 block 0 thread 0: has not come to its end
// FOREVER-NEXT: scf.condition
// FOREVER: 1 given up after --steps 1000, and nothing is known of what comes later

// A loop that has an end takes a step every 1,024 rounds.
// RUN: symm-check %t/long.mlir --ranks 1 --steps 150 | FileCheck %s --check-prefix=LONG
// LONG: symm-check: nothing found; 1 execution tried

// A function that calls itself for ever.
// RUN: not symm-check %t/recursion.mlir --ranks 1 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: recursion.mlir:{{[0-9]+}}:{{[0-9]+}}: error: failed-check
// DEEP: its stack is full: is there an end to how often functions call themselves?

//--- spin.mlir
func.func @main(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %box = symm.alloc %ctx : memref<1xi64>
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  // No square is 2 more than a multiple of 4.
  %two = arith.constant 2 : i64
  %end = scf.while (%x = %one) : (i64) -> i64 {
    %square = arith.muli %x, %x : i64
    %rest = arith.remui %square, %four : i64
    %more = arith.cmpi ne, %rest, %two : i64
    scf.condition(%more) %x : i64
  } do {
  ^bb0(%x: i64):
    %next = arith.addi %x, %one : i64
    scf.yield %next : i64
  }
  symm.free %ctx, %box : memref<1xi64>
  %same = arith.cmpi ne, %end, %two : i64
  symm.check %same, "ended at {}"(%end) : i64
  return
}

//--- long.mlir
func.func @main(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant 100000 : index
  %one = arith.constant 1 : i64
  %end = scf.for %i = %c0 to %rounds step %c1 iter_args(%x = %one) -> (i64) {
    %square = arith.muli %x, %x : i64
    %next = arith.addi %square, %one : i64
    scf.yield %next : i64
  }
  %same = arith.cmpi ne, %end, %one : i64
  symm.check %same, "ended at {}"(%end) : i64
  return
}

//--- recursion.mlir
func.func private @down(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %more = arith.addi %n, %one : i64
  %below = func.call @down(%more) : (i64) -> i64
  // What LLVM can make no loop of.
  %half = arith.shrui %below, %one : i64
  %sum = arith.addi %half, %n : i64
  return %sum : i64
}

func.func @main(%ctx: !symm.ctx) {
  %one = arith.constant 1 : i64
  %end = func.call @down(%one) : (i64) -> i64
  %same = arith.cmpi ne, %end, %one : i64
  symm.check %same, "ended at {}"(%end) : i64
  return
}

//--- forever.mlir
func.func @main(%ctx: !symm.ctx) {
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    scf.while : () -> () {
      scf.condition(%true)
    } do {
      scf.yield
    }
    gpu.terminator
  }
  return
}

func.func private @next(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %more = arith.ori %n, %one : i32
  return %more : i32
}

// A call that computes.
func.func @calls(%ctx: !symm.ctx) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %zero = arith.constant 0 : i32
    %end = scf.while (%n = %zero) : (i32) -> i32 {
      %more = func.call @next(%n) : (i32) -> i32
      %go_on = arith.cmpi ne, %more, %zero : i32
      scf.condition(%go_on) %more : i32
    } do {
    ^bb0(%more: i32):
      scf.yield %more : i32
    }
    gpu.terminator
  }
  return
}
