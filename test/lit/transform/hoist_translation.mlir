// Each distance is computed once for its context and rank, where both are first known.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --symm-hoist-translation | FileCheck %s
// Once is enough.
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --symm-hoist-translation > %t.once
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --symm-hoist-translation --symm-hoist-translation \
// RUN:   | diff %t.once -

// Out of nested loops, merged, across waits and atomics, whatever the pointers are (T2, T3).
// CHECK-LABEL: func.func @nested_loops(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[M:[a-z0-9]+]]: memref<?x?xf32>, %[[F:[a-z0-9]+]]: memref<i64>,
// CHECK-SAME: %[[PEER:[a-z0-9]+]]: i32
func.func @nested_loops(%ctx: !symm.ctx, %m: memref<?x?xf32>, %f: memref<i64>, %peer: i32, %n: index, %v: i64) {
  // CHECK-NEXT: %[[DELTA:.*]] = symm.heap_delta %[[CTX]], %[[PEER]]
  // CHECK: scf.for %[[I:.*]] =
  // CHECK-NEXT: symm.wait %[[CTX]], %[[F]]
  // CHECK-NEXT: scf.for %[[J:.*]] =
  // CHECK-NEXT: symm.remote_load %[[CTX]], %[[M]][%[[I]], %[[J]]], %[[PEER]] via %[[DELTA]] : memref<?x?xf32> -> f32
  // CHECK-NEXT: symm.atomic_rmw add %[[CTX]], %[[F]], %{{.*}}, %[[PEER]] via %[[DELTA]] : memref<i64>, i64
  // CHECK-NEXT: symm.remote_store %[[CTX]], %[[M]][%[[J]], %[[I]]], %{{.*}}, %[[PEER]] via %[[DELTA]]
  // CHECK-NOT: symm.heap_delta
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    symm.wait %ctx, %f ge %v : memref<i64>, i64
    scf.for %j = %c0 to %n step %c1 {
      %x = symm.remote_load %ctx, %m[%i, %j], %peer : memref<?x?xf32> -> f32
      %old = symm.atomic_rmw add %ctx, %f, %v, %peer : memref<i64>, i64
      symm.remote_store %ctx, %m[%j, %i], %x, %peer : memref<?x?xf32>, f32
    }
  }
  return
}

// -----

// Every op that translates.
// CHECK-LABEL: func.func @every_op(
func.func @every_op(%ctx: !symm.ctx, %m: memref<8xf32>, %p: !llvm.ptr, %f: memref<i32>, %i: index, %x: f32, %v: i32,
    %r: i32, %to: i32) {
  // CHECK-NEXT: %[[TO:.*]] = symm.heap_delta %{{.*}}, %arg8
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta %{{.*}}, %arg7
  // CHECK-NEXT: symm.as_remote {{.*}} via %[[D]] : !llvm.ptr
  // CHECK-NEXT: symm.as_remote {{.*}} via %[[D]] : memref<8xf32>
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[D]] : memref<8xf32> -> f32
  // CHECK-NEXT: symm.remote_store {{.*}} via %[[D]] : memref<8xf32>, f32
  // CHECK-NEXT: symm.get {{.*}} via %[[D]] : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: symm.put {{.*}} via %[[D]] group block : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: symm.copy {{.*}} via %[[D]], {{.*}} via %[[TO]] : memref<8xf32>, memref<8xf32>
  // CHECK-NEXT: symm.atomic_rmw {{.*}} via %[[D]] : memref<i32>, i32
  // CHECK-NEXT: symm.atomic_cas {{.*}} via %[[D]] : memref<i32>, i32
  // CHECK-NEXT: symm.signal {{.*}} via %[[D]] : memref<i32>, i32
  // CHECK-NEXT: symm.put_signal {{.*}} via %[[D]] : memref<8xf32>, memref<8xf32>, memref<i32>, i32
  // CHECK-NEXT: return
  %0 = symm.as_remote %ctx, %p, %r : !llvm.ptr
  %1 = symm.as_remote %ctx, %m, %r : memref<8xf32>
  %2 = symm.remote_load %ctx, %m[%i], %r : memref<8xf32> -> f32
  symm.remote_store %ctx, %m[%i], %x, %r : memref<8xf32>, f32
  symm.get %ctx, %m, %m, %r : memref<8xf32>, memref<8xf32>
  symm.put %ctx, %m, %m, %r group block : memref<8xf32>, memref<8xf32>
  symm.copy %ctx, %m at %r, %m at %to : memref<8xf32>, memref<8xf32>
  %3 = symm.atomic_rmw add %ctx, %f, %v, %r : memref<i32>, i32
  %4 = symm.atomic_cas %ctx, %f, %v, %v, %r : memref<i32>, i32
  symm.signal set %ctx, %f, %v, %r : memref<i32>, i32
  symm.put_signal set %ctx, %m, %m, %f, %v, %r : memref<8xf32>, memref<8xf32>, memref<i32>, i32
  return
}

