// Where context tables lie is the runtime's to say: a program that says it runs as any other.
// RUN: symm-run %s --ranks 2 | FileCheck %s
// CHECK-DAG: rank 0 of 2
// CHECK-DAG: rank 1 of 2

module attributes {gpu.container_module, symm.heap_stride = 67108864 : i64, symm.num_ranks = 2 : i32, symm.table_in_heap} {
  func.func @main(%ctx: !symm.ctx) {
    %me = symm.rank %ctx
    %n = symm.num_ranks %ctx
    symm.print "rank {} of {}"(%me, %n) : i32, i32
    return
  }
}
