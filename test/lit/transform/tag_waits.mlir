// What waits with a deadline gets a number, and the module says what each stands for; what has one keeps it.
// RUN: symm-opt %s --allow-unregistered-dialect --symm-tag-waits --mlir-print-op-generic | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --symm-tag-waits --symm-tag-waits --mlir-print-op-generic | FileCheck %s

"tt.func"() <{function_type = (!tt.ptr<i64>, !tt.ptr<i64>, i64, !tt.ptr<i64>) -> (), sym_name = "kernel"}> ({
^bb0(%table: !tt.ptr<i64>, %p: !tt.ptr<i64>, %v: i64, %d: !tt.ptr<i64>):
  %ctx = symm.ctx %table : !tt.ptr<i64>
  // CHECK: "symm.wait"
  // CHECK-SAME: comparison = 4 : i32
  // CHECK-SAME: logs
  // CHECK-SAME: tag = [[FIRST:[1-9][0-9]+]] : i64
  symm.wait %ctx, %p gt %v deadline %d : !tt.ptr<i64> : !tt.ptr<i64>, i64 loc("k.py":7:3)
  // CHECK: "symm.wait"
  // CHECK-SAME: tag = [[SECOND:[1-9][0-9]+]] : i64
  symm.wait %ctx, %p unsigned lt %v deadline %d : !tt.ptr<i64> limit 5 : !tt.ptr<i64>, i64 loc("k.py":8:3)
  // CHECK: "symm.wait"
  // CHECK-NOT: logs
  // CHECK-SAME: tag = 3 : i64
  symm.wait %ctx, %p ge %v deadline %d : !tt.ptr<i64> tag 3 : !tt.ptr<i64>, i64
  // CHECK: "symm.wait"
  // CHECK-NOT: tag
  symm.wait %ctx, %p ge %v : !tt.ptr<i64>, i64
  // CHECK: "symm.barrier"
  // CHECK-SAME: tag = [[THIRD:[1-9][0-9]+]] : i64
  symm.barrier %ctx deadline %d : !tt.ptr<i64> group block loc("k.py":9:3)
  "tt.return"() : () -> ()
}) : () -> ()
// CHECK: symm.waits = "[[FIRST]]\09kernel\09k.py\097\09wait gt\0A[[SECOND]]\09kernel\09k.py\098\09wait lt unsigned\0A[[THIRD]]\09kernel\09k.py\099\09barrier\0A"
