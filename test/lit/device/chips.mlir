// One of every op compiles for every chip, at every level of optimisation, and what comes out assembles.
// RUN: %assemble %s --chip sm_70 --chip sm_72 --chip sm_75 --chip sm_80 --chip sm_86 --chip sm_87 --chip sm_89
// RUN: %assemble %s --chip sm_90 --chip sm_90a --chip sm_100 --chip sm_100a --chip sm_103 --chip sm_103a
// RUN: %assemble %s --chip sm_110 --chip sm_110a --chip sm_120 --chip sm_120a --chip sm_121 --chip sm_121a
// RUN: %assemble %s --chip gfx942 --chip gfx950
// RUN: %assemble %s -O 0 --chip sm_70 --chip sm_90 --chip sm_100 --chip gfx942
// RUN: %assemble %s -O 1 --chip sm_70 --chip sm_90 --chip sm_100 --chip gfx942
// RUN: %assemble %s -O 3 --chip sm_70 --chip sm_90 --chip sm_100 --chip gfx942

gpu.module @kernels {
  gpu.func @data(%ctx: !symm.ctx, %m: memref<?xf32>, %p: !llvm.ptr, %n: index, %peer: i32, %in: i1) kernel {
    %i = gpu.thread_id x
    %remote = symm.as_remote %ctx, %m, %peer : memref<?xf32>
    %a = memref.load %remote[%i] : memref<?xf32>
    %b = symm.remote_load %ctx, %m[%i], %peer mask %in : i1 other %a : f32 : memref<?xf32> -> f32
    %c = symm.remote_load %ctx, %p, %peer volatile : !llvm.ptr -> vector<4xf32>
    symm.remote_store %ctx, %p, %c, %peer : !llvm.ptr, vector<4xf32>
    symm.remote_store %ctx, %m[%i], %b, %peer mask %in : i1 : memref<?xf32>, f32
    symm.get %ctx, %m, %m, %peer group block : memref<?xf32>, memref<?xf32>
    symm.put %ctx, %p, %p, %peer count %n : index of i8 group warp : !llvm.ptr, !llvm.ptr
    %me = symm.rank %ctx
    symm.copy %ctx, %m at %me, %m at %peer : memref<?xf32>, memref<?xf32>
    gpu.return
  }

  gpu.func @order(%ctx: !symm.ctx, %f: memref<?xi64>, %g: memref<?xi32>, %m: memref<64xf32>, %v: i64, %w: i32, %ns: i64,
                  %peer: i32) kernel {
    %i = gpu.thread_id x
    symm.signal set %ctx, %f[%i], %v, %peer : memref<?xi64>, i64
    symm.signal add %ctx, %g[%i], %w, %peer group warp : memref<?xi32>, i32
    symm.put_signal add %ctx, %m, %m, %f[%i], %v, %peer group block
      : memref<64xf32>, memref<64xf32>, memref<?xi64>, i64
    symm.wait %ctx, %g[%i] unsigned lt %w group warp : memref<?xi32>, i32
    %seen = symm.wait %ctx, %f[%i] ge %v timeout %ns group block : memref<?xi64>, i64 -> i1
    symm.fence
    symm.fence sem release scope gpu
    symm.fence sem acquire scope cta
    symm.barrier %ctx group block
    gpu.return
  }

  gpu.func @atomics(%ctx: !symm.ctx, %f: memref<?xi64>, %g: memref<?xf32>, %h: memref<?xf16>, %v: i64, %x: f32, %y: f16,
                    %peer: i32) kernel {
    %i = gpu.thread_id x
    %add = symm.atomic_rmw add %ctx, %f[%i], %v, %peer : memref<?xi64>, i64
    %sub = symm.atomic_rmw sub %ctx, %f[%i], %add, %peer : memref<?xi64>, i64
    %and = symm.atomic_rmw and %ctx, %f[%i], %sub, %peer sem relaxed : memref<?xi64>, i64
    %max = symm.atomic_rmw max %ctx, %f[%i], %and, %peer sem acquire : memref<?xi64>, i64
    %umin = symm.atomic_rmw umin %ctx, %f[%i], %max, %peer sem release : memref<?xi64>, i64
    %xchg = symm.atomic_rmw xchg %ctx, %f[%i], %umin, %peer : memref<?xi64>, i64
    %cas = symm.atomic_cas %ctx, %f[%i], %xchg, %v, %peer : memref<?xi64>, i64
    %fadd = symm.atomic_rmw fadd %ctx, %g[%i], %x, %peer : memref<?xf32>, f32
    %half = symm.atomic_rmw fadd %ctx, %h[%i], %y, %peer : memref<?xf16>, f16
    %swap = symm.atomic_rmw xchg %ctx, %h[%i], %half, %peer : memref<?xf16>, f16
    gpu.return
  }
}
