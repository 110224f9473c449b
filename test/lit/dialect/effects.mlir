// O4 and T3 under upstream passes: what they may merge, move and remove, and what never.
// RUN: symm-opt %s --canonicalize --cse --loop-invariant-code-motion --sccp --symbol-dce --sroa --mem2reg \
// RUN:   --remove-dead-values --canonicalize --cse | FileCheck %s

// Waits are never removed and never merged, whether their result is used or not.
// CHECK-LABEL: func.func @waits_stay(
func.func @waits_stay(%ctx: !symm.ctx, %flag: memref<i64>, %v: i64, %ns: i64) {
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: symm.wait {{.*}} timeout
  // CHECK-NEXT: symm.wait {{.*}} timeout
  // CHECK-NEXT: symm.wait {{.*}} sem relaxed
  // CHECK-NEXT: symm.wait {{.*}} sem relaxed
  // CHECK-NEXT: return
  symm.wait %ctx, %flag ge %v : memref<i64>, i64
  symm.wait %ctx, %flag ge %v : memref<i64>, i64
  %0 = symm.wait %ctx, %flag ge %v timeout %ns : memref<i64>, i64 -> i1
  %1 = symm.wait %ctx, %flag ge %v timeout %ns : memref<i64>, i64 -> i1
  symm.wait %ctx, %flag ge %v sem relaxed : memref<i64>, i64
  symm.wait %ctx, %flag ge %v sem relaxed : memref<i64>, i64
  return
}

// So is all else that orders memory.
// CHECK-LABEL: func.func @order_stays(
func.func @order_stays(%ctx: !symm.ctx, %flag: memref<i32>, %v: i32, %r: i32) {
  // CHECK-NEXT: symm.signal
  // CHECK-NEXT: symm.signal
  // CHECK-NEXT: symm.atomic_rmw
  // CHECK-NEXT: symm.atomic_rmw
  // CHECK-NEXT: symm.atomic_cas
  // CHECK-NEXT: symm.atomic_cas
  // CHECK-NEXT: symm.put_signal
  // CHECK-NEXT: symm.put_signal
  // CHECK-NEXT: symm.fence
  // CHECK-NEXT: symm.fence
  // CHECK-NEXT: symm.barrier
  // CHECK-NEXT: symm.barrier
  // CHECK-NEXT: symm.barrier_all
  // CHECK-NEXT: symm.barrier_all
  // CHECK-NEXT: return
  symm.signal set %ctx, %flag, %v, %r : memref<i32>, i32
  symm.signal set %ctx, %flag, %v, %r : memref<i32>, i32
  %0 = symm.atomic_rmw add %ctx, %flag, %v, %r : memref<i32>, i32
  %1 = symm.atomic_rmw add %ctx, %flag, %v, %r : memref<i32>, i32
  %2 = symm.atomic_cas %ctx, %flag, %v, %v, %r : memref<i32>, i32
  %3 = symm.atomic_cas %ctx, %flag, %v, %v, %r : memref<i32>, i32
  symm.put_signal set %ctx, %flag, %flag, %flag, %v, %r : memref<i32>, memref<i32>, memref<i32>, i32
  symm.put_signal set %ctx, %flag, %flag, %flag, %v, %r : memref<i32>, memref<i32>, memref<i32>, i32
  symm.fence
  symm.fence
  symm.barrier %ctx
  symm.barrier %ctx
  symm.barrier_all %ctx
  symm.barrier_all %ctx
  return
}

