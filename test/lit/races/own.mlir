// Memory besides the heap: gpu.alloc's, and the host's.

// RUN: not symm-check %s --as-written | FileCheck %s
// RUN: not symm-check %s --as-written --entry other | FileCheck %s --check-prefix=OTHER
// RUN: not symm-check %s --as-written --entry host | FileCheck %s --check-prefix=HOST
// RUN: not symm-check %s --as-written --entry part | FileCheck %s --check-prefix=PART
// RUN: not symm-check %s --as-written --entry flag | FileCheck %s --check-prefix=FLAG
// RUN: not symm-check %s --as-written --entry huge | FileCheck %s --check-prefix=HUGE
// RUN: symm-check %s --schedules 5 --entry right | FileCheck %s --check-prefix=RIGHT

!three = memref<3xi32>

// CHECK: own.mlir:[[#@LINE+16]]:5: error: race (O1)
// CHECK: rank [[#]] block 0 thread 0: writes 4 bytes at 0x[[#%x,]] of rank [[#]]'s own memory
// CHECK: own.mlir:[[#@LINE+27]]:5: error: freed
// CHECK: own.mlir:[[#@LINE+29]]:3: error: freed
// CHECK-NEXT: rank [[#]] host: 12 bytes at 0x[[#%x,]] of rank [[#]]'s own memory
// CHECK: own.mlir:[[#@LINE+17]]:5: error: out-of-heap
// CHECK-NEXT: 4 bytes at 0x[[#%x,]] of rank [[#]]'s own memory
func.func @main(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %own = gpu.alloc () : !three
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c2, %ty = %c1, %tz = %c1) {
    %mine = arith.index_cast %x : index to i32
    memref.store %mine, %own[%c0] : !three
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %mine = arith.index_cast %x : index to i32
    memref.store %mine, %own[%c3] : !three
    gpu.terminator
  }
  gpu.dealloc %own : !three
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %mine = arith.index_cast %x : index to i32
    memref.store %mine, %own[%c1] : !three
    gpu.terminator
  }
  gpu.dealloc %own : !three
  return
}

// Another rank has none of it, even if it has allocated as much.
// OTHER: error: out-of-heap
// OTHER-NEXT: rank 0 block 0 thread 0: 4 bytes at 0x[[#%x,]] of rank 1's own memory
func.func @other(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %own = gpu.alloc () : !three
  symm.barrier_all %ctx
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    symm.remote_store %ctx, %own[%c0], %one, %one : !three, i32
    gpu.terminator
  }
  symm.barrier_all %ctx
  gpu.dealloc %own : !three
  return
}

// HOST: own.mlir:[[#@LINE+8]]:8: error: out-of-heap
// HOST-NEXT: rank [[#]] host: 4 bytes at 0x[[#%x,]] of rank [[#]]'s own memory
func.func @host(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %n = symm.num_ranks %ctx
  %size = arith.index_cast %n : i32 to index
  %one = arith.constant 1 : i32
  %own = memref.alloc(%size) : memref<?xi32>
  %v = memref.load %own[%size] : memref<?xi32>
  memref.store %v, %own[%c0] : memref<?xi32>
  memref.dealloc %own : memref<?xi32>
  %same = arith.cmpi ne, %v, %one : i32
  symm.check %same, "it is {}"(%v) : i32
  return
}

// PART: error: fault
// PART-NEXT: rank 0 host: frees 0x{{.*}} of rank 0's heap, where no allocation begins
func.func @part(%ctx: !symm.ctx) {
  %box = symm.alloc %ctx : !three
  gpu.dealloc %box : !three
  return
}

// FLAG: error: failed-check
// FLAG: signals a flag that is not in the symmetric heap
func.func @flag(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %own = gpu.alloc () : !three
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %me = symm.rank %ctx
    symm.signal set %ctx, %own[%c0], %one, %me : !three, i32
    gpu.terminator
  }
  return
}

// HUGE: error: failed-check
// HUGE: allocates 4000000000 bytes, which is more than is left of 512 MiB of a rank's own memory
func.func @huge(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %own = gpu.alloc () : memref<1000000000xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    memref.store %one, %own[%c0] : memref<1000000000xi32>
    gpu.terminator
  }
  return
}

// RIGHT: symm-check: nothing found
func.func @right(%ctx: !symm.ctx) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  %own = gpu.alloc () : !three
  %host = memref.alloc() {alignment = 64 : i64} : !three
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%x, %y, %z) in (%tx = %c2, %ty = %c1, %tz = %c1) {
    memref.store %one, %own[%x] : !three
    gpu.barrier
    %other = arith.subi %c1, %x : index
    %v = memref.load %own[%other] : !three
    gpu.barrier
    memref.store %v, %own[%x] : !three
    gpu.terminator
  }
  gpu.memcpy %host, %own : !three, !three
  %v = memref.load %host[%c1] : !three
  gpu.dealloc %own : !three
  memref.dealloc %host : !three
  %same = arith.cmpi eq, %v, %one : i32
  symm.check %same, "it is {}"(%v) : i32
  return
}
