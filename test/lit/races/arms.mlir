// The arms of a branch that do the same with other values keep their places.

// RUN: not symm-check %s --as-written | FileCheck %s
// RUN: symm-check %s --as-written --entry launches | FileCheck %s --check-prefix=LAUNCHES
// Barriers that follow each other are one after the compiler, on a GPU too, and as they are written two.
// RUN: not symm-check %s --as-written --entry barriers | FileCheck %s --check-prefix=BARRIERS
// RUN: symm-check %s --entry barriers | FileCheck %s --check-prefix=MERGED

!word = memref<1xi32>

// CHECK: error: race (O1)
// CHECK-DAG: arms.mlir:[[#@LINE+14]]:7: note: rank 0 block 0 thread 0: writes 4 bytes
// CHECK-DAG: arms.mlir:[[#@LINE+16]]:7: note: rank 1 block 0 thread 0: writes 4 bytes
func.func @main(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = symm.alloc %ctx : !word
  %other = symm.alloc %ctx : !word
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    %first = arith.cmpi eq, %me, %zero : i32
    scf.if %first {
      symm.remote_store %ctx, %other[%c0], %me, %zero : !word, i32
      symm.remote_store %ctx, %one[%c0], %me, %zero : !word, i32
    } else {
      symm.remote_store %ctx, %other[%c0], %me, %me : !word, i32
      symm.remote_store %ctx, %one[%c0], %me, %zero : !word, i32
    }
    gpu.terminator
  }
  return
}

// LAUNCHES: nothing found
func.func @launches(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = symm.alloc %ctx : !word
  %other = symm.alloc %ctx : !word
  %me = symm.rank %ctx
  %first = arith.cmpi eq, %me, %zero : i32
  scf.if %first {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
      memref.store %me, %one[%c0] : !word
      gpu.terminator
    }
  } else {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
      memref.store %me, %other[%c0] : !word
      gpu.terminator
    }
  }
  return
}

// BARRIERS: error: barrier-divergence
// BARRIERS: arms.mlir:[[#@LINE+12]]:7: note: rank [[R:[01]]] block 0 thread 0: is at a barrier to which these do not
// BARRIERS-SAME: come: rank [[R]] block 0 thread 1
// MERGED: nothing found
func.func @barriers(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c2, %ty = %c1, %tz = %c1) {
    %first = arith.cmpi eq, %x, %c0 : index
    scf.if %first {
      gpu.barrier
      gpu.barrier
    } else {
      gpu.barrier
    }
    gpu.terminator
  }
  return
}