// Collectives of the host stay, used or not.
// CHECK-LABEL: func.func @host_stays(
func.func @host_stays(%ctx: !symm.ctx, %ok: i1) {
  // CHECK-NEXT: %[[A:.*]] = symm.alloc
  // CHECK-NEXT: %[[B:.*]] = symm.alloc
  // CHECK-NEXT: symm.free %{{.*}}, %[[A]]
  // CHECK-NEXT: symm.free %{{.*}}, %[[B]]
  // CHECK-NEXT: %[[C:.*]] = symm.alloc
  // CHECK-NEXT: symm.check
  // CHECK-NEXT: symm.check
  // CHECK-NEXT: symm.print
  // CHECK-NEXT: symm.print
  // CHECK-NEXT: return
  %a = symm.alloc %ctx : memref<4xf32>
  %b = symm.alloc %ctx : memref<4xf32>
  symm.free %ctx, %a : memref<4xf32>
  symm.free %ctx, %b : memref<4xf32>
  %c = symm.alloc %ctx : memref<4xf32>
  symm.check %ok, "same"
  symm.check %ok, "same"
  symm.print "same"
  symm.print "same"
  return
}

// Two loads with nothing between them are one; an unused one is removed.
// CHECK-LABEL: func.func @loads_merge(
func.func @loads_merge(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32, %other: i32) -> (f32, f32) {
  // CHECK-NEXT: %[[V:.*]] = symm.remote_load
  // CHECK-NEXT: return %[[V]], %[[V]]
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f32
  %1 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f32
  %2 = symm.remote_load %ctx, %p, %other : !llvm.ptr -> f32
  return %0, %1 : f32, f32
}

// Whatever orders or writes memory lies between two loads, they stay two, in their order.
// CHECK-LABEL: func.func @loads_around_order(
func.func @loads_around_order(%ctx: !symm.ctx, %p: !llvm.ptr, %flag: memref<i32>, %v: i32, %r: i32, %local: memref<i32>)
    -> (i32, i32, i32, i32, i32, i32, i32, i32, i32) {
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.fence
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.atomic_rmw
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.barrier
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.remote_store
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.get
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: symm.signal
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: return
  %0 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  symm.wait %ctx, %flag ge %v : memref<i32>, i32
  %1 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  symm.fence
  %2 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  %old = symm.atomic_rmw add %ctx, %flag, %v, %r : memref<i32>, i32
  %3 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  symm.barrier %ctx
  %4 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  symm.remote_store %ctx, %p, %v, %r : !llvm.ptr, i32
  %5 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  symm.get %ctx, %flag, %local, %r : memref<i32>, memref<i32>
  %6 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  symm.signal set %ctx, %flag, %v, %r : memref<i32>, i32
  %7 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  memref.store %v, %local[] : memref<i32>
  %8 = symm.remote_load %ctx, %p, %r : !llvm.ptr -> i32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : i32, i32, i32, i32, i32, i32, i32, i32, i32
}

// Local memory that a flag guards is read again after the wait.
// CHECK-LABEL: func.func @local_loads_around_wait(
func.func @local_loads_around_wait(%ctx: !symm.ctx, %m: memref<f32>, %flag: memref<i64>, %v: i64) -> (f32, f32) {
  // CHECK-NEXT: %[[BEFORE:.*]] = memref.load
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: %[[AFTER:.*]] = memref.load
  // CHECK-NEXT: return %[[BEFORE]], %[[AFTER]]
  %0 = memref.load %m[] : memref<f32>
  symm.wait %ctx, %flag ge %v : memref<i64>, i64
  %1 = memref.load %m[] : memref<f32>
  return %0, %1 : f32, f32
}

// Volatile loads are never merged and never removed.
// CHECK-LABEL: func.func @volatile(
func.func @volatile(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) -> f32 {
  // CHECK-NEXT: %[[V:.*]] = symm.remote_load {{.*}} volatile
  // CHECK-NEXT: symm.remote_load {{.*}} volatile
  // CHECK-NEXT: symm.remote_load {{.*}} volatile
  // CHECK-NEXT: return %[[V]]
  %0 = symm.remote_load %ctx, %p, %r volatile : !llvm.ptr -> f32
  %1 = symm.remote_load %ctx, %p, %r volatile : !llvm.ptr -> f32
  %2 = symm.remote_load %ctx, %p, %r volatile : !llvm.ptr -> f32
  return %0 : f32
}

