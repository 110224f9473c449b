// RUN: symm-opt %s -split-input-file -verify-diagnostics

func.func @too_few(%ctx: !symm.ctx, %a: i32) {
  // expected-error @+1 {{'symm.fault' op prints as many values as its message has {}: 2, got 1}}
  symm.fault %ctx, "{} {}"(%a) : i32
  return
}

// -----

func.func @too_many(%ctx: !symm.ctx, %a: i32) {
  // expected-error @+1 {{'symm.fault' op reports at most 6 values}}
  symm.fault %ctx, "{} {} {} {} {} {} {}"(%a, %a, %a, %a, %a, %a, %a) : i32, i32, i32, i32, i32, i32, i32
  return
}

// -----

func.func @no_context(%a: i32) {
  // expected-error @+1 {{expected SSA operand}}
  symm.fault "{}"(%a) : i32
  return
}
