// What is known about ranks at compile time, and T2: a translation to oneself is nothing (dialect/src/fold.rs).
// RUN: symm-opt %s --split-input-file --canonicalize | FileCheck %s
// RUN: symm-opt %s --split-input-file --sccp --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @to_oneself(
// CHECK-SAME: %{{.*}}: !symm.ctx, %[[P:.*]]: !llvm.ptr, %[[M:.*]]: memref<4xf32, strided<[2]>>)
func.func @to_oneself(%ctx: !symm.ctx, %p: !llvm.ptr, %m: memref<4xf32, strided<[2]>>)
    -> (!llvm.ptr, memref<4xf32, strided<[2]>>, i64) {
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: return %[[P]], %[[M]], %[[ZERO]]
  %me = symm.rank %ctx
  %0 = symm.as_remote %ctx, %p, %me : !llvm.ptr
  %1 = symm.as_remote %ctx, %m, %me : memref<4xf32, strided<[2]>>
  %2 = symm.heap_delta %ctx, %me
  return %0, %1, %2 : !llvm.ptr, memref<4xf32, strided<[2]>>, i64
}

// The distance an op was given goes with it.
// CHECK-LABEL: func.func @to_oneself_via(
// CHECK-SAME: %{{.*}}: !symm.ctx, %[[P:.*]]: !llvm.ptr)
func.func @to_oneself_via(%ctx: !symm.ctx, %p: !llvm.ptr) -> !llvm.ptr {
  // CHECK-NEXT: return %[[P]]
  %me = symm.rank %ctx
  %delta = symm.heap_delta %ctx, %me
  %0 = symm.as_remote %ctx, %p, %me via %delta : !llvm.ptr
  return %0 : !llvm.ptr
}

// Another context may count its ranks otherwise.
// CHECK-LABEL: func.func @rank_of_another_context(
func.func @rank_of_another_context(%ctx: !symm.ctx, %other: !symm.ctx, %p: !llvm.ptr) -> (!llvm.ptr, i64) {
  // CHECK: %[[RANK:.*]] = symm.rank %{{.*}}
  // CHECK-NEXT: symm.as_remote %{{.*}}, %{{.*}}, %[[RANK]] : !llvm.ptr
  // CHECK-NEXT: symm.heap_delta %{{.*}}, %[[RANK]]
  %me = symm.rank %other
  %0 = symm.as_remote %ctx, %p, %me : !llvm.ptr
  %1 = symm.heap_delta %ctx, %me
  return %0, %1 : !llvm.ptr, i64
}

// CHECK-LABEL: func.func @to_another(
func.func @to_another(%ctx: !symm.ctx, %p: !llvm.ptr, %peer: i32) -> !llvm.ptr {
  // CHECK-NEXT: symm.as_remote
  %0 = symm.as_remote %ctx, %p, %peer : !llvm.ptr
  return %0 : !llvm.ptr
}

// A context that is made from parts knows them.
// CHECK-LABEL: func.func @from_parts(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[ME:.*]]: i32, %[[N:.*]]: i32, %[[P:.*]]: !llvm.ptr)
func.func @from_parts(%bases: !llvm.ptr, %me: i32, %n: i32, %p: !llvm.ptr) -> (i32, i32, !llvm.ptr, !llvm.ptr) {
  // CHECK-NEXT: return %[[ME]], %[[N]], %[[P]], %[[P]]
  %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
  %rank = symm.rank %ctx
  %num_ranks = symm.num_ranks %ctx
  %0 = symm.as_remote %ctx, %p, %rank : !llvm.ptr
  %1 = symm.as_remote %ctx, %p, %me : !llvm.ptr
  return %rank, %num_ranks, %0, %1 : i32, i32, !llvm.ptr, !llvm.ptr
}

// CHECK-LABEL: func.func @from_table(
func.func @from_table(%table: !llvm.ptr) -> (i32, i32) {
  // CHECK-NEXT: %[[CTX:.*]] = symm.ctx
  // CHECK-NEXT: symm.rank %[[CTX]]
  // CHECK-NEXT: symm.num_ranks %[[CTX]]
  %ctx = symm.ctx %table : !llvm.ptr
  %rank = symm.rank %ctx
  %num_ranks = symm.num_ranks %ctx
  return %rank, %num_ranks : i32, i32
}

// -----

// The module may fix the number of ranks; a context that is made from parts says it itself.
module attributes {symm.num_ranks = 4 : i32} {
  // CHECK-LABEL: func.func @num_ranks_known(
  // CHECK-SAME: %{{.*}}: !symm.ctx, %{{.*}}: !llvm.ptr, %[[N:.*]]: i32)
  func.func @num_ranks_known(%ctx: !symm.ctx, %bases: !llvm.ptr, %n: i32) -> (i32, i32, i32) {
    // CHECK-NEXT: %[[FOUR:.*]] = arith.constant 4 : i32
    // CHECK-NEXT: %[[RANK:.*]] = symm.rank
    // CHECK-NEXT: return %[[FOUR]], %[[N]], %[[RANK]]
    %0 = symm.num_ranks %ctx
    %parts = symm.ctx %bases rank %n of %n : !llvm.ptr
    %1 = symm.num_ranks %parts
    %2 = symm.rank %ctx
    return %0, %1, %2 : i32, i32, i32
  }

  // In a module in the module too.
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel(
    gpu.func @kernel(%ctx: !symm.ctx, %out: memref<i32>) kernel {
      // CHECK-NEXT: %[[FOUR:.*]] = arith.constant 4 : i32
      // CHECK-NEXT: memref.store %[[FOUR]]
      %0 = symm.num_ranks %ctx
      memref.store %0, %out[] : memref<i32>
      gpu.return
    }
  }
}

// -----

// Without an engine all ranks are near (N1).
// CHECK-LABEL: func.func @all_near(
func.func @all_near(%ctx: !symm.ctx, %peer: i32) -> i1 {
  // CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
  // CHECK-NEXT: return %[[TRUE]]
  %near = symm.is_near %ctx, %peer
  return %near : i1
}

// -----

// With one, this rank is.
module attributes {symm.engine = "openshmem"} {
  // CHECK-LABEL: func.func @near(
  // CHECK-SAME: %[[CTX:.*]]: !symm.ctx, %[[PEER:.*]]: i32
  func.func @near(%ctx: !symm.ctx, %peer: i32) -> (i1, i1) {
    // CHECK-NEXT: %[[TRUE:.*]] = arith.constant true
    // CHECK-NEXT: %[[NEAR:.*]] = symm.is_near %[[CTX]], %[[PEER]]
    // CHECK-NEXT: return %[[TRUE]], %[[NEAR]]
    %me = symm.rank %ctx
    %mine = symm.is_near %ctx, %me
    %near = symm.is_near %ctx, %peer
    return %mine, %near : i1, i1
  }
}