// -----

// Pointers of every level.
// CHECK-LABEL: func.func @levels(
func.func @levels(%ctx: !symm.ctx, %g: !llvm.ptr<1>, %s: memref<?xf16, strided<[?], offset: ?>>, %t: !tt.ptr<f32>,
    %many: tensor<8x!tt.ptr<f32>>, %r: i32) {
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta
  // CHECK-NEXT: symm.as_remote {{.*}} via %[[D]] : !llvm.ptr<1>
  // CHECK-NEXT: symm.as_remote {{.*}} via %[[D]] : memref<?xf16, strided<[?], offset: ?>>
  // CHECK-NEXT: symm.as_remote {{.*}} via %[[D]] : !tt.ptr<f32>
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[D]] : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  %0 = symm.as_remote %ctx, %g, %r : !llvm.ptr<1>
  %1 = symm.as_remote %ctx, %s, %r : memref<?xf16, strided<[?], offset: ?>>
  %2 = symm.as_remote %ctx, %t, %r : !tt.ptr<f32>
  %3 = symm.remote_load %ctx, %many, %r : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  return
}

// -----

// A rank that is computed after a write is computed before it, and where it is otherwise: on AMD the table is then read
// by scalar loads.
// CHECK-LABEL: func.func @after_a_write(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx
func.func @after_a_write(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f32, %c: i1) {
  // CHECK-NEXT: %[[N:.*]] = symm.num_ranks %[[CTX]]
  // CHECK-NEXT: %[[ME:.*]] = symm.rank %[[CTX]]
  // CHECK: %[[AFTER:.*]] = arith.addi %[[ME]], %{{.*}} : i32
  // CHECK-NEXT: %[[NEXT:.*]] = arith.remui %[[AFTER]], %[[N]]
  // CHECK-NEXT: %[[FAR:.*]] = symm.heap_delta %[[CTX]], %[[NEXT]]
  // CHECK: llvm.load
  // CHECK: llvm.store
  // CHECK: symm.remote_store {{.*}} via %[[FAR]]
  %one = arith.constant 1 : i32
  %y = llvm.load %p : !llvm.ptr -> f32
  llvm.store %x, %p : f32, !llvm.ptr
  %me = symm.rank %ctx
  %n = symm.num_ranks %ctx
  %after = arith.addi %me, %one : i32
  %next = arith.remui %after, %n : i32
  symm.remote_store %ctx, %p, %y, %next : !llvm.ptr, f32
  return
}

// -----

