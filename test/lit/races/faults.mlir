// What would end the process is a finding, next to what was found before it.

// RUN: split-file %s %t
// DEFINE: %{check} = not symm-check --as-written
// RUN: %{check} %t/divides.mlir | FileCheck %s --check-prefix=DIVIDES
// RUN: %{check} %t/divides.mlir --entry overflows | FileCheck %s --check-prefix=OVERFLOWS
// RUN: %{check} %t/traps.mlir --schedules 3 | FileCheck %s --check-prefix=TRAPS
// RUN: %{check} %t/traps.mlir --exhaustive | FileCheck %s --check-prefix=ALL
// RUN: %{check} %t/traps.mlir --entry lanes | FileCheck %s --check-prefix=LANES
// RUN: %{check} %t/traps.mlir --entry wild | FileCheck %s --check-prefix=WILD
// RUN: %{check} %t/traps.mlir --entry aligned | FileCheck %s --check-prefix=ALIGNED
// RUN: %{check} %t/traps.mlir --entry differs | FileCheck %s --check-prefix=DIFFERS
// RUN: %{check} %t/traps.mlir --json --html %t.html | FileCheck %s --check-prefix=JSON
// RUN: FileCheck %s --check-prefix=HTML < %t.html

// A division is looked at before it is done, and other tasks go on.
// DIVIDES: error: race (O1)
// DIVIDES: divides.mlir:10:10: error: fault
// DIVIDES-NEXT: divides.mlir:10:10: note: rank 0 block 0 thread 0: divides an integer by zero
// DIVIDES-NEXT: %q = arith.divsi %ten, %me : i32
// DIVIDES: again: {{.*}} --replay ''
// DIVIDES: 1 execution tried; nothing is known of other schedules

// OVERFLOWS: divides.mlir:31:8: error: fault
// OVERFLOWS-NEXT: rank 1 host: divides the least integer by -1, which overflows

// A signal of the system ends the check.
// TRAPS: error: race (O1)
// TRAPS: traps.mlir:9:5: error: fault
// TRAPS-NEXT: traps.mlir:9:5: note: rank 1 block 0 thread 0: reaches a trap, or code marked unreachable, here or before
// TRAPS: help: the check ends with it: nothing is known of what comes later, nor of other schedules
// TRAPS-NEXT: again: {{.*}} --replay ''
// TRAPS: symm-check: 2 errors; 1 execution tried; none tried after the crash; nothing is known of other schedules
// TRAPS-NEXT: symm-check: each error is in a real execution of the model; nothing is said of other schedules, ranks,
// ALL: error: fault
// ALL: none tried after the crash; nothing is known of other schedules
// LANES: error: fault
// LANES-NEXT: rank 0 block 0 thread 0: divides by zero, or overflows in an integer division, here or before its next
// WILD: traps.mlir:[[#]]:[[#]]: error: fault
// WILD-NEXT: rank 0 block 0 thread 0: accesses memory that is not there, or not aligned as it has to be
// WILD-NEXT: llvm.load

// ALIGNED: error: fault
// ALIGNED-NEXT: rank 0 block 0 thread 0: accesses a vector at 0x200004 of rank 0's heap, which is not aligned to 16 bytes
// ALIGNED-NEXT: symm.remote_store %ctx, %box[%c1]
// ALIGNED: nothing is known of other schedules
// Ranks that do not allocate alike are named.
// DIFFERS: rank [[#]] host: this rank allocates {{[48]}} bytes, aligned to 256, where rank [[#]] allocates {{[48]}} bytes,
// DIFFERS-SAME: aligned to 256 ({{.*}}traps.mlir:[[#]]:[[#]])

// What is before the first allocation is symm's own, and there is no memory in it for a program.
// RUN: %{check} %t/before.mlir --ranks 1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: before.mlir:[[#]]:[[#]]: error: out-of-heap
// BEFORE-NEXT: rank 0 block 0 thread 0: 4 bytes at 0x1ffffc of rank 0's heap
// BEFORE-NEXT: memref.load %box[%minus]
// BEFORE: before.mlir:[[#]]:[[#]]: error: out-of-heap
// BEFORE-NEXT: rank 0 block 0 thread 0: 4 bytes at 0x1ffffc of rank 0's heap
// BEFORE-NEXT: memref.store %v, %box[%minus]
// BEFORE: before.mlir:[[#]]:[[#]]: error: out-of-heap
// BEFORE-NEXT: rank 0 block 0 thread 0: 4 bytes at 0x8 of rank 0's heap
// BEFORE-NEXT: memref.store %v, %box[%first]
// BEFORE: symm-check: 3 errors

