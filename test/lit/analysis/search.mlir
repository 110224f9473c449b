// The way from a write to a relaxed signal: through branches, around loops, and past a fence on one way only.
// RUN: symm-opt %s --split-input-file --symm-check-memory-order --verify-diagnostics -o /dev/null

// One of two ways to the signal has no fence.
func.func @one_way(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %x: f32, %v: i32, %r: i32, %c: i1) {
  memref.store %x, %m[] : memref<f32>
  cf.cond_br %c, ^fenced, ^end
^fenced:
  symm.fence sem release
  cf.br ^end
^end:
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

// -----

// Both have one.
func.func @both_ways(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %x: f32, %v: i32, %r: i32, %c: i1) {
  memref.store %x, %m[] : memref<f32>
  cf.cond_br %c, ^left, ^right
^left:
  symm.fence sem release
  cf.br ^end
^right:
  symm.fence
  cf.br ^end
^end:
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

// -----

// What comes after the signal in a loop comes before it in the next iteration; with a fence there it does not.
func.func @around(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %x: f32, %v: i32, %r: i32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-remark @below {{made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    memref.store %x, %m[] : memref<f32>
  }
  symm.fence
  scf.for %i = %c0 to %n step %c1 {
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    memref.store %x, %m[] : memref<f32>
    symm.fence
  }
  return
}

// -----

// A fence within a branch may not be reached.
func.func @maybe(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<f32>, %x: f32, %v: i32, %r: i32, %c: i1) {
  memref.store %x, %m[] : memref<f32>
  scf.if %c {
    symm.fence
  }
  // expected-remark @below {{made release}}
  symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
  return
}

// -----

// Every loop comes round: what the condition of one that may end at any time does is before its body and after it.
func.func @loops(%ctx: !symm.ctx, %f: memref<i32>, %m: memref<4xf32>, %x: f32, %v: i32, %r: i32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.while : () -> () {
    %y = memref.load %m[%c0] : memref<4xf32>
    %more = arith.cmpf olt, %y, %zero : f32
    scf.condition(%more)
  } do {
    // expected-remark @below {{made acquire}}
    symm.wait %ctx, %f ge %v sem relaxed : memref<i32>, i32
    scf.yield
  }
  symm.fence
  scf.while : () -> () {
    // expected-remark @below {{made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    %more = arith.cmpi sgt, %v, %r : i32
    scf.condition(%more)
  } do {
    memref.store %x, %m[%c0] : memref<4xf32>
    scf.yield
  }
  symm.fence
  affine.for %i = 0 to 4 {
    // expected-remark @below {{made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    memref.store %x, %m[%i] : memref<4xf32>
  }
  symm.fence
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-remark @below {{made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    memref.store %x, %m[%i] : memref<4xf32>
  }
  symm.fence
  scf.forall (%i) in (%n) {
    // expected-remark @below {{made release}}
    symm.signal set %ctx, %f, %v, %r sem relaxed : memref<i32>, i32
    memref.store %x, %m[%i] : memref<4xf32>
  }
  return
}
