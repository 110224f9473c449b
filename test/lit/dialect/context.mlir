// Who am I, how many are we, where do the heaps lie: every form of dialect/td/Context.td.
// RUN: symm-opt %s --allow-unregistered-dialect | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   | symm-opt --allow-unregistered-dialect | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --emit-bytecode | symm-opt --allow-unregistered-dialect | FileCheck %s

// The table is given as a pointer of any level.
// CHECK-LABEL: func.func @from_table(
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: !llvm.ptr, %[[GLOBAL:[a-z0-9]+]]: !llvm.ptr<1>,
// CHECK-SAME: %[[WORDS:[a-z0-9]+]]: memref<?xi64>, %[[OPAQUE:[a-z0-9]+]]: !tt.ptr<i64>
func.func @from_table(%table: !llvm.ptr, %global: !llvm.ptr<1>, %words: memref<?xi64>, %opaque: !tt.ptr<i64>) {
  // CHECK-NEXT: %{{.*}} = symm.ctx %[[TABLE]] : !llvm.ptr{{$}}
  %0 = symm.ctx %table : !llvm.ptr
  // CHECK-NEXT: %{{.*}} = symm.ctx %[[GLOBAL]] : !llvm.ptr<1>{{$}}
  %1 = symm.ctx %global : !llvm.ptr<1>
  // CHECK-NEXT: %{{.*}} = symm.ctx %[[WORDS]] : memref<?xi64>{{$}}
  %2 = symm.ctx %words : memref<?xi64>
  // CHECK-NEXT: %{{.*}} = symm.ctx %[[OPAQUE]] : !tt.ptr<i64>{{$}}
  %3 = symm.ctx %opaque : !tt.ptr<i64>
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @from_parts(
// CHECK-SAME: %[[BASES:[a-z0-9]+]]: !llvm.ptr, %[[WORDS:[a-z0-9]+]]: memref<8xi64, strided<[1], offset: ?>>,
// CHECK-SAME: %[[ME:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i32
func.func @from_parts(%bases: !llvm.ptr, %words: memref<8xi64, strided<[1], offset: ?>>, %me: i32, %n: i32) {
  // CHECK-NEXT: %{{.*}} = symm.ctx %[[BASES]] rank %[[ME]] of %[[N]] : !llvm.ptr{{$}}
  %0 = symm.ctx %bases rank %me of %n : !llvm.ptr
  // CHECK-NEXT: %{{.*}} = symm.ctx %[[WORDS]] rank %[[ME]] of %[[N]] : memref<8xi64, strided<[1], offset: ?>>{{$}}
  %1 = symm.ctx %words rank %me of %n : memref<8xi64, strided<[1], offset: ?>>
  // CHECK-NEXT: return{{$}}
  return
}

// A context is a value like any other.
// CHECK-LABEL: func.func @as_value(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[OTHER:[a-z0-9]+]]: !symm.ctx, %[[CHOICE:[a-z0-9]+]]: i1
func.func @as_value(%ctx: !symm.ctx, %other: !symm.ctx, %choice: i1) -> !symm.ctx {
  // CHECK-NEXT: %[[CHOSEN:.*]] = arith.select %[[CHOICE]], %[[CTX]], %[[OTHER]] : !symm.ctx{{$}}
  %chosen = arith.select %choice, %ctx, %other : !symm.ctx
  // CHECK-NEXT: return %[[CHOSEN]] : !symm.ctx{{$}}
  return %chosen : !symm.ctx
}

// CHECK-LABEL: func.func @ranks(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx) -> (i32, i32
func.func @ranks(%ctx: !symm.ctx) -> (i32, i32) {
  // CHECK-NEXT: %[[ME:.*]] = symm.rank %[[CTX]]{{$}}
  %me = symm.rank %ctx
  // CHECK-NEXT: %[[N:.*]] = symm.num_ranks %[[CTX]]{{$}}
  %n = symm.num_ranks %ctx
  // CHECK-NEXT: return %[[ME]], %[[N]] : i32, i32{{$}}
  return %me, %n : i32, i32
}

// CHECK-LABEL: func.func @heap_base(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[PEER:[a-z0-9]+]]: i32
func.func @heap_base(%ctx: !symm.ctx, %peer: i32) {
  // CHECK-NEXT: %{{.*}} = symm.heap_base %[[CTX]], %[[PEER]] : !llvm.ptr{{$}}
  %0 = symm.heap_base %ctx, %peer : !llvm.ptr
  // CHECK-NEXT: %{{.*}} = symm.heap_base %[[CTX]], %[[PEER]] : !llvm.ptr<1>{{$}}
  %1 = symm.heap_base %ctx, %peer : !llvm.ptr<1>
  // CHECK-NEXT: %{{.*}} = symm.heap_base %[[CTX]], %[[PEER]] : !tt.ptr<f32>{{$}}
  %2 = symm.heap_base %ctx, %peer : !tt.ptr<f32>
  // CHECK-NEXT: return{{$}}
  return
}

// Attributes of other dialects stay.
// CHECK-LABEL: func.func @attributes(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[PEER:[a-z0-9]+]]: i32
func.func @attributes(%ctx: !symm.ctx, %peer: i32) {
  // CHECK-NEXT: %{{.*}} = symm.rank %[[CTX]] {note = "mine"}{{$}}
  %0 = symm.rank %ctx {note = "mine"}
  // CHECK-NEXT: %{{.*}} = symm.heap_base %[[CTX]], %[[PEER]] {note = "theirs"} : !llvm.ptr{{$}}
  %1 = symm.heap_base %ctx, %peer {note = "theirs"} : !llvm.ptr
  // CHECK-NEXT: return{{$}}
  return
}

// CHECK-LABEL: func.func @is_near(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !symm.ctx, %[[PEER:[a-z0-9]+]]: i32
func.func @is_near(%ctx: !symm.ctx, %peer: i32) -> i1 {
  // CHECK-NEXT: %[[NEAR:.*]] = symm.is_near %[[CTX]], %[[PEER]]{{$}}
  %near = symm.is_near %ctx, %peer
  // CHECK-NEXT: return %[[NEAR]] : i1{{$}}
  return %near : i1
}