// So is a context that is made in a branch after a write: the table is there on every way.
// CHECK-LABEL: func.func @made_in_a_branch(
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: !llvm.ptr,
func.func @made_in_a_branch(%table: !llvm.ptr, %p: !llvm.ptr, %x: f32, %peer: i32, %c: i1) {
  // CHECK-NEXT: %[[CTX:.*]] = symm.ctx %[[TABLE]]
  // CHECK-NEXT: %[[FAR:.*]] = symm.heap_delta %[[CTX]], %{{.*}}
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: symm.remote_store {{.*}} via %[[FAR]]
  llvm.store %x, %p : f32, !llvm.ptr
  scf.if %c {
    %ctx = symm.ctx %table : !llvm.ptr
    symm.remote_store %ctx, %p, %x, %peer : !llvm.ptr, f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @after_a_read(
func.func @after_a_read(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // CHECK: llvm.load
  // CHECK-NEXT: symm.rank
  %y = llvm.load %p : !llvm.ptr -> f32
  %me = symm.rank %ctx
  %n = symm.num_ranks %ctx
  %next = arith.subi %n, %me : i32
  symm.remote_store %ctx, %p, %y, %next : !llvm.ptr, f32
  return
}

// -----

// Constant ranks are one where their values are, wherever the constants are; each in its own dialect.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx
func.func @constants(%ctx: !symm.ctx, %p: !llvm.ptr, %c: i1) {
  // CHECK-NEXT: %[[THREE:.*]] = arith.constant 3 : i32
  // CHECK-NEXT: %[[FAR:.*]] = symm.heap_delta %[[CTX]], %[[THREE]]
  // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK-NEXT: %[[NEAR:.*]] = symm.heap_delta %[[CTX]], %[[TWO]]
  // CHECK-NOT: symm.heap_delta
  // CHECK: symm.remote_load {{.*}} via %[[NEAR]]
  // CHECK: symm.remote_load {{.*}} via %[[NEAR]]
  // CHECK: symm.remote_load {{.*}} via %[[FAR]]
  scf.if %c {
    %near = arith.constant 2 : i32
    %0 = symm.remote_load %ctx, %p, %near : !llvm.ptr -> f32
  } else {
    %near = llvm.mlir.constant(2 : i32) : i32
    %1 = symm.remote_load %ctx, %p, %near : !llvm.ptr -> f32
    %far = arith.constant 3 : i32
    %2 = symm.remote_load %ctx, %p, %far : !llvm.ptr -> f32
  }
  return
}

// -----

// A rank that is computed in a loop is as far as it goes; but it goes above the branches and accesses in there.
// CHECK-LABEL: func.func @rank_in_loop(
func.func @rank_in_loop(%ctx: !symm.ctx, %p: !llvm.ptr, %c: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for %[[RANK:.*]] = {{.*}} : i32 {
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[RANK]]
  // CHECK-NEXT: %[[E:.*]] = symm.heap_delta %{{.*}}, %[[NEXT]]
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta %{{.*}}, %[[RANK]]
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[D]]
  // CHECK-NEXT: }
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[E]]
  scf.for %rank = %c0 to %n step %c1 : i32 {
    scf.if %c {
      %0 = symm.remote_load %ctx, %p, %rank : !llvm.ptr -> f32
    }
    %next = arith.addi %rank, %c1 : i32
    %1 = symm.remote_load %ctx, %p, %next : !llvm.ptr -> f32
  }
  return
}

// -----

// Contexts are kept apart, and one that is made in the function comes first.
// CHECK-LABEL: func.func @contexts(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !symm.ctx, %[[TABLE:[a-z0-9]+]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[R:[a-z0-9]+]]: i32
func.func @contexts(%a: !symm.ctx, %table: !llvm.ptr, %p: !llvm.ptr, %r: i32) {
  // CHECK-NEXT: %[[DA:.*]] = symm.heap_delta %[[A]], %[[R]]
  // CHECK-NEXT: %[[B:.*]] = symm.ctx %[[TABLE]]
  // CHECK-NEXT: %[[DB:.*]] = symm.heap_delta %[[B]], %[[R]]
  // CHECK-NEXT: symm.remote_load %[[B]], {{.*}} via %[[DB]]
  // CHECK-NEXT: symm.remote_load %[[A]], {{.*}} via %[[DA]]
  %b = symm.ctx %table : !llvm.ptr
  %0 = symm.remote_load %b, %p, %r : !llvm.ptr -> f32
  %1 = symm.remote_load %a, %p, %r : !llvm.ptr -> f32
  return
}

// -----

// scf.while: out of both of its regions.
// CHECK-LABEL: func.func @while(
func.func @while(%ctx: !symm.ctx, %f: memref<i64>, %p: !llvm.ptr, %r: i32, %v: i64) {
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta
  // CHECK-NEXT: scf.while
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[D]]
  // CHECK: } do {
  // CHECK-NEXT: symm.signal {{.*}} via %[[D]]
  scf.while : () -> () {
    %x = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i64
    %more = arith.cmpi slt, %x, %v : i64
    scf.condition(%more)
  } do {
    symm.signal add %ctx, %f, %v, %r : memref<i64>, i64
    scf.yield
  }
  return
}