// JSON: "kind": "fault",
// JSON: "schedule": ""
// JSON: "crashed": true,
// JSON: "exhausted": false,
// JSON-NEXT: "claim": "each error is in a real execution of the model;
// HTML: error</span> fault</h2>
// HTML: <mark>symm.remote_store

//--- divides.mlir
func.func @main(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ten = arith.constant 10 : i32
  %zero = arith.constant 0 : i32
  %box = symm.alloc %ctx : memref<1xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    %q = arith.divsi %ten, %me : i32
    symm.remote_store %ctx, %box[%c0], %q, %zero : memref<1xi32>, i32
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    symm.remote_store %ctx, %box[%c0], %me, %zero : memref<1xi32>, i32
    gpu.terminator
  }
  return
}

func.func @overflows(%ctx: !symm.ctx) {
  %least = arith.constant -128 : i8
  %me = symm.rank %ctx
  %small = arith.trunci %me : i32 to i8
  %zero = arith.constant 0 : i8
  %one = arith.constant 1 : i8
  %minus = arith.subi %zero, %small : i8
  %odd = arith.ori %minus, %one : i8
  %q = arith.divsi %least, %odd : i8
  %same = arith.cmpi ne, %q, %zero : i8
  symm.check %same, "it is {}"(%q) : i8
  return
}

//--- traps.mlir
func.func @main(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %box = symm.alloc %ctx : memref<4xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    symm.remote_store %ctx, %box[%c0], %me, %zero : memref<4xi32>, i32
    %first = arith.cmpi eq, %me, %zero : i32
    scf.if %first {
    } else {
      "llvm.intr.trap"() : () -> ()
    }
    gpu.terminator
  }
  return
}

func.func @lanes(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %box = symm.alloc %ctx : memref<4xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    symm.remote_store %ctx, %box[%c0], %me, %zero : memref<4xi32>, i32
    %tens = arith.constant dense<10> : vector<4xi32>
    %lanes = vector.broadcast %me : i32 to vector<4xi32>
    %q = arith.divsi %tens, %lanes : vector<4xi32>
    vector.store %q, %box[%c0] : memref<4xi32>, vector<4xi32>
    gpu.terminator
  }
  return
}

func.func @wild(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %box = symm.alloc %ctx : memref<4xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    symm.remote_store %ctx, %box[%c0], %me, %zero : memref<4xi32>, i32
    %address = arith.constant 1234567890123 : i64
    %place = llvm.inttoptr %address : i64 to !llvm.ptr
    %v = llvm.load %place : !llvm.ptr -> i32
    memref.store %v, %box[%c0] : memref<4xi32>
    gpu.terminator
  }
  return
}

func.func @aligned(%ctx: !symm.ctx) {
  %c1 = arith.constant 1 : index
  %box = symm.alloc %ctx : memref<8xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    %v = arith.constant dense<10> : vector<4xi32>
    symm.remote_store %ctx, %box[%c1], %v, %me : memref<8xi32>, vector<4xi32>
    gpu.terminator
  }
  return
}

func.func @differs(%ctx: !symm.ctx) {
  %zero = arith.constant 0 : i32
  %me = symm.rank %ctx
  %first = arith.cmpi eq, %me, %zero : i32
  scf.if %first {
    %box = symm.alloc %ctx : memref<1xi32>
    symm.free %ctx, %box : memref<1xi32>
  } else {
    %box = symm.alloc %ctx : memref<2xi32>
    symm.free %ctx, %box : memref<2xi32>
  }
  return
}

//--- before.mlir
func.func @main(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %minus = arith.constant -1 : index
  // The second word of a barrier.
  %first = arith.constant -524286 : index
  %box = symm.alloc %ctx : memref<4xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    symm.barrier %ctx group block
    %v = memref.load %box[%minus] : memref<4xi32>
    memref.store %v, %box[%minus] : memref<4xi32>
    memref.store %v, %box[%first] : memref<4xi32>
    memref.store %v, %box[%c0] : memref<4xi32>
    gpu.terminator
  }
  return
}
