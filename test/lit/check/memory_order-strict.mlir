// Under strict, what would be repaired is an error, and every one is reported.
// RUN: symm-opt %s --split-input-file --symm-check-memory-order=strict=true --verify-diagnostics
// RUN: symm-opt %s --split-input-file --symm-cpu=strict=true --verify-diagnostics

func.func @strict(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32) {
  memref.store %v, %m[] : memref<i32>
  // expected-error @below {{'symm.signal' op O2: scope gpu does not reach another rank}}
  // expected-error @below {{'symm.signal' op O1: relaxed, but writes come before it without a release fence}}
  symm.signal set %ctx, %f, %v, %r sem relaxed scope gpu : memref<i32>, i32
  // expected-error @below {{'symm.atomic_rmw' op O2: scope cta does not reach another rank}}
  %0 = symm.atomic_rmw add %ctx, %f, %v, %r scope cta : memref<i32>, i32
  // expected-error @below {{'symm.wait' op O1: relaxed, but reads come after it without an acquire fence}}
  symm.wait %ctx, %f eq %v sem relaxed : memref<i32>, i32
  %1 = memref.load %m[] : memref<i32>
  return
}

// -----

func.func @right(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<i32>, %v: i32, %r: i32) {
  memref.store %v, %m[] : memref<i32>
  symm.signal set %ctx, %f, %v, %r : memref<i32>, i32
  symm.wait %ctx, %f eq %v : memref<i32>, i32
  return
}
