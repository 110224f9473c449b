// T2: a distance is added to what an address starts from, not after its offsets.
// RUN: symm-opt %s --symm-lower-to-cpu --cse --canonicalize | FileCheck %s

// Two ranks share a pointer with two offsets: each has its own start and its own offsets; the loop adds no distance.
// CHECK-LABEL: func.func private @shared(
// CHECK-SAME: !llvm.ptr, %[[P:arg[0-9]]]: !llvm.ptr, %{{.*}}: index, %[[D:.*]]: i64, %[[E:.*]]: i64)
// CHECK-DAG: %[[AT_D:.*]] = llvm.getelementptr %[[P]][%[[D]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-DAG: %[[AT_E:.*]] = llvm.getelementptr %[[P]][%[[E]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: scf.for
// CHECK-DAG: %[[D1:.*]] = llvm.getelementptr inbounds %[[AT_D]][%[[I:.*]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-DAG: %[[E1:.*]] = llvm.getelementptr inbounds %[[AT_E]][%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-DAG: %[[D2:.*]] = llvm.getelementptr %[[D1]][3] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-DAG: %[[E2:.*]] = llvm.getelementptr %[[E1]][3] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-DAG: %[[V:.*]] = llvm.load %[[D2]]
// CHECK: llvm.store %[[V]], %[[E2]]
func.func private @shared(%ctx: !symm.ctx, %p: !llvm.ptr, %n: index, %d: i64, %e: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant 0 : i32
  %b = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    %o = arith.index_cast %i : index to i64
    %q = llvm.getelementptr inbounds %p[%o] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %r = llvm.getelementptr %q[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %v = symm.remote_load %ctx, %r, %a via %d : !llvm.ptr -> f32
    symm.remote_store %ctx, %r, %v, %b via %e : !llvm.ptr, f32
  }
  return
}

// A local access keeps its pointer.
// CHECK-LABEL: func.func private @local(
// CHECK-SAME: !llvm.ptr, %[[P:arg[0-9]]]: !llvm.ptr, %[[D:.*]]: i64)
// CHECK-DAG: %[[MINE:.*]] = llvm.getelementptr %[[P]][5] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-DAG: %[[START:.*]] = llvm.getelementptr %[[P]][%[[D]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-DAG: %[[THEIRS:.*]] = llvm.getelementptr %[[START]][5] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-DAG: %[[V:.*]] = llvm.load %[[MINE]]
// CHECK: llvm.store %[[V]], %[[THEIRS]]
func.func private @local(%ctx: !symm.ctx, %p: !llvm.ptr, %d: i64) {
  %a = arith.constant 0 : i32
  %q = llvm.getelementptr %p[5] : (!llvm.ptr) -> !llvm.ptr, f32
  %v = llvm.load %q : !llvm.ptr -> f32
  symm.remote_store %ctx, %q, %v, %a via %d : !llvm.ptr, f32
  return
}

// A distance that is known only after the offset is added after it.
// CHECK-LABEL: func.func private @late(
// CHECK-SAME: !llvm.ptr, %[[P:arg[0-9]]]: !llvm.ptr, %[[X:.*]]: i64)
// CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][5]
// CHECK: %[[D:.*]] = llvm.load %[[Q]] : !llvm.ptr -> i64
// CHECK: %[[THEIRS:.*]] = llvm.getelementptr %[[Q]][%[[D]]]
// CHECK: llvm.store %[[X]], %[[THEIRS]]
func.func private @late(%ctx: !symm.ctx, %p: !llvm.ptr, %x: i64) {
  %a = arith.constant 0 : i32
  %q = llvm.getelementptr %p[5] : (!llvm.ptr) -> !llvm.ptr, i64
  %d = llvm.load %q : !llvm.ptr -> i64
  symm.remote_store %ctx, %q, %x, %a via %d : !llvm.ptr, i64
  return
}

// Of a long way only the last four offsets are added twice.
// CHECK-LABEL: func.func private @long(
// CHECK-SAME: !llvm.ptr, %[[P:arg[0-9]]]: !llvm.ptr, %[[D:.*]]: i64, %[[X:.*]]: f32, %{{.*}}: i64)
// CHECK: llvm.store %[[X]]
// CHECK-NOT: llvm.getelementptr %[[P]][%[[D]]]
// CHECK: return
func.func private @long(%ctx: !symm.ctx, %p: !llvm.ptr, %d: i64, %x: f32, %i: i64) {
  %a = arith.constant 0 : i32
  %p1 = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %p2 = llvm.getelementptr %p1[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i16
  %p3 = llvm.getelementptr %p2[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %p4 = llvm.getelementptr %p3[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %p5 = llvm.getelementptr %p4[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  symm.remote_store %ctx, %p5, %x, %a via %d : !llvm.ptr, f32
  return
}