// No load leaves a loop with a wait in it, nor one without: it may not run at all.
// CHECK-LABEL: func.func @loops(
func.func @loops(%ctx: !symm.ctx, %p: !llvm.ptr, %m: memref<f32>, %flag: memref<i64>, %v: i64, %r: i32, %n: index) {
  // CHECK: scf.for
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: }
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: symm.remote_load
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    symm.wait %ctx, %flag ge %v : memref<i64>, i64
    %x = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f32
    memref.store %x, %m[] : memref<f32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = symm.remote_load %ctx, %p, %r : !llvm.ptr -> f32
    memref.store %x, %m[] : memref<f32>
  }
  return
}

// What depends on the context and a rank alone is merged, hoisted across waits, and removed if unused (T3).
// CHECK-LABEL: func.func @pure(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[TABLE:[a-z0-9]+]]: !llvm.ptr
func.func @pure(%ctx: !symm.ctx, %table: !llvm.ptr, %p: !llvm.ptr, %m: memref<i64>, %v: i64, %r: i32, %n: index) {
  // CHECK-DAG: %[[MADE:.*]] = symm.ctx %[[TABLE]] : !llvm.ptr
  // CHECK-DAG: %[[RANK:.*]] = symm.rank %[[MADE]]
  // CHECK-DAG: %[[RANKS:.*]] = symm.num_ranks %[[CTX]]
  // CHECK-DAG: %[[BASE:.*]] = symm.heap_base %[[CTX]], %{{.*}} : !llvm.ptr
  // CHECK-DAG: %[[DELTA:.*]] = symm.heap_delta %[[CTX]], %{{.*}}
  // CHECK-DAG: %[[THEIRS:.*]] = symm.as_remote %[[CTX]], %{{.*}}, %{{.*}} : !llvm.ptr
  // CHECK: scf.for
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: func.call @use(%[[RANK]], %[[RANKS]], %[[BASE]], %[[DELTA]], %[[THEIRS]], %[[THEIRS]])
  // CHECK-NOT: symm.
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %unused = symm.as_remote %ctx, %p, %r : !llvm.ptr
  scf.for %i = %c0 to %n step %c1 {
    symm.wait %ctx, %m ge %v : memref<i64>, i64
    %made = symm.ctx %table : !llvm.ptr
    %rank = symm.rank %made
    %ranks = symm.num_ranks %ctx
    %base = symm.heap_base %ctx, %r : !llvm.ptr
    %delta = symm.heap_delta %ctx, %r
    %theirs = symm.as_remote %ctx, %p, %r : !llvm.ptr
    %again = symm.as_remote %ctx, %p, %r : !llvm.ptr
    func.call @use(%rank, %ranks, %base, %delta, %theirs, %again)
      : (i32, i32, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
  }
  return
}
func.func private @use(i32, i32, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr)

// A local buffer that takes part in a copy stays memory; one that does not becomes a value, across a wait too.
// CHECK-LABEL: func.func @buffers(
func.func @buffers(%ctx: !symm.ctx, %src: memref<f32>, %flag: memref<i64>, %v: i64, %r: i32, %x: f32) -> (f32, f32) {
  // CHECK-NEXT: %[[BUFFER:.*]] = memref.alloca
  // CHECK-NEXT: symm.get %{{.*}}, %{{.*}}, %[[BUFFER]], %{{.*}} : memref<f32>, memref<f32>
  // CHECK-NEXT: symm.wait
  // CHECK-NEXT: %[[GOT:.*]] = memref.load %[[BUFFER]]
  // CHECK-NEXT: return %[[GOT]], %{{.*}}
  %buffer = memref.alloca() : memref<f32>
  %scratch = memref.alloca() : memref<f32>
  memref.store %x, %scratch[] : memref<f32>
  symm.get %ctx, %src, %buffer, %r : memref<f32>, memref<f32>
  symm.wait %ctx, %flag ge %v : memref<i64>, i64
  %0 = memref.load %buffer[] : memref<f32>
  %1 = memref.load %scratch[] : memref<f32>
  return %0, %1 : f32, f32
}
