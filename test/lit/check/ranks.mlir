// RUN: symm-opt %s --allow-unregistered-dialect --split-input-file --symm-check-ranks --verify-diagnostics

// A rank is never below zero, whatever the number of ranks.
func.func @below_zero(%ctx: !symm.ctx, %p: !llvm.ptr) {
  %far = arith.constant -1 : i32
  // expected-error @below {{'symm.as_remote' op T1: rank -1 out of range [0, num_ranks)}}
  %0 = symm.as_remote %ctx, %p, %far : !llvm.ptr
  return
}

// -----

// Without symm.num_ranks no rank is known to be too high.
func.func @not_known(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  %far = arith.constant 1000 : i32
  %0 = symm.as_remote %ctx, %p, %far : !llvm.ptr
  %1 = symm.as_remote %ctx, %p, %r : !llvm.ptr
  return
}

// -----

// Every op that names a rank; all of them are reported, not only the first.
module attributes {symm.num_ranks = 4 : i32} {
  func.func @out_of_range(%ctx: !symm.ctx, %p: !llvm.ptr, %f: memref<i32>, %m: memref<8xf32>, %i: index, %x: f32) {
    %far = arith.constant 4 : i32
    %llvm = llvm.mlir.constant(7 : i32) : i32
    // expected-error @below {{'symm.heap_base' op T1: rank 4 out of range [0, 4)}}
    %0 = symm.heap_base %ctx, %far : !llvm.ptr
    // expected-error @below {{'symm.heap_delta' op T1: rank 7 out of range [0, 4)}}
    %1 = symm.heap_delta %ctx, %llvm
    // expected-error @below {{'symm.as_remote' op T1: rank 4 out of range [0, 4)}}
    %2 = symm.as_remote %ctx, %p, %far : !llvm.ptr
    // expected-error @below {{'symm.remote_load' op T1: rank 4 out of range [0, 4)}}
    %3 = symm.remote_load %ctx, %m[%i], %far : memref<8xf32> -> f32
    // expected-error @below {{'symm.remote_store' op T1: rank 4 out of range [0, 4)}}
    symm.remote_store %ctx, %m[%i], %x, %far : memref<8xf32>, f32
    // expected-error @below {{'symm.get' op T1: rank 4 out of range [0, 4)}}
    symm.get %ctx, %m, %m, %far : memref<8xf32>, memref<8xf32>
    // expected-error @below {{'symm.put' op T1: rank 4 out of range [0, 4)}}
    symm.put %ctx, %m, %m, %far : memref<8xf32>, memref<8xf32>
    // expected-error @below {{'symm.atomic_rmw' op T1: rank 4 out of range [0, 4)}}
    %4 = symm.atomic_rmw add %ctx, %f, %far, %far : memref<i32>, i32
    // expected-error @below {{'symm.atomic_cas' op T1: rank 4 out of range [0, 4)}}
    %5 = symm.atomic_cas %ctx, %f, %far, %far, %far : memref<i32>, i32
    // expected-error @below {{'symm.signal' op T1: rank 4 out of range [0, 4)}}
    symm.signal set %ctx, %f, %far, %far : memref<i32>, i32
    // expected-error @below {{'symm.put_signal' op T1: rank 4 out of range [0, 4)}}
    symm.put_signal set %ctx, %m, %m, %f, %far, %far : memref<8xf32>, memref<8xf32>, memref<i32>, i32
    return
  }

  // Both ranks of a copy.
  func.func @copy(%ctx: !symm.ctx, %m: memref<8xf32>) {
    %near = arith.constant 3 : i32
    %far = arith.constant 4 : i32
    // expected-error @below {{rank 4 out of range [0, 4)}}
    symm.copy %ctx, %m at %far, %m at %near : memref<8xf32>, memref<8xf32>
    // expected-error @below {{rank 4 out of range [0, 4)}}
    symm.copy %ctx, %m at %near, %m at %far : memref<8xf32>, memref<8xf32>
    symm.copy %ctx, %m at %near, %m at %near : memref<8xf32>, memref<8xf32>
    return
  }

  // In a kernel, the attribute of the module around the gpu.module counts.
  gpu.module @kernels {
    gpu.func @kernel(%ctx: !symm.ctx, %f: memref<i32>) kernel {
      %far = arith.constant 4 : i32
      // expected-error @below {{'symm.signal' op T1: rank 4 out of range [0, 4)}}
      symm.signal set %ctx, %f, %far, %far : memref<i32>, i32
      gpu.return
    }
  }

  // A value that a wait compares with is no rank.
  func.func @no_rank(%ctx: !symm.ctx, %f: memref<i32>) {
    %c9 = arith.constant 9 : i32
    symm.wait %ctx, %f eq %c9 : memref<i32>, i32
    return
  }
}

// -----

// The closest module that fixes the number counts.
module attributes {symm.num_ranks = 2 : i32} {
  module attributes {symm.num_ranks = 8 : i32} {
    func.func @inner(%ctx: !symm.ctx, %p: !llvm.ptr) {
      %c4 = arith.constant 4 : i32
      %0 = symm.as_remote %ctx, %p, %c4 : !llvm.ptr
      return
    }
  }
}

// -----

// A count below zero; none is nothing to do.
func.func @counts(%ctx: !symm.ctx, %p: !llvm.ptr, %r: i32) {
  %none = arith.constant 0 : index
  %few = arith.constant -4 : index
  symm.put %ctx, %p, %p, %r count %none : index of f32 : !llvm.ptr, !llvm.ptr
  // expected-error @below {{'symm.get' op copies -4 elements: a count is zero or more}}
  symm.get %ctx, %p, %p, %r count %few : index of f32 : !llvm.ptr, !llvm.ptr
  return
}

// -----

// A program may ask how many ranks there are: what stands under a condition or in a loop is not blamed, except for a
// rank that there is never.
module attributes {symm.num_ranks = 1 : i32} {
  func.func @guarded(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f32, %several: i1, %n: index) {
    %one = arith.constant 1 : i32
    %never = arith.constant -1 : i32
    %from = arith.constant 0 : index
    %step = arith.constant 1 : index
    scf.if %several {
      symm.remote_store %ctx, %p, %x, %one : !llvm.ptr, f32
      // expected-error @below {{rank -1 out of range [0, num_ranks)}}
      symm.remote_store %ctx, %p, %x, %never : !llvm.ptr, f32
    }
    scf.for %i = %from to %n step %step {
      symm.remote_store %ctx, %p, %x, %one : !llvm.ptr, f32
    }
    cf.cond_br %several, ^more, ^end
  ^more:
    symm.remote_store %ctx, %p, %x, %one : !llvm.ptr, f32
    cf.br ^end
  ^end:
    return
  }

  func.func @launched(%ctx: !symm.ctx, %p: !llvm.ptr, %x: f32) {
    %one = arith.constant 1 : i32
    %size = arith.constant 1 : index
    gpu.launch blocks(%a, %b, %c) in (%d = %size, %e = %size, %f = %size)
               threads(%g, %h, %i) in (%j = %size, %k = %size, %l = %size) {
      // expected-error @below {{rank 1 out of range [0, 1): this module is for 1 of them, as symm.num_ranks says}}
      symm.remote_store %ctx, %p, %x, %one : !llvm.ptr, f32
      gpu.terminator
    }
    return
  }
}