// -----

// Blocks: out of a loop, and before both ways where the rank is known before them.
// CHECK-LABEL: func.func @blocks(
func.func @blocks(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %c: i1) {
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta %arg0, %arg2
  // CHECK-NEXT: cf.br ^[[LOOP:.*]](%arg2
  cf.br ^loop(%r : i32)
// CHECK-NEXT: ^[[LOOP]](%[[RANK:.*]]: i32)
^loop(%rank: i32):
  // CHECK-NEXT: %[[E:.*]] = symm.heap_delta %arg0, %[[RANK]]
  // CHECK-NEXT: symm.remote_load {{.*}}, %arg2 via %[[D]]
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  cf.cond_br %c, ^left, ^right
^left:
  // CHECK: symm.remote_load {{.*}}, %[[RANK]] via %[[E]]
  %1 = symm.remote_load %ctx, %p, %rank : !llvm.ptr -> i32
  cf.br ^loop(%1 : i32)
^right:
  // CHECK: symm.remote_load {{.*}}, %[[RANK]] via %[[E]]
  // CHECK-NOT: heap_delta
  %2 = symm.remote_load %ctx, %p, %rank : !llvm.ptr -> i32
  return
}

// -----

// A context and a rank of different blocks: where the later one is known.
// CHECK-LABEL: func.func @later(
func.func @later(%table: !llvm.ptr, %p: !llvm.ptr, %r: i32, %c: i1) {
  cf.cond_br %c, ^known(%r : i32), ^end
^known(%rank: i32):
  // CHECK: ^{{.*}}(%[[RANK:.*]]: i32):
  // CHECK-NEXT: %[[CTX:.*]] = symm.ctx
  // CHECK-NEXT: cf.br
  %ctx = symm.ctx %table : !llvm.ptr
  cf.br ^next
^next:
  // CHECK: %[[SUM:.*]] = arith.addi
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta %[[CTX]], %[[SUM]]
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[D]]
  %sum = arith.addi %rank, %r : i32
  %0 = symm.remote_load %ctx, %p, %sum : !llvm.ptr -> i32
  cf.br ^end
^end:
  return
}

// -----

// Distances that are there already: one in place serves all; a later one is replaced; one that is given stays.
// CHECK-LABEL: func.func @there_already(
func.func @there_already(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %given: i64, %c: i1) -> i64 {
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: func.call @use(%[[D]])
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[D]]
  // CHECK-NEXT: symm.remote_load {{.*}} via %arg3
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[D]]
  %delta = symm.heap_delta %ctx, %r
  scf.if %c {
    %again = symm.heap_delta %ctx, %r
    func.call @use(%again) : (i64) -> ()
    %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
    %1 = symm.remote_load %ctx, %p, %r via %given : !llvm.ptr -> i32
  }
  return %delta : i64
}
func.func private @use(i64)

