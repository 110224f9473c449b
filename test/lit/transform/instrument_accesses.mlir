// RUN: symm-opt %s --symm-instrument-accesses | FileCheck %s

// CHECK-DAG: llvm.func @symm_chk_read(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
// CHECK-DAG: llvm.mlir.global internal constant @_symm_place_{{[0-9]+}}("{{.*}}instrument_accesses.mlir:{{[0-9]+}}:{{[0-9]+}}\00")

// A value goes through the stack.
// CHECK-LABEL: llvm.func @weak(
llvm.func @weak(%p: !llvm.ptr, %q: !llvm.ptr) {
  // CHECK-DAG: %[[READ:.*]] = llvm.alloca
  // CHECK-DAG: %[[WRITTEN:.*]] = llvm.alloca
  // CHECK: llvm.call @symm_chk_read(%{{.*}}, %arg0, %{{.*}}, %{{.*}})
  // CHECK: %[[V:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK: llvm.store %[[V]]
  // CHECK: llvm.call @symm_chk_write(%arg1
  %v = llvm.load %p : !llvm.ptr -> f32
  llvm.store %v, %q : f32, !llvm.ptr
  llvm.return
}

// A loop tells of its rounds, and a function that calls another one of its own call.
// CHECK-LABEL: llvm.func @turns(
llvm.func @turns(%n: i64) {
  // CHECK: llvm.call @symm_chk_turn(
  // CHECK: llvm.call @turns
  // CHECK-NOT: symm_chk_turn
  // CHECK: llvm.br
  // CHECK: llvm.call @symm_chk_turn(
  // CHECK-NEXT: llvm.cond_br
  // CHECK-NOT: symm_chk_turn
  // CHECK: llvm.return
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.call @turns(%one) : (i64) -> ()
  llvm.br ^loop(%n : i64)
^loop(%i: i64):
  %next = llvm.sub %i, %one : i64
  %more = llvm.icmp "ne" %next, %one : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}

// CHECK-LABEL: llvm.func @private(
// CHECK-NOT: llvm.call
llvm.func @private() -> i32 {
  %one = llvm.mlir.constant(1 : i64) : i64
  %p = llvm.alloca %one x !llvm.array<4 x i32> : (i64) -> !llvm.ptr
  %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %v = llvm.load %q : !llvm.ptr -> i32
  llvm.return %v : i32
}

