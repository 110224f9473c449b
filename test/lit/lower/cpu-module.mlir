// The pass lowers a whole module.
// RUN: not symm-opt %s --pass-pipeline='builtin.module(func.func(symm-lower-to-cpu))' 2>&1 | FileCheck %s
// CHECK: cpu-module.mlir:[[# @LINE + 1]]:1: error: 'func.func' op is lowered as a whole module
func.func @part(%ctx: !symm.ctx) {
  return
}
