// A module is lowered once; the names that this gives are not for programs.
// RUN: not symm-opt %s --symm-cpu --symm-cpu 2>&1 | FileCheck %s
// RUN: not symm-opt %s --symm-lower-to-cpu --symm-lower-to-cpu 2>&1 | FileCheck %s
// CHECK: cpu-twice.mlir:[[#@LINE+2]]:1: error: {{.*}} S1: has the name '_symm_entry_main', which the lowering reserves: rename it, or lower the module only once
// CHECK-NOT: redefinition
func.func @main(%ctx: !symm.ctx) {
  return
}
