// The ops of a timeline in every form, and through text and bytecode; none is removed or merged.
// RUN: symm-opt %s | symm-opt | FileCheck %s
// RUN: symm-opt %s --emit-bytecode | symm-opt | FileCheck %s
// RUN: symm-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @trace(
func.func @trace(%ctx: !symm.ctx, %a: i64, %b: i64) {
  // CHECK: %[[FIRST:.*]] = symm.trace_begin %{{.*}}, "fence release sys"
  %0 = symm.trace_begin %ctx, "fence release sys"
  // CHECK-NEXT: %[[SECOND:.*]] = symm.trace_begin %{{.*}}, "wait ge"(%{{.*}}, %{{.*}}) group block
  %1 = symm.trace_begin %ctx, "wait ge"(%a, %b) group block
  // CHECK-NEXT: symm.trace_begin %{{.*}}, "wait ge"(%{{.*}}, %{{.*}}) group block
  %2 = symm.trace_begin %ctx, "wait ge"(%a, %b) group block
  // CHECK-NEXT: symm.trace_end %[[SECOND]](%{{.*}}, %{{.*}})
  symm.trace_end %1(%a, %b)
  // CHECK-NEXT: symm.trace_end %[[FIRST]]{{$}}
  symm.trace_end %0
  return
}
