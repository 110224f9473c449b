// A Triton program is one thread to its author: a put reads what the program has stored, whichever thread did, and
// what a get stores is loaded by whichever thread does (O3). Triton has no barriers for global memory.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=cuda:90 version=3.6.0' \
// RUN:   | FileCheck %s '-D$BARRIER=gpu.barrier'
// RUN: symm-opt %s --allow-unregistered-dialect --symm-hoist-translation \
// RUN:     '--symm-lower-to-triton=target=hip:gfx942 version=3.9.0' \
// RUN:   | FileCheck %s '-D$BARRIER="ttg.barrier"() {addrSpace = 31 : i32}'

!line = tensor<128x!tt.ptr<f32>>

// CHECK-LABEL: sym_name = "put"
// CHECK:       "tt.store"
// CHECK-NOT:   {{tt.load|tt.store}}
// CHECK:       [[$BARRIER]]
// CHECK:       "tt.load"
// CHECK-NEXT:  "tt.store"
// CHECK-NOT:   barrier
// CHECK:       "tt.return"
"tt.func"() <{function_type = (!tt.ptr<i64>, !line, !line, tensor<128xf32>, i32) -> (), sym_name = "put"}> ({
^bb0(%table: !tt.ptr<i64>, %a: !line, %b: !line, %x: tensor<128xf32>, %p: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %c = arith.addf %x, %x : tensor<128xf32>
  "tt.store"(%a, %c) <{boundaryCheck = array<i32>, cache = 1 : i32, evict = 1 : i32}> : (!line, tensor<128xf32>) -> ()
  symm.put %ctx, %a, %b, %p : !line, !line
  "tt.return"() : () -> ()
}) : () -> ()

// A barrier of shared memory alone orders nothing here.
// CHECK-LABEL: sym_name = "local"
// CHECK:       "tt.store"
// CHECK-NEXT:  "ttg.barrier"() {addrSpace = 1 : i32}
// CHECK-NOT:   {{tt.load|tt.store}}
// CHECK:       [[$BARRIER]]
// CHECK:       "tt.load"
// CHECK:       "tt.return"
"tt.func"() <{function_type = (!tt.ptr<i64>, !line, !line, tensor<128xf32>, i32) -> (), sym_name = "local"}> ({
^bb0(%table: !tt.ptr<i64>, %a: !line, %b: !line, %x: tensor<128xf32>, %p: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  "tt.store"(%a, %x) <{boundaryCheck = array<i32>, cache = 1 : i32, evict = 1 : i32}> : (!line, tensor<128xf32>) -> ()
  "ttg.barrier"() {addrSpace = 1 : i32} : () -> ()
  symm.put %ctx, %a, %b, %p : !line, !line
  "tt.return"() : () -> ()
}) : () -> ()

// CHECK-LABEL: sym_name = "get"
// CHECK:       "tt.load"(%{{.*}}) {{.*}}: (tensor<128x!tt.ptr<f32>>)
// CHECK-NEXT:  "tt.store"
// CHECK-NEXT:  [[$BARRIER]]
// CHECK-NEXT:  "tt.load"
// CHECK-NOT:   barrier
// CHECK:       "tt.return"
"tt.func"() <{function_type = (!tt.ptr<i64>, !line, !line, !line, i32) -> (), sym_name = "get"}> ({
^bb0(%table: !tt.ptr<i64>, %a: !line, %b: !line, %out: !line, %p: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.get %ctx, %a, %b, %p : !line, !line
  %x = "tt.load"(%b) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!line) -> tensor<128xf32>
  "tt.store"(%out, %x) <{boundaryCheck = array<i32>, cache = 1 : i32, evict = 1 : i32}> : (!line, tensor<128xf32>) -> ()
  "tt.return"() : () -> ()
}) : () -> ()

// Puts to every rank: one barrier before the loop, and none in it. The signal after them has its own.
// CHECK-LABEL: sym_name = "everywhere"
// CHECK:       "tt.store"
// CHECK:       [[$BARRIER]]
// CHECK-NEXT:  scf.for
// CHECK-NOT:   barrier
// CHECK:       "tt.store"
// CHECK-NOT:   barrier
// CHECK:       }
// CHECK:       [[$BARRIER]]
// CHECK-NEXT:  "tt.atomic_rmw"
// CHECK-NOT:   barrier
// CHECK:       "tt.return"
"tt.func"() <{function_type = (!tt.ptr<i64>, !line, !line, tensor<128xf32>, !tt.ptr<i64>, i64, i32) -> (),
              sym_name = "everywhere"}> ({
^bb0(%table: !tt.ptr<i64>, %a: !line, %b: !line, %x: tensor<128xf32>, %f: !tt.ptr<i64>, %v: i64, %q: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = symm.num_ranks %ctx
  "tt.store"(%a, %x) <{boundaryCheck = array<i32>, cache = 1 : i32, evict = 1 : i32}> : (!line, tensor<128xf32>) -> ()
  scf.for %p = %zero to %n step %one : i32 {
    symm.put %ctx, %a, %b, %p : !line, !line
  }
  symm.signal set %ctx, %f, %v, %q : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()

// A function that others call.
// CHECK-LABEL: sym_name = "part"
// CHECK:       [[$BARRIER]]
// CHECK:       "tt.load"
// CHECK-NEXT:  "tt.store"
// CHECK-NEXT:  [[$BARRIER]]
// CHECK-NEXT:  "tt.return"
"tt.func"() <{function_type = (!tt.ptr<i64>, !line, !line, i32) -> (), sym_name = "part", sym_visibility = "private"}> ({
^bb0(%table: !tt.ptr<i64>, %a: !line, %b: !line, %p: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.put %ctx, %a, %b, %p : !line, !line
  "tt.return"() : () -> ()
}) : () -> ()

// A loop of gets alone, or of puts: what Triton makes of plain loads and stores.
// CHECK-LABEL: sym_name = "stream"
// CHECK-NOT:   barrier
// CHECK:       "tt.return"
"tt.func"() <{function_type = (!tt.ptr<i64>, !line, !line, i32, i32) -> (), sym_name = "stream",
              sym_visibility = "public"}> ({
^bb0(%table: !tt.ptr<i64>, %a: !line, %b: !line, %n: i32, %p: i32):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    symm.get %ctx, %a, %b, %p : !line, !line
  }
  "tt.return"() : () -> ()
}) : () -> ()