// Large memory on the stack is looked at first, and a function touches each page of it.
// CHECK-LABEL: llvm.func @large(
// CHECK-SAME: passthrough = {{\[}}["probe-stack", "inline-asm"]]
// CHECK: %[[TAKEN:.*]] = llvm.call @symm_chk_stack(%{{.*}}, %{{.*}}, %{{.*}}) : (i64, i64, !llvm.ptr) -> i64
// CHECK: llvm.alloca %[[TAKEN]] x f32
// CHECK: %[[SIZED:.*]] = llvm.call @symm_chk_stack(%arg0
// CHECK: llvm.alloca %[[SIZED]] x i8
llvm.func @large(%size: i64) {
  %many = llvm.mlir.constant(1024 : i64) : i64
  %p = llvm.alloca %many x f32 : (i64) -> !llvm.ptr
  %q = llvm.alloca %size x i8 : (i64) -> !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @strong(
llvm.func @strong(%p: !llvm.ptr, %v: i32) -> i32 {
  // Acquire is 1, release 2, both 3; the scope of the rank 2, of all 3.
  // CHECK: llvm.mlir.constant(1 : i32)
  // CHECK: llvm.mlir.constant(2 : i32)
  // CHECK: llvm.call @symm_chk_load(
  %a = llvm.load %p atomic syncscope("agent") acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  // CHECK: llvm.call @symm_chk_store(
  llvm.store %a, %p atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  // CHECK: llvm.call @symm_chk_update(
  %b = llvm.atomicrmw add %p, %v acq_rel : !llvm.ptr, i32
  // CHECK: llvm.call @symm_chk_compare(
  // CHECK: llvm.icmp "eq"
  %c = llvm.cmpxchg %p, %a, %b acq_rel monotonic : !llvm.ptr, i32
  // CHECK: llvm.call @symm_chk_fence(
  llvm.fence seq_cst
  // A volatile access is no race with others of its kind.
  // CHECK: llvm.call @symm_chk_load(
  %d = llvm.load volatile %p : !llvm.ptr -> i32
  llvm.return %d : i32
}

// CHECK-LABEL: llvm.func @bulk(
llvm.func @bulk(%p: !llvm.ptr, %q: !llvm.ptr, %n: i64, %byte: i8) {
  // CHECK: llvm.call @symm_chk_copy(%arg0, %arg1, %arg2
  "llvm.intr.memcpy"(%p, %q, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  // CHECK: llvm.call @symm_chk_fill(%arg0, %{{.*}}, %arg2
  "llvm.intr.memset"(%p, %byte, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  llvm.return
}

// CHECK-LABEL: llvm.func @lanes(
llvm.func @lanes(%p: !llvm.ptr, %mask: vector<4xi1>, %v: vector<4xf32>) -> vector<4xf32> {
  // CHECK: llvm.call @symm_chk_read_lanes(
  %r = llvm.intr.masked.load %p, %mask, %v {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
  // CHECK: llvm.call @symm_chk_write_lanes(
  llvm.intr.masked.store %r, %p, %mask {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  llvm.return %r : vector<4xf32>
}

// What takes arguments from memory is the runtime's own.
// CHECK-LABEL: llvm.func @_symm_entry_main(
// CHECK-NOT: llvm.call @symm_chk
llvm.func @_symm_entry_main(%slots: !llvm.ptr) {
  %p = llvm.load %slots : !llvm.ptr -> !llvm.ptr
  llvm.return
}

// Found by the fuzzer: a pointer of another address space is the same address on the CPU.
// CHECK-LABEL: llvm.func @of_another_space(
// CHECK: %[[P:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr<1> to !llvm.ptr
// CHECK: llvm.call @symm_chk_read(%{{.*}}, %[[P]],
llvm.func @of_another_space(%p: !llvm.ptr<1>) -> i32 {
  %v = llvm.load %p : !llvm.ptr<1> -> i32
  llvm.return %v : i32
}

// A place that is read and then written: one call says where the value is. If that is the slot, the write is reported
// after it.
// CHECK-LABEL: llvm.func @update(
llvm.func @update(%p: !llvm.ptr, %q: !llvm.ptr, %v: i32) {
  // CHECK: %[[PLACE:.*]] = llvm.call @symm_chk_change(%[[SLOT:.*]], %arg0, %{{.*}}, %{{.*}}, %[[THERE:[0-9]+]])
  // CHECK: %[[OLD:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> i32
  // CHECK: %[[NEW:.*]] = llvm.add %[[OLD]], %arg2
  // CHECK: llvm.store %[[NEW]], %[[PLACE]] : i32, !llvm.ptr
  // CHECK: llvm.call @_symm_changed(%arg0, %[[SLOT]], %[[PLACE]], %{{.*}}, %[[THERE]])
  %old = llvm.load %p : !llvm.ptr -> i32
  %new = llvm.add %old, %v : i32
  llvm.store %new, %p : i32, !llvm.ptr

  // Another access between them, another place, another type, a strong access.
  // CHECK-NOT: symm_chk_change
  %a = llvm.load %p : !llvm.ptr -> i32
  %b = llvm.load %q : !llvm.ptr -> i32
  llvm.store %a, %p : i32, !llvm.ptr
  %c = llvm.load %p : !llvm.ptr -> i32
  llvm.store %c, %q : i32, !llvm.ptr
  %d = llvm.load %p : !llvm.ptr -> i16
  llvm.store %c, %p : i32, !llvm.ptr
  %e = llvm.load %p : !llvm.ptr -> i32
  llvm.store volatile %e, %p : i32, !llvm.ptr
  %f = llvm.load %p : !llvm.ptr -> i32
  llvm.call @update(%p, %q, %f) : (!llvm.ptr, !llvm.ptr, i32) -> ()
  llvm.store %f, %p : i32, !llvm.ptr
  // CHECK: llvm.return
  llvm.return
}

// The C library's memory is the checker's.
// CHECK-LABEL: llvm.func @memory(
llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.func @memory(%bytes: i64) {
  // CHECK-NOT: @malloc
  // CHECK: %[[ALIGN:.*]] = llvm.mlir.constant(16 : i64) : i64
  // CHECK: %[[ONE:.*]] = llvm.call @symm_chk_allocate(%arg0, %[[ALIGN]], %{{.*}})
  // CHECK: llvm.call @symm_chk_allocate(%arg0, %arg0, %{{.*}})
  // CHECK: llvm.call @symm_chk_release(%[[ONE]], %{{.*}})
  // CHECK: llvm.return
  %one = llvm.call @malloc(%bytes) : (i64) -> !llvm.ptr
  %other = llvm.call @aligned_alloc(%bytes, %bytes) : (i64, i64) -> !llvm.ptr
  llvm.call @free(%one) : (!llvm.ptr) -> ()
  llvm.return
}

// A division by what may be zero, or -1, is reported before it is done.
// CHECK-LABEL: llvm.func @divisions(
llvm.func @divisions(%a: i32, %b: i32) {
  // CHECK: %[[LEFT:.*]] = llvm.zext %arg0 : i32 to i64
  // CHECK: %[[RIGHT:.*]] = llvm.zext %arg1 : i32 to i64
  // CHECK: llvm.call @symm_chk_divide(%[[LEFT]], %[[RIGHT]], %{{.*}}, %{{.*}}, %{{.*}})
  // CHECK-NEXT: llvm.sdiv %arg0, %arg1
  // CHECK: llvm.call @symm_chk_divide(
  // CHECK-NEXT: llvm.srem
  // CHECK-NOT: symm_chk_divide
  // CHECK: llvm.return
  %minus = llvm.mlir.constant(-1 : i32) : i32
  %seven = llvm.mlir.constant(7 : i32) : i32
  %one = llvm.sdiv %a, %b : i32
  %two = llvm.srem %a, %minus : i32
  %three = llvm.udiv %a, %seven : i32
  llvm.return
}
