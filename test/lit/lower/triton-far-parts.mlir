// A context made of parts has a bound for the number of ranks only. With an engine its bases lie in a context table: the
// number of ranks before them says where the reaches come (N1).
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.9.0 | FileCheck %s
// RUN: symm-opt %s --allow-unregistered-dialect --symm-lower-to-triton=version=3.6.0 | FileCheck %s

module attributes {symm.engine = "nvshmem"} {
// CHECK: ^bb0(%[[BASES:.*]]: !tt.ptr<i64>, %{{.*}}: i32, %[[FLAG:.*]]: !tt.ptr<i64>, %[[R:.*]]: i32):
// CHECK: %[[BEFORE:.*]] = "tt.addptr"(%[[BASES]], %c-1_i64{{.*}})
// CHECK: %[[RANKS:.*]] = "tt.load"(%[[BEFORE]])
// CHECK: %[[FIRST:.*]] = arith.addi %[[RANKS]], %c2_i64{{.*}} : i64
// CHECK: %[[REACHES:.*]] = "tt.addptr"(%[[BASES]], %[[FIRST]])
// CHECK: "tt.addptr"(%[[REACHES]], %{{.*}})
// CHECK: arith.trunci %{{.*}} : i64 to i32
"tt.func"() <{function_type = (!tt.ptr<i64>, i32, !tt.ptr<i64>, i32) -> (), sym_name = "parts"}> ({
^bb0(%bases: !tt.ptr<i64>, %me: i32, %flag: !tt.ptr<i64>, %r: i32):
  %most = arith.constant 128 : i32
  %value = arith.constant 1 : i64
  %ctx = symm.ctx %bases rank %me of %most : !tt.ptr<i64>
  symm.signal set %ctx, %flag, %value, %r : !tt.ptr<i64>, i64
  "tt.return"() : () -> ()
}) : () -> ()
}
