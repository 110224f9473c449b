// Conversions for which processors have no instruction are calls: to functions that symm brings.
// RUN: symm-run %s --arg x=1.1 | FileCheck %s
// CHECK: f16 1.099609375
// CHECK: bf16 1.1015625

func.func @main(%ctx: !symm.ctx, %x: f64 {symm.name = "x"}) {
  %h = arith.truncf %x : f64 to f16
  %wide = arith.extf %h : f16 to f64
  symm.print "f16 {}"(%wide) : f64
  %b = arith.truncf %x : f64 to bf16
  %wider = arith.extf %b : bf16 to f64
  symm.print "bf16 {}"(%wider) : f64
  return
}
