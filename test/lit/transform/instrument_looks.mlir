// Loops that only poll: symm-check knows that they come back to where they are as long as they read the same.

// RUN: symm-opt %s --symm-instrument-accesses | FileCheck %s

// CHECK-LABEL: llvm.func @polls(
llvm.func @polls(%flag: !llvm.ptr, %zero: i32) {
  // CHECK: llvm.store %{{.*}} : i8, !llvm.ptr
  // CHECK: llvm.br
  // CHECK: llvm.call @symm_chk_look(
  llvm.br ^poll
^poll:
  %v = llvm.load volatile %flag : !llvm.ptr -> i32
  %more = llvm.icmp "eq" %v, %zero : i32
  llvm.cond_br %more, ^poll, ^end
^end:
  llvm.return
}

// One that counts its rounds may end by itself, and one that writes does something else.
// CHECK-LABEL: llvm.func @counts(
// CHECK-NOT: symm_chk_look
// CHECK-LABEL: llvm.func @writes(
// CHECK-NOT: symm_chk_look
llvm.func @counts(%flag: !llvm.ptr, %n: i32) {
  llvm.br ^poll(%n : i32)
^poll(%i: i32):
  %v = llvm.load volatile %flag : !llvm.ptr -> i32
  %next = llvm.sub %i, %v : i32
  %more = llvm.icmp "eq" %next, %n : i32
  llvm.cond_br %more, ^poll(%next : i32), ^end
^end:
  llvm.return
}

llvm.func @writes(%flag: !llvm.ptr, %other: !llvm.ptr, %zero: i32) {
  llvm.br ^poll
^poll:
  %v = llvm.load volatile %flag : !llvm.ptr -> i32
  llvm.store %v, %other : i32, !llvm.ptr
  %more = llvm.icmp "eq" %v, %zero : i32
  llvm.cond_br %more, ^poll, ^end
^end:
  llvm.return
}
