// The words of a program's barrier, at the start of each heap: program b has those from b * (ranks + 1) on, first how often it
// has met, then a flag for each rank. A program whose words would reach those after the last program's ends the kernel.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=target=cuda:90 --canonicalize --cse | FileCheck %s

// CHECK-DAG: %[[END:.*]] = arith.constant 261632 : i64
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[NEXT:.*]] = arith.constant 1 : i32
// CHECK: %[[ME:.*]] = "tt.load"(%[[TABLE:[a-z0-9]+]])
// CHECK: %[[ME_NARROW:.*]] = arith.trunci %[[ME]]
// CHECK: %[[RANKS_AT:.*]] = "tt.addptr"(%[[TABLE]], %[[ONE]])
// CHECK: %[[RANKS_WORD:.*]] = "tt.load"(%[[RANKS_AT]])
// CHECK: %[[RANKS:.*]] = arith.trunci %[[RANKS_WORD]]
// CHECK: %[[MINE_AT:.*]] = arith.addi %[[ME]], %[[TWO]]
// CHECK: %[[MINE_WORD:.*]] = "tt.addptr"(%[[TABLE]], %[[MINE_AT]])
// CHECK: %[[MINE:.*]] = "tt.load"(%[[MINE_WORD]])
// CHECK: %[[ME_WIDE:.*]] = arith.extsi %[[ME_NARROW]]
// CHECK: %[[RANKS_WIDE:.*]] = arith.extsi %[[RANKS]]
// CHECK: %[[WORDS:.*]] = arith.addi %[[RANKS_WIDE]], %[[ONE]]
// CHECK: %[[Z:.*]] = "tt.get_program_id"() {axis = 2
// CHECK: %[[Z_WIDE:.*]] = arith.extsi %[[Z]]
// CHECK: %[[HEIGHT:.*]] = "tt.get_num_programs"() {axis = 1
// CHECK: %[[HEIGHT_WIDE:.*]] = arith.extsi %[[HEIGHT]]
// CHECK: %[[ABOVE:.*]] = arith.muli %[[Z_WIDE]], %[[HEIGHT_WIDE]]
// CHECK: %[[Y:.*]] = "tt.get_program_id"() {axis = 1
// CHECK: %[[Y_WIDE:.*]] = arith.extsi %[[Y]]
// CHECK: %[[ROW:.*]] = arith.addi %[[ABOVE]], %[[Y_WIDE]]
// CHECK: %[[WIDTH:.*]] = "tt.get_num_programs"() {axis = 0
// CHECK: %[[WIDTH_WIDE:.*]] = arith.extsi %[[WIDTH]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ROW]], %[[WIDTH_WIDE]]
// CHECK: %[[X:.*]] = "tt.get_program_id"() {axis = 0
// CHECK: %[[X_WIDE:.*]] = arith.extsi %[[X]]
// CHECK: %[[PROGRAM:.*]] = arith.addi %[[BEFORE]], %[[X_WIDE]]
// CHECK: %[[AFTER:.*]] = arith.addi %[[PROGRAM]], %[[TWO]]
// CHECK: %[[LAST:.*]] = arith.muli %[[AFTER]], %[[WORDS]]
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %[[LAST]], %[[END]]
// CHECK: "tt.assert"(%[[FITS]])
// CHECK: %[[PAD:.*]] = arith.muli %[[PROGRAM]], %[[WORDS]]
// CHECK: "ttg.barrier"
// CHECK: asm_string = "fence.acq_rel.sys;
// CHECK: %[[MY_HEAP:.*]] = "tt.int_to_ptr"(%[[MINE]])
// CHECK: %[[COUNTER:.*]] = "tt.addptr"(%[[MY_HEAP]], %[[PAD]])
// CHECK: %[[MET:.*]] = "tt.atomic_rmw"(%[[COUNTER]], %[[ONE]]) {atomic_rmw_op = 4 : i32, scope = 1 : i32, sem = 1 : i32}
// CHECK: %[[EPOCH:.*]] = arith.addi %[[MET]], %[[ONE]]
// CHECK: scf.for %[[PEER:.*]] = %[[FIRST]] to %[[RANKS]] step %[[NEXT]]
// CHECK: %[[THEIRS:.*]] = "tt.load"
// CHECK: %[[MY_FLAG:.*]] = arith.addi %[[ME_WIDE]], %[[ONE]]
// CHECK: %[[THEIR_HEAP:.*]] = "tt.int_to_ptr"(%[[THEIRS]])
// CHECK: %[[SENT_WORD:.*]] = arith.addi %[[PAD]], %[[MY_FLAG]]
// CHECK: %[[SENT:.*]] = "tt.addptr"(%[[THEIR_HEAP]], %[[SENT_WORD]])
// CHECK: "tt.atomic_rmw"(%[[SENT]], %[[EPOCH]]) {atomic_rmw_op = 10 : i32, scope = 3 : i32, sem = 1 : i32}
// CHECK: scf.for %[[OTHER:.*]] = %[[FIRST]] to %[[RANKS]] step %[[NEXT]]
// CHECK: %[[OTHER_WIDE:.*]] = arith.extsi %[[OTHER]]
// CHECK: %[[ITS_FLAG:.*]] = arith.addi %[[OTHER_WIDE]], %[[ONE]]
// CHECK: %[[SAME_HEAP:.*]] = "tt.int_to_ptr"(%[[MINE]])
// CHECK: %[[ITS_WORD:.*]] = arith.addi %[[PAD]], %[[ITS_FLAG]]
// CHECK: %[[WAITED:.*]] = "tt.addptr"(%[[SAME_HEAP]], %[[ITS_WORD]])
// CHECK: %[[SEEN:.*]] = "tt.elementwise_inline_asm"(%[[WAITED]]) {asm_string = "ld.acquire.sys
// CHECK: arith.cmpi {{sge|slt}}, %[[SEEN]], %[[EPOCH]]
"tt.func"() <{function_type = (!tt.ptr<i64>) -> (), sym_name = "meets"}> ({
^bb0(%table: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  symm.barrier %ctx
  "tt.return"() : () -> ()
}) : () -> ()
