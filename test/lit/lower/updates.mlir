// Updates that are not symm's, of kinds and types that no target has (S1).
// RUN: symm-opt %s --symm-lower-to-nvvm --split-input-file --verify-diagnostics
// RUN: symm-opt %s --symm-lower-to-rocdl --split-input-file --verify-diagnostics
// RUN: symm-opt %s --symm-lower-to-cpu --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @products(%ctx: !symm.ctx, %m: memref<8xf32>, %n: memref<8xi32>, %x: f32, %y: i32, %peer: i32) kernel {
    %t = gpu.thread_id x
    %r = symm.as_remote %ctx, %m, %peer : memref<8xf32>
    // expected-error @+1 {{'memref.atomic_rmw' op S1: multiplies floats, for which no target has an atomic}}
    %a = memref.atomic_rmw mulf %x, %r[%t] : (f32, memref<8xf32>) -> f32
    // expected-error @+1 {{'memref.atomic_rmw' op S1: multiplies, for which no target has an atomic; use memref.generic_atomic_rmw}}
    %b = memref.atomic_rmw muli %y, %n[%t] : (i32, memref<8xi32>) -> i32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @types(%ctx: !symm.ctx, %m: memref<8xi128>, %n: memref<8xi1>, %k: memref<8xf8E5M2>, %x: i128, %y: i1,
                  %z: f8E5M2, %peer: i32) kernel {
    %t = gpu.thread_id x
    %r = symm.as_remote %ctx, %m, %peer : memref<8xi128>
    // expected-error @+1 {{'memref.atomic_rmw' op S1: updates i128; targets have atomics of i8, i16, i32, i64, f16, bf16, f32 and f64}}
    %a = memref.atomic_rmw addi %x, %r[%t] : (i128, memref<8xi128>) -> i128
    // expected-error @+1 {{'memref.atomic_rmw' op S1: updates i1; targets}}
    %b = memref.atomic_rmw assign %y, %n[%t] : (i1, memref<8xi1>) -> i1
    // expected-error @+1 {{'memref.atomic_rmw' op S1: updates f8E5M2; targets}}
    %c = memref.atomic_rmw addf %z, %k[%t] : (f8E5M2, memref<8xf8E5M2>) -> f8E5M2
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @generic(%ctx: !symm.ctx, %m: memref<8xf32>, %n: memref<8xi1>, %x: f32) kernel {
    %t = gpu.thread_id x
    // expected-error @+1 {{'memref.generic_atomic_rmw' op S1: updates f32; it compares and swaps, for which targets have atomics of i8, i16, i32 and i64}}
    %a = memref.generic_atomic_rmw %m[%t] : memref<8xf32> {
    ^bb0(%old: f32):
      %new = arith.mulf %old, %x : f32
      memref.atomic_yield %new : f32
    }
    // expected-error @+1 {{'memref.generic_atomic_rmw' op S1: updates i1; it compares and swaps}}
    %b = memref.generic_atomic_rmw %n[%t] : memref<8xi1> {
    ^bb0(%old: i1):
      memref.atomic_yield %old : i1
    }
    gpu.return
  }
}

// -----

// A value of 8 bits is swapped, whatever it is.
gpu.module @kernels {
  gpu.func @swapped(%m: memref<8xf8E5M2, 3>, %x: f8E5M2) kernel {
    %t = gpu.thread_id x
    %a = memref.atomic_rmw assign %x, %m[%t] : (f8E5M2, memref<8xf8E5M2, 3>) -> f8E5M2
    gpu.return
  }
}
