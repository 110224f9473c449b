// RUN: symm-opt %s --symm-keep-loops | FileCheck %s
// Without the pass the loops are gone; with it they are in LLVM's IR after its own passes, too.
// RUN: symm-opt %s --canonicalize | FileCheck %s --check-prefix=GONE
// RUN: symm-opt %s --symm-keep-loops --canonicalize --cse | FileCheck %s
// RUN: symm-opt %s --canonicalize | FileCheck %s --check-prefix=MERGED
// RUN: symm-opt %s --symm-keep-loops=barriers=true --canonicalize | FileCheck %s --check-prefix=BARRIERS
// RUN: symm-opt %s --symm-check > %t.mlir
// RUN: FileCheck %s --check-prefix=CHECKED < %t.mlir
// RUN: mlir-translate %t.mlir --mlir-to-llvmir | opt -O3 -S | FileCheck %s --check-prefix=FINAL

// GONE-LABEL: func.func @endless(
// GONE-NOT: scf.while
// GONE-LABEL: func.func @polls(
// GONE-NOT: scf.while
// GONE-LABEL: func.func @stays(

// CHECK-LABEL: func.func @endless(
// CHECK: scf.while
// CHECK-NEXT: llvm.inline_asm has_side_effects {symm.round} "", ""
// CHECKED-LABEL: llvm.func @endless(
// CHECKED-NOT: inline_asm
// CHECKED: llvm.call @symm_chk_turn(
// FINAL-LABEL: define void @endless(
// FINAL: [[LOOP:[0-9]+]]:
// FINAL: call void @symm_chk_turn(
// FINAL: br label %[[LOOP]]
func.func @endless() {
  %true = arith.constant true
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @polls(
// CHECK: scf.while
// CHECK-NEXT: llvm.inline_asm has_side_effects {symm.round} "", ""
// CHECK-NEXT: memref.load
// CHECKED-LABEL: llvm.func @polls(
// CHECKED-NOT: inline_asm
// CHECKED: llvm.call @symm_chk_read(
// CHECKED: llvm.call @symm_chk_turn(
// FINAL-LABEL: define void @polls(
// FINAL: [[POLL:[0-9]+]]:
// FINAL: call void @symm_chk_read(
// FINAL: br i1 %{{.*}}, label %{{.*}}, label %
// FINAL: call void @symm_chk_turn(
// FINAL: br label %[[POLL]]
func.func @polls(%flag: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    %v = memref.load %flag[%c0] : memref<1xi32>
    %go_on = arith.cmpi eq, %v, %zero : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  return
}

// What writes stays as it is.
// CHECK-LABEL: func.func @stays(
// CHECK: scf.while
// CHECK-NOT: inline_asm
// CHECK: return
func.func @stays(%flag: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  scf.while : () -> () {
    %v = memref.load %flag[%c0] : memref<1xi32>
    memref.store %zero, %flag[%c0] : memref<1xi32>
    %go_on = arith.cmpi eq, %v, %zero : i32
    scf.condition(%go_on)
  } do {
    scf.yield
  }
  return
}

// MERGED-LABEL: func.func @barriers(
// MERGED-COUNT-1: gpu.barrier
// MERGED-NOT: gpu.barrier
// BARRIERS-LABEL: func.func @barriers(
// BARRIERS: gpu.barrier
// BARRIERS-NEXT: llvm.inline_asm has_side_effects {symm.round} "", ""
// BARRIERS-NEXT: gpu.barrier
func.func @barriers() {
  gpu.barrier
  gpu.barrier
  return
}
