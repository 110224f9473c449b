// Records of a timeline in a Triton kernel: where the buffer is, a record of it, and the time, which comes last.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:90 --mlir-print-op-generic \
// RUN:   | FileCheck %s --check-prefixes=CHECK,PTX
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=hip:gfx942 --mlir-print-op-generic \
// RUN:   | FileCheck %s --check-prefixes=CHECK,AMD

// CHECK-LABEL: sym_name = "once"
"tt.func"() <{function_type = (!tt.ptr<i64>, i64) -> (), sym_name = "once"}> ({
// CHECK: ^bb0(%[[TABLE:.*]]: !tt.ptr<i64>, %[[V:.*]]: i64):
^bb0(%table: !tt.ptr<i64>, %v: i64):
  // The word at the end of what is reserved, and the table's address.
  // CHECK: %[[WORD:.*]] = "arith.constant"() <{value = 262143 : i64}>
  // CHECK: "tt.addptr"(%{{.*}}, %[[WORD]])
  // CHECK: %[[BUFFER:.*]] = "tt.load"
  // CHECK: %[[WHOSE:.*]] = "tt.ptr_to_int"(%[[TABLE]])
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: "arith.cmpi"(%[[BUFFER]], %{{.*}}) <{predicate = 1 : i64}>
  // CHECK: %[[RECORD:.*]] = "scf.if"
  // CHECK: %[[START:.*]] = "tt.int_to_ptr"(%[[BUFFER]])
  // CHECK: %[[INDEX:.*]] = "tt.atomic_rmw"(%[[START]], %{{.*}}) {atomic_rmw_op = 4 : i32, scope = 1 : i32, sem = 1 : i32}
  // CHECK: %[[ROOM:.*]] = "tt.load"
  // CHECK: "arith.cmpi"(%[[INDEX]], %[[ROOM]]) <{predicate = 6 : i64}>
  // CHECK: "scf.if"
  // CHECK-COUNT-3: "tt.get_program_id"
  // CHECK: "tt.store"
  // CHECK: "tt.store"(%{{.*}}, %[[WHOSE]])
  // CHECK: "tt.store"
  // CHECK: "tt.store"(%{{.*}}, %[[V]])
  // PTX: "tt.elementwise_inline_asm"() {asm_string = "mov.u64 $0, %globaltimer;", {{.*}}pure = false
  // AMD: "tt.elementwise_inline_asm"() {asm_string = "s_memrealtime $0\0As_waitcnt lgkmcnt(0)", {{.*}}pure = false
  // CHECK-NEXT: "arith.constant"
  // CHECK-NEXT: "tt.addptr"
  // CHECK-NEXT: "tt.store"
  // CHECK-NEXT: "tt.ptr_to_int"
  %record = symm.trace_begin %ctx, "wait 0 ge"(%v) group block loc("k.py":7:3)
  // CHECK: "arith.cmpi"(%[[RECORD]], %{{.*}}) <{predicate = 1 : i64}>
  // CHECK: "scf.if"
  // PTX: %globaltimer
  // AMD: s_memrealtime
  // CHECK: "tt.store"
  symm.trace_end %record
  // The same context: its word is loaded already.
  // CHECK-NOT: value = 262143
  // CHECK: "arith.cmpi"(%[[BUFFER]],
  %more = symm.trace_begin %ctx, "barrier 0" group block loc("k.py":8:3)
  "tt.return"() : () -> ()
}) : () -> ()
// CHECK: symm.waits = "{{[0-9]+}}\09once\09k.py\097\09trace wait 0 ge\0A{{[0-9]+}}\09once\09k.py\098\09trace barrier 0\0A"
