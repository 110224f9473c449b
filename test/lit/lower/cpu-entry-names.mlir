// RUN: symm-opt %s --symm-lower-to-cpu | FileCheck %s --implicit-check-not=symm.name

// The names of arguments and results are for symm-run, which has read them; LLVM would warn about each.
// CHECK: func.func @main(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64) -> i64
func.func @main(%ctx: !symm.ctx, %n: i64 {symm.name = "n"}) -> (i64 {symm.name = "m"}) {
  return %n : i64
}
