// Translations in a Triton kernel: the words of the table are loaded once, in front, and a pointer is moved by the
// distance in elements, of which Triton learns what divides it (T3, T4).
// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --symm-hoist-translation --symm-lower-to-triton \
// RUN:   | FileCheck %s --enable-var-scope

// CHECK-LABEL: sym_name = "loop"
// CHECK-NEXT: ^bb0(%[[TABLE:.*]]: !tt.ptr<i64>, %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[PEER:.*]]: i32, %[[N:.*]]: i32):
// CHECK-NEXT: %[[ME:.*]] = "tt.load"(%[[TABLE]]) {operandSegmentSizes = array<i32: 1, 0, 0>} : (!tt.ptr<i64>) -> i64
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : i64
// CHECK-NEXT: %[[WORD:.*]] = arith.addi %[[ME]], %[[C2]] : i64
// CHECK-NEXT: %[[AT:.*]] = "tt.addptr"(%[[TABLE]], %[[WORD]]) : (!tt.ptr<i64>, i64) -> !tt.ptr<i64>
// CHECK-NEXT: %[[MINE:.*]] = "tt.load"(%[[AT]])
// CHECK: %[[COUNT_AT:.*]] = "tt.addptr"(%[[TABLE]], %{{.*}})
// CHECK-NEXT: %[[COUNT:.*]] = "tt.load"(%[[COUNT_AT]])
// CHECK-NEXT: %[[RANKS:.*]] = arith.trunci %[[COUNT]] : i64 to i32
// CHECK-NEXT: %[[IN:.*]] = arith.cmpi ult, %[[PEER]], %[[RANKS]] : i32
// CHECK: %[[SAFE:.*]] = arith.select %[[IN]], %[[PEER]], %{{.*}} : i32
// CHECK-NEXT: %[[WIDE:.*]] = arith.extsi %[[SAFE]] : i32 to i64
// CHECK: %[[THEIRS:.*]] = "tt.load"(%{{.*}})
// CHECK-NEXT: %[[DISTANCE:.*]] = arith.subi %[[THEIRS]], %[[MINE]] : i64
// CHECK-NEXT: %[[UNMAPPED:.*]] = arith.constant 140737488355328 : i64
// CHECK-NEXT: %[[DELTA:.*]] = arith.select %[[IN]], %[[DISTANCE]], %[[UNMAPPED]]
// CHECK-SAME: {tt.divisibility = dense<2097152> : tensor<1xi32>} : i64
// CHECK-NEXT: %[[SHIFT:.*]] = arith.constant 2 : i64
// CHECK-NEXT: %[[ELEMENTS:.*]] = arith.shrsi %[[DELTA]], %[[SHIFT]] {tt.divisibility = dense<524288> : tensor<1xi32>}
// CHECK: scf.for
// CHECK-NEXT: %[[ALL:.*]] = "tt.splat"(%[[ELEMENTS]]) : (i64) -> tensor<8xi64>
// CHECK-NEXT: %[[REMOTE:.*]] = "tt.addptr"(%[[P]], %[[ALL]]) : (tensor<8x!tt.ptr<f32>>, tensor<8xi64>)
// CHECK-NEXT: %[[V:.*]] = "tt.load"(%[[REMOTE]]) {operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<8x!tt.ptr<f32>>)
// CHECK-NOT: symm.
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<f32>>, i32, i32) -> (), sym_name = "loop"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<f32>>, %peer: i32, %n: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %v = symm.remote_load %ctx, %p, %peer : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
    "tt.store"(%p, %v) : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> ()
  }
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// A layout stays. A distance of bytes is not shifted: Triton would fold the shift, and forget what divides the result.
// CHECK-LABEL: sym_name = "layout"
// CHECK: %[[DELTA:.*]] = arith.select {{.*}} {tt.divisibility = dense<2097152> : tensor<1xi32>} : i64
// CHECK-NEXT: %[[ALL:.*]] = "tt.splat"(%[[DELTA]]) : (i64) -> tensor<8xi64, #ttg.blocked<{sizePerThread = [1]}>>
// CHECK-NEXT: "tt.addptr"(%{{.*}}, %[[ALL]]) : (tensor<8x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1]}>>,
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1]}>>, i32) -> (),
  sym_name = "layout"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1]}>>, %peer: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %q = symm.as_remote %ctx, %p, %peer : tensor<8x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1]}>>
  "use"(%q) : (tensor<8x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1]}>>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// My own memory is where it is (T2). Each word is loaded once, whatever asks for it.