// CHECK-LABEL: func.func @too_late(
func.func @too_late(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) -> i64 {
  // CHECK-NEXT: %[[D:.*]] = symm.heap_delta
  // CHECK-NEXT: symm.remote_load {{.*}} via %[[D]]
  // CHECK-NEXT: return %[[D]]
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  %delta = symm.heap_delta %ctx, %r
  return %delta : i64
}

// -----

// Functions do not share: each has its own, kernels too.
// CHECK-LABEL: func.func @one(
func.func @one(%ctx: !symm.ctx, %p: !llvm.ptr) {
  // CHECK: symm.heap_delta
  %r = arith.constant 1 : i32
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  return
}
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @two(
  gpu.func @two(%ctx: !symm.ctx, %p: !llvm.ptr) kernel {
    // CHECK: symm.heap_delta
    %r = arith.constant 1 : i32
    %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
    gpu.return
  }
}

// -----

// Nothing to translate, nothing made.
// CHECK-LABEL: func.func @nothing(
func.func @nothing(%ctx: !symm.ctx, %f: memref<i32>, %v: i32) {
  // CHECK-NEXT: symm.rank
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: symm.barrier
  // CHECK-NEXT: return
  %me = symm.rank %ctx
  symm.wait %ctx, %f eq %v : memref<i32>, i32
  symm.barrier %ctx
  return
}

// -----

// In a loop of a dialect that nothing is known of, a rank that is computed of values from outside goes before it;
// one that depends on the loop stays, as does a division that might be by zero.
// CHECK-LABEL: sym_name = "computed_ranks"
// CHECK-NEXT: ^bb0(%[[CTX:.*]]: !symm.ctx, %[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32):
// CHECK-DAG: %[[ME:.*]] = symm.rank %[[CTX]]
// CHECK-DAG: %[[RANKS:.*]] = symm.num_ranks %[[CTX]]
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[ME]], %[[C1]] : i32
// CHECK: %[[PEER:.*]] = arith.remsi %[[NEXT]], %[[RANKS]] : i32
// CHECK-NEXT: %[[DELTA:.*]] = symm.heap_delta %[[CTX]], %[[PEER]]
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: symm.as_remote %[[CTX]], %[[P]], %[[PEER]] via %[[DELTA]]
// CHECK-NEXT: %[[OTHER:.*]] = arith.addi %[[I]], %[[C1]]
// CHECK-NEXT: %[[DELTA:.*]] = symm.heap_delta %[[CTX]], %[[OTHER]]
// CHECK-NEXT: symm.as_remote %[[CTX]], %[[P]], %[[OTHER]] via %[[DELTA]]
// CHECK-NEXT: %[[THIRD:.*]] = arith.remsi %[[ME]], %[[N]]
// CHECK-NEXT: %[[DELTA:.*]] = symm.heap_delta %[[CTX]], %[[THIRD]]
"tt.func"() <{function_type = (!symm.ctx, !tt.ptr<f32>, i32) -> (), sym_name = "computed_ranks"}> ({
^bb0(%ctx: !symm.ctx, %p: !tt.ptr<f32>, %n: i32):
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  scf.for %i = %c0 to %n step %c4 : i32 {
    %c1 = arith.constant 1 : i32
    %me = symm.rank %ctx
    %ranks = symm.num_ranks %ctx
    %next = arith.addi %me, %c1 : i32
    %peer = arith.remsi %next, %ranks : i32
    %q = symm.as_remote %ctx, %p, %peer : !tt.ptr<f32>
    %other = arith.addi %i, %c1 : i32
    %r = symm.as_remote %ctx, %p, %other : !tt.ptr<f32>
    %third = arith.remsi %me, %n : i32
    %s = symm.as_remote %ctx, %p, %third : !tt.ptr<f32>
    "use"(%q, %r, %s) : (!tt.ptr<f32>, !tt.ptr<f32>, !tt.ptr<f32>) -> ()
  }
  "tt.return"() : () -> ()
}) : () -> ()
