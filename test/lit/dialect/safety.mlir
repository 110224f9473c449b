// symm.fault in every form, and through text and bytecode.
// RUN: symm-opt %s | symm-opt | FileCheck %s
// RUN: symm-opt %s --emit-bytecode | symm-opt | FileCheck %s
// RUN: symm-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: @fault
// KEPT-LABEL: @fault
func.func @fault(%ctx: !symm.ctx, %rank: i32, %n: i32, %x: f32, %p: !llvm.ptr) {
  // CHECK: symm.fault %{{.*}}, "out of luck"
  // KEPT: symm.fault
  symm.fault %ctx, "out of luck"
  // CHECK: symm.fault %{{.*}}, "rank {} out of range [0, {}), {} {}"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : i32, i32, f32, !llvm.ptr
  // KEPT: symm.fault
  symm.fault %ctx, "rank {} out of range [0, {}), {} {}"(%rank, %n, %x, %p) : i32, i32, f32, !llvm.ptr
  return
}