// CHECK-LABEL: sym_name = "questions"
// CHECK: ^bb0(%[[TABLE:.*]]: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<f64>, %[[R:.*]]: i32):
// CHECK-NEXT: %[[WORD:.*]] = "tt.load"(%[[TABLE]])
// CHECK-NEXT: %[[ME:.*]] = arith.trunci %[[WORD]] : i64 to i32
// CHECK: %[[COUNT:.*]] = "tt.load"(
// CHECK-NEXT: %[[RANKS:.*]] = arith.trunci %[[COUNT]] : i64 to i32
// CHECK: "tt.load"(
// CHECK-NOT: "tt.load"(
// CHECK: "use"(%[[ME]], %[[ME]], %[[RANKS]], %[[P]])
// CHECK: arith.cmpi ult, %[[R]], %[[RANKS]]
// CHECK: %[[BASE:.*]] = arith.select {{.*}} : i64
// CHECK-NEXT: %[[HEAP:.*]] = "tt.int_to_ptr"(%[[BASE]]) : (i64) -> !tt.ptr<i8>
// CHECK-NEXT: "use"(%[[HEAP]])
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f64>, i32) -> (), sym_name = "questions"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f64>, %r: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %me = symm.rank %ctx
  %me2 = symm.rank %ctx
  %n = symm.num_ranks %ctx
  %q = symm.as_remote %ctx, %p, %me : !tt.ptr<f64>
  "use"(%me, %me2, %n, %q) : (i32, i32, i32, !tt.ptr<f64>) -> ()
  %base = symm.heap_base %ctx, %r : !tt.ptr<i8>
  "use"(%base) : (!tt.ptr<i8>) -> ()
  %d = symm.heap_delta %ctx, %r
  "use"(%d) : (i64) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// With a strided heap no base is loaded (T5). Triton is not told of it. A rank that is out of range leads to no memory.
// CHECK: module {
module attributes {symm.heap_stride = 4194304 : i64, symm.num_ranks = 4 : i32} {
  // CHECK-LABEL: sym_name = "strided"
  // CHECK: %[[ME:.*]] = "tt.load"(%{{.*}})
  // CHECK-NOT: "tt.load"
  // CHECK: arith.subi %{{.*}}, %[[ME]] : i64
  // CHECK: arith.constant 4194304 : i64
  // CHECK: %[[DISTANCE:.*]] = arith.muli
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[UNMAPPED:.*]] = arith.constant 140737488355328 : i64
  // CHECK: arith.select %[[IN]], %[[DISTANCE]], %[[UNMAPPED]] {tt.divisibility = dense<2097152> : tensor<1xi32>} : i64
  // CHECK: "tt.load"
  "tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, i32) -> (), sym_name = "strided"}> ({
  ^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f16>, %r: i32):
    %ctx = symm.ctx %table : !tt.ptr<i64>
    %v = symm.remote_load %ctx, %p, %r : !tt.ptr<f16> -> f16
    "use"(%v) : (f16) -> ()
    "tt.return"() : () -> ()
  }) : () -> ()
}

// -----

