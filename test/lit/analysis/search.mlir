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
