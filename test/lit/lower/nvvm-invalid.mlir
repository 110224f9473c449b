// What no NVIDIA chip can do, or not the one that is asked for, is refused at the op (S1); the same ops on sm_90 are
// in nvvm-allowed.mlir.
// RUN: symm-opt %s --symm-lower-to-nvvm=chip=sm_80 -split-input-file -verify-diagnostics --allow-unregistered-dialect

gpu.module @kernels {
  gpu.func @scope_cluster(%ctx: !symm.ctx, %f: memref<1xi64>, %v: i64, %peer: i32, %m: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: scope cluster needs sm_90, the chip is sm_80}}
    symm.signal set %ctx, %f[%c0], %v, %peer scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: scope cluster needs sm_90, the chip is sm_80}}
    symm.wait %ctx, %f[%c0] ge %v scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: scope cluster needs sm_90, the chip is sm_80}}
    %old = symm.atomic_rmw add %ctx, %f[%c0], %v, %peer scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: scope cluster needs sm_90, the chip is sm_80}}
    %was = symm.atomic_cas %ctx, %f[%c0], %v, %v, %peer scope cluster : memref<1xi64>, i64
    // expected-error @+1 {{S1: scope cluster needs sm_90, the chip is sm_80}}
    symm.put_signal set %ctx, %m, %m, %f[%c0], %v, %peer scope cluster
      : memref<4xf32>, memref<4xf32>, memref<1xi64>, i64
    // expected-error @+1 {{S1: scope cluster needs sm_90, the chip is sm_80}}
    symm.fence scope cluster
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @fadd_bf16(%ctx: !symm.ctx, %m: memref<1xbf16>, %v: bf16, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: fadd of bf16 needs sm_90, the chip is sm_80}}
    %old = symm.atomic_rmw fadd %ctx, %m[%c0], %v, %peer : memref<1xbf16>, bf16
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @cache_modifiers(%ctx: !symm.ctx, %m: memref<64xf32>, %v: f32, %peer: i32, %in: vector<4xi1>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{S1: PTX has no load with .wb}}
    %a = symm.remote_load %ctx, %m[%c0], %peer cache wb : memref<64xf32> -> f32
    // expected-error @+1 {{S1: PTX has no load with .wt}}
    %b = symm.remote_load %ctx, %m[%c0], %peer cache wt : memref<64xf32> -> f32
    // expected-error @+1 {{S1: PTX has no store with .ca}}
    symm.remote_store %ctx, %m[%c0], %v, %peer cache ca : memref<64xf32>, f32
    // expected-error @+1 {{S1: PTX has no store with .cv}}
    symm.remote_store %ctx, %m[%c0], %v, %peer cache cv : memref<64xf32>, f32
    // expected-error @+1 {{S1: a cache modifier needs an access of 1, 2, 4, 8 or 16 bytes, got vector<8xf32>}}
    %c = symm.remote_load %ctx, %m[%c0], %peer cache cg : memref<64xf32> -> vector<8xf32>
    // expected-error @+1 {{S1: a cache modifier needs a mask of one i1, not one for each lane}}
    %d = symm.remote_load %ctx, %m[%c0], %peer mask %in : vector<4xi1> cache cg : memref<64xf32> -> vector<4xf32>
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
    // expected-error @+1 {{S1: engine bulk needs sm_90, the chip is sm_80}}
    symm.put %ctx, %m, %m, %peer group block engine bulk : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: engine bulk needs sm_90, the chip is sm_80}}
    symm.get %ctx, %m, %m, %peer group block engine bulk : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: engine bulk needs sm_90, the chip is sm_80}}
    symm.copy %ctx, %m at %peer, %m at %peer group block engine bulk : memref<64xf32>, memref<64xf32>
    // expected-error @+1 {{S1: engine bulk needs sm_90, the chip is sm_80}}
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

// -----

// LLVM's own updates have neither order nor scope in PTX. In the block's memory none is missed but for the order.
gpu.module @kernels {
  gpu.func @updates(%p: !llvm.ptr, %s: !llvm.ptr<3>, %v: i32) kernel {
    // expected-error @+1 {{'llvm.atomicrmw' op S1: has no order in PTX: LLVM makes atom.relaxed.gpu of it; use symm.atomic_rmw}}
    %0 = llvm.atomicrmw add %p, %v acq_rel : !llvm.ptr, i32
    // expected-error @+1 {{'llvm.atomicrmw' op S1: has no order in PTX}}
    %1 = llvm.atomicrmw add %s, %v syncscope("block") release : !llvm.ptr<3>, i32
    // expected-remark @+1 {{'llvm.atomicrmw' op O2: reaches the threads of this GPU only: LLVM makes atom.relaxed.gpu of it; symm.atomic_rmw reaches other ranks}}
    %2 = llvm.atomicrmw add %p, %v monotonic : !llvm.ptr, i32
    %3 = llvm.atomicrmw add %p, %v syncscope("device") monotonic : !llvm.ptr, i32
    %4 = llvm.atomicrmw add %s, %v monotonic : !llvm.ptr<3>, i32
    gpu.return
  }
}