// Nor the rank, where the table lies in its rank's heap: of four heaps of 4 MiB, at a multiple of 16 MiB.
// CHECK: module {
module attributes {symm.heap_stride = 4194304 : i64, symm.num_ranks = 4 : i32, symm.table_in_heap} {
  // CHECK-LABEL: sym_name = "table_in_heap"
  // CHECK-NEXT: ^bb0(%[[TABLE:.*]]: !tt.ptr<i64>, %[[P:.*]]: !tt.ptr<f16>, %[[R:.*]]: i32):
  // CHECK-NEXT: %[[ADDRESS:.*]] = "tt.ptr_to_int"(%[[TABLE]]) : (!tt.ptr<i64>) -> i64
  // CHECK-NEXT: %[[MASK:.*]] = arith.constant 16777215 : i64
  // CHECK-NEXT: %[[OFFSET:.*]] = arith.andi %[[ADDRESS]], %[[MASK]] : i64
  // CHECK-NEXT: %[[STRIDE:.*]] = arith.constant 4194304 : i64
  // CHECK-NEXT: %[[ME:.*]] = arith.divui %[[OFFSET]], %[[STRIDE]] : i64
  // CHECK-NOT: "tt.load"
  // CHECK: arith.subi %{{.*}}, %[[ME]] : i64
  // CHECK-NOT: "tt.load"
  // CHECK: %[[REMOTE:.*]] = "tt.addptr"(%[[P]]
  // CHECK-NEXT: "tt.load"(%[[REMOTE]])
  "tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<f16>, i32) -> (), sym_name = "table_in_heap"}> ({
  ^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<f16>, %r: i32):
    %ctx = symm.ctx %table : !tt.ptr<i64>
    %v = symm.remote_load %ctx, %p, %r : !tt.ptr<f16> -> f16
    "use"(%v) : (f16) -> ()
    "tt.return"() : () -> ()
  }) : () -> ()
}

// -----

