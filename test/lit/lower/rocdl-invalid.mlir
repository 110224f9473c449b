// What no AMD chip can do is refused at the op (S1); the same ops with another scope are in rocdl-signal.mlir and its
// neighbours.
// RUN: symm-opt %s --symm-lower-to-rocdl=chip=gfx942 -split-input-file -verify-diagnostics --allow-unregistered-dialect

gpu.module @kernels {
  gpu.func @scope_cluster(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %peer: i32, %m: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: AMD GPUs have no scope cluster}}
    symm.signal set %ctx, %f[%c0], %v, %peer scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: AMD GPUs have no scope cluster}}
    symm.wait %ctx, %f[%c0] ge %v scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: AMD GPUs have no scope cluster}}
    %old = symm.atomic_rmw add %ctx, %f[%c0], %v, %peer scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: AMD GPUs have no scope cluster}}
    %was = symm.atomic_cas %ctx, %f[%c0], %v, %v, %peer scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: AMD GPUs have no scope cluster}}
    symm.put_signal set %ctx, %m, %m, %f[%c0], %v, %peer scope cluster
      : memref<4xf32>, memref<4xf32>, memref<1xi64>, i64
    // expected-error @+1 {{S1: AMD GPUs have no scope cluster}}
    symm.fence scope cluster
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @host_ops(%ctx: !symm.ctx, %m: memref<4xf32>, %is: i1) kernel {
    // expected-error @+1 {{S1: is for host functions, not for kernels}}
    %a = symm.alloc %ctx : memref<4xf32>
    // expected-error @+1 {{S1: is for host functions, not for kernels}}
    symm.free %ctx, %m : memref<4xf32>
    // expected-error @+1 {{S1: is for host functions, not for kernels}}
    symm.barrier_all %ctx
    // expected-error @+1 {{S1: a GPU kernel has no output; check and print in the host function}}
    symm.check %is, "wrong"
    // expected-error @+1 {{S1: a GPU kernel has no output; check and print in the host function}}
    symm.print "here"
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @triton(%ctx: !symm.ctx, %peer: i32) kernel {
    %p = "tt.pointer"() : () -> !tt.ptr<f32>
    // expected-error @+1 {{S1: Triton pointers are lowered by Triton; use symm-lower-to-triton}}
    %v = symm.remote_load %ctx, %p, %peer : !tt.ptr<f32> -> f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  func.func private @visit(!symm.ctx)
  gpu.func @parts(%bases: !llvm.ptr, %me: i32, %n: i32) kernel {
    // expected-error @+1 {{S1: a context made from parts has no table to pass to a function or a block}}
    %ctx = symm.ctx %bases rank %me of %n : !llvm.ptr
    func.call @visit(%ctx) : (!symm.ctx) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @table(%table: memref<4xi64>, %out: memref<1xi32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: takes the table as an !llvm.ptr on this target}}
    %ctx = symm.ctx %table : memref<4xi64>
    %me = symm.rank %ctx
    memref.store %me, %out[%c0] : memref<1xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @for_triton(%ctx: !symm.ctx, %m: memref<1xi16>, %v: i16, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: compares and swaps i16 in Triton kernels only}}
    %was = symm.atomic_cas %ctx, %m[%c0], %v, %v, %peer : memref<1xi16>, i16
    // expected-error @+1 {{S1: an eviction policy is for Triton kernels only}}
    %w = symm.remote_load %ctx, %m[%c0], %peer eviction evict_last : memref<1xi16> -> i16
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @compares_floats(%ctx: !symm.ctx, %m: memref<1xf32>, %v: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: compares floats in Triton kernels only}}
    %old = symm.atomic_rmw max %ctx, %m[%c0], %v, %peer : memref<1xf32>, f32
    // expected-error @+1 {{S1: compares floats in Triton kernels only}}
    %was = symm.atomic_cas %ctx, %m[%c0], %v, %v, %peer : memref<1xf32>, f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @engine_bulk(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %peer: i32, %m: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: AMD GPUs have no bulk copy engine}}
    symm.put %ctx, %m, %m, %peer group block engine bulk : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: AMD GPUs have no bulk copy engine}}
    symm.get %ctx, %m, %m, %peer group block engine bulk : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: AMD GPUs have no bulk copy engine}}
    symm.copy %ctx, %m at %peer, %m at %peer group block engine bulk : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: AMD GPUs have no bulk copy engine}}
    symm.put_signal set %ctx, %m, %m, %f[%c0], %v, %peer group block engine bulk
      : memref<64xf32>, memref<64xf32>, memref<1xi64>, i64
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @cache_of_bulk_copies(%ctx: !symm.ctx, %m: memref<64xf32>, %f: memref<1xi64>, %v: i64, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: a cache modifier is for single accesses, remote_load and remote_store, not for bulk copies}}
    symm.get %ctx, %m, %m, %peer cache cv : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: a cache modifier is for single accesses}}
    symm.put %ctx, %m, %m, %peer cache cg : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: a cache modifier is for single accesses}}
    symm.copy %ctx, %m at %peer, %m at %peer cache ca : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: a cache modifier is for single accesses}}
    symm.put_signal set %ctx, %m, %m, %f[%c0], %v, %peer cache wt : memref<64xf32>, memref<64xf32>, memref<1xi64>, i64
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @memory_space(%ctx: !symm.ctx, %m: memref<64xf32, "shared">, %n: memref<64xf32>, %peer: i32) kernel {
    // expected-error @+1 {{S1: takes memory spaces that are numbers or of the gpu dialect, got memref<64xf32, "shared">}}
    symm.put %ctx, %m, %n, %peer : memref<64xf32, "shared">, memref<64xf32>
    gpu.return
  }
}
