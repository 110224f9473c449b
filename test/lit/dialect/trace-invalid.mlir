// RUN: symm-opt %s -split-input-file -verify-diagnostics

func.func @too_many_at_the_begin(%ctx: !symm.ctx, %a: i64) {
  // expected-error @+1 {{'symm.trace_begin' op records at most 3 values when something begins}}
  %0 = symm.trace_begin %ctx, "put"(%a, %a, %a, %a)
  return
}

// -----

func.func @too_many_at_the_end(%a: i64) {
  // expected-error @+1 {{'symm.trace_end' op records at most 2 values when something ends}}
  symm.trace_end %a(%a, %a, %a)
  return
}

// -----

func.func @value_of_another_type(%ctx: !symm.ctx, %a: i32) {
  // expected-note @-1 {{prior use here}}
  // expected-error @+1 {{use of value '%a' expects different type than prior uses: 'i64' vs 'i32'}}
  %0 = symm.trace_begin %ctx, "put"(%a)
  return
}