// A context made of parts: its table holds nothing but the bases.
// CHECK-LABEL: sym_name = "parts"
// CHECK: ^bb0(%[[BASES:.*]]: !tt.ptr<i64>, %[[ME:.*]]: i32, %[[N:.*]]: i32, %[[P:.*]]: !tt.ptr<f32>):
// CHECK: %[[WIDE:.*]] = arith.extsi %[[ME]] : i32 to i64
// CHECK-NEXT: %[[AT:.*]] = "tt.addptr"(%[[BASES]], %[[WIDE]])
// CHECK-NEXT: "tt.load"(%[[AT]])
// CHECK: "tt.load"(%[[BASES_AT:.*]])
"tt.func"() <{function_type = (!tt.ptr<i64>, i32, i32, !tt.ptr<f32>) -> (), sym_name = "parts"}> ({
^bb0(%bases: !tt.ptr<i64>, %me: i32, %n: i32, %p: !tt.ptr<f32>):
  %ctx = symm.ctx %bases rank %me of %n : !tt.ptr<i64>
  %c1 = arith.constant 1 : i32
  %q = symm.as_remote %ctx, %p, %c1 : !tt.ptr<f32>
  "use"(%q) : (!tt.ptr<f32>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// Pointers that all start from one are made from that one, moved: the distance is added once (T2). Those whose start is
// not to be seen are moved each.
// CHECK-LABEL: sym_name = "start"
// CHECK: ^bb0(%{{[^,]*}}: !tt.ptr<i64>, %[[P:[^,]*]]: !tt.ptr<i8>, %[[AT:[^,]*]]: tensor<8xi32>,
// CHECK: %[[DELTA:.*]] = arith.select {{.*}} {tt.divisibility = dense<2097152> : tensor<1xi32>} : i64
// CHECK: %[[THEIRS:.*]] = "tt.addptr"(%[[P]], %[[DELTA]]) : (!tt.ptr<i8>, i64) -> !tt.ptr<i8>
// CHECK-NEXT: %[[ALL:.*]] = "tt.splat"(%[[THEIRS]]) : (!tt.ptr<i8>) -> tensor<8x!tt.ptr<i8>>
// CHECK-NEXT: %[[Q:.*]] = "tt.addptr"(%[[ALL]], %[[AT]]) {tt.contiguity = 8 : i32}
// CHECK-NEXT: "use"(%[[Q]])
"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i8>, tensor<8xi32>, i32) -> (), sym_name = "start"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i8>, %at: tensor<8xi32>, %peer: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %all = "tt.splat"(%p) : (!tt.ptr<i8>) -> tensor<8x!tt.ptr<i8>>
  %mine = "tt.addptr"(%all, %at) {tt.contiguity = 8 : i32}
    : (tensor<8x!tt.ptr<i8>>, tensor<8xi32>) -> tensor<8x!tt.ptr<i8>>
  %q = symm.as_remote %ctx, %mine, %peer : tensor<8x!tt.ptr<i8>>
  "use"(%q) : (tensor<8x!tt.ptr<i8>>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// A rank for each pointer: what is out of range reads the first base, and leads to no memory.
// CHECK-LABEL: sym_name = "each"
// CHECK: ^bb0(%[[TABLE:[^,]*]]: !tt.ptr<i64>, %[[P:[^,]*]]: tensor<8x!tt.ptr<f32>>, %[[EACH:[^,]*]]: tensor<8xi32>):
// CHECK: %[[MINE:.*]] = "tt.load"(%{{.*}}) {{.*}} : (!tt.ptr<i64>) -> i64
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[EACH]], %{{.*}} : tensor<8xi32>
// CHECK: %[[SAFE:.*]] = arith.select %[[IN]], %[[EACH]], %{{.*}} : tensor<8xi1>, tensor<8xi32>
// CHECK-NEXT: %[[INDEX:.*]] = arith.extsi %[[SAFE]] : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[BASES:.*]] = "tt.splat"(%{{.*}}) : (!tt.ptr<i64>) -> tensor<8x!tt.ptr<i64>>
// CHECK-NEXT: %[[WORDS:.*]] = "tt.addptr"(%[[BASES]], %[[INDEX]])
// CHECK-NEXT: %[[THEIRS:.*]] = "tt.load"(%[[WORDS]]) {{.*}} : (tensor<8x!tt.ptr<i64>>) -> tensor<8xi64>
// CHECK-NEXT: %[[DISTANCE:.*]] = arith.subi %[[THEIRS]], %{{.*}} : tensor<8xi64>
// CHECK-NEXT: %[[UNMAPPED:.*]] = arith.constant dense<140737488355328> : tensor<8xi64>
// CHECK-NEXT: %[[DELTA:.*]] = arith.select %[[IN]], %[[DISTANCE]], %[[UNMAPPED]]
// CHECK-SAME: {tt.divisibility = dense<2097152> : tensor<1xi32>} : tensor<8xi1>, tensor<8xi64>
// CHECK: %[[ELEMENTS:.*]] = arith.shrsi %[[DELTA]], %{{.*}} {tt.divisibility = dense<524288> : tensor<1xi32>}
// CHECK-NEXT: %[[REMOTE:.*]] = "tt.addptr"(%[[P]], %[[ELEMENTS]])
// CHECK-NEXT: %[[V:.*]] = "tt.load"(%[[REMOTE]]) {operandSegmentSizes = array<i32: 1, 0, 0>}
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> (), sym_name = "each"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<f32>>, %each: tensor<8xi32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %v = symm.remote_load %ctx, %p, %each each tensor<8xi32> : tensor<8x!tt.ptr<f32>> -> tensor<8xf32>
  "tt.store"(%p, %v) : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// One for each row is looked up once for each row. One for all is no tensor at all.
// CHECK-LABEL: sym_name = "rows"
// CHECK: arith.select {{.*}} {tt.divisibility = dense<2097152> : tensor<1xi32>} : tensor<4xi1>, tensor<4xi64>
// CHECK-NEXT: %[[COLUMN:.*]] = "tt.expand_dims"(%{{.*}}) {axis = 1 : i32} : (tensor<4xi64>) -> tensor<4x1xi64>
// CHECK-NEXT: %[[ALL:.*]] = "tt.broadcast"(%[[COLUMN]]) : (tensor<4x1xi64>) -> tensor<4x16xi64>
// CHECK-NEXT: "tt.addptr"(%{{.*}}, %[[ALL]]) : (tensor<4x16x!tt.ptr<i8>>, tensor<4x16xi64>)
// CHECK: arith.select {{.*}} {tt.divisibility = dense<2097152> : tensor<1xi32>} : i64
// CHECK-NEXT: %[[ALL:.*]] = "tt.splat"(%{{.*}}) : (i64) -> tensor<4x16xi64>
// CHECK-NEXT: "tt.addptr"(%{{.*}}, %[[ALL]]) : (tensor<4x16x!tt.ptr<i8>>, tensor<4x16xi64>)
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<4x16x!tt.ptr<i8>>, tensor<4xi32>, i32) -> (),
  sym_name = "rows"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<4x16x!tt.ptr<i8>>, %peers: tensor<4xi32>, %peer: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %column = "tt.expand_dims"(%peers) {axis = 1 : i32} : (tensor<4xi32>) -> tensor<4x1xi32>
  %each = "tt.broadcast"(%column) : (tensor<4x1xi32>) -> tensor<4x16xi32>
  %q = symm.as_remote %ctx, %p, %each each tensor<4x16xi32> : tensor<4x16x!tt.ptr<i8>>
  %same = "tt.splat"(%peer) : (i32) -> tensor<4x16xi32>
  %s = symm.as_remote %ctx, %p, %same each tensor<4x16xi32> : tensor<4x16x!tt.ptr<i8>>
  "use"(%q, %s) : (tensor<4x16x!tt.ptr<i8>>, tensor<4x16x!tt.ptr<i8>>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// Ranks made of what is no tensor of them, by an op that nothing has verified, are looked up one by one.
// CHECK-LABEL: sym_name = "unverified"
// CHECK: %[[EACH:.*]] = "tt.broadcast"
// CHECK: arith.cmpi ult, %[[EACH]], %{{.*}} : tensor<4x16xi32>
"tt.func"() <{function_type = (!tt.ptr<i64>, tensor<4x16x!tt.ptr<i8>>, memref<3x5xi32>) -> (),
  sym_name = "unverified"}> ({
^bb0(%table: !tt.ptr<i64>, %p: tensor<4x16x!tt.ptr<i8>>, %peers: memref<3x5xi32>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %each = "tt.broadcast"(%peers) : (memref<3x5xi32>) -> tensor<4x16xi32>
  %q = symm.as_remote %ctx, %p, %each each tensor<4x16xi32> : tensor<4x16x!tt.ptr<i8>>
  "use"(%q) : (tensor<4x16x!tt.ptr<i8>>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// -----

// With a strided heap no base is loaded (T5).
// CHECK: module {
module attributes {symm.heap_stride = 4194304 : i64, symm.num_ranks = 4 : i32} {
  // CHECK-LABEL: sym_name = "each_strided"
  // CHECK: "tt.load"(%{{.*}}) {{.*}} : (!tt.ptr<i64>) -> i64
  // CHECK-NOT: "tt.load"
  // CHECK: arith.muli %{{.*}}, %{{.*}} : tensor<8xi64>
  // CHECK: arith.select {{.*}} : tensor<8xi1>, tensor<8xi64>
  // CHECK-NOT: "tt.load"
  // CHECK: "tt.atomic_rmw"
  "tt.func"() <{function_type = (!tt.ptr<i64>, tensor<8x!tt.ptr<i32>>, tensor<8xi32>) -> (),
    sym_name = "each_strided"}> ({
  ^bb0(%table: !tt.ptr<i64>, %p: tensor<8x!tt.ptr<i32>>, %each: tensor<8xi32>):
    %ctx = symm.ctx %table : !tt.ptr<i64>
    %v = symm.atomic_rmw add %ctx, %p, %each, %each each tensor<8xi32> : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    "use"(%v) : (tensor<8xi32>) -> ()
    "tt.return"() : () -> ()
  }) : () -> ()
}
