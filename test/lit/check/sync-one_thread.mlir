// One thread or one warp releases what its block has written to the rank that it signals (O3), in every spelling: a
// remark, and an error under strict. Nothing is changed. A barrier of the block parts the cases of a kernel.
// RUN: sed 's/expected-sure/expected-remark/' %s > %t.1
// RUN: symm-opt %t.1 --symm-check-sync --split-input-file --verify-diagnostics > %t.out
// RUN: symm-opt %t.1 --split-input-file | diff - %t.out
// RUN: sed 's/expected-sure/expected-error/' %s > %t.2
// RUN: symm-opt %t.2 --symm-check-sync=strict=true --split-input-file --verify-diagnostics

// What releases.
gpu.module @kernels {
  gpu.func @releases(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      // expected-sure @+1 {{O3: one thread signals what the other threads of its block have written before, and nothing releases that; use group block}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.put_signal set %ctx, %m, %m, %flag[%c0], %one, %peer : memref<?xf32>, memref<?xf32>, memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      %old = symm.atomic_rmw xchg %ctx, %flag[%c0], %one, %peer sem release : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      %old = symm.atomic_cas %ctx, %flag[%c0], %one, %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.barrier %ctx
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %other : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      symm.fence sem release
      symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      symm.fence scope gpu
      symm.remote_store %ctx, %m[%c0], %x, %peer volatile : memref<?xf32>, f32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      %old = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer sem acquire : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      symm.fence sem release scope cta
      symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// A fence that no signal comes after.
gpu.module @kernels {
  gpu.func @fence_for_nobody(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      symm.fence sem release
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Under a mask.
gpu.module @kernels {
  gpu.func @masks(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    // expected-sure @+1 {{one thread signals}}
    %a = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer mask %first : i1 : memref<1xi32>, i32
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    // expected-sure @+1 {{one thread signals}}
    %b = symm.atomic_cas %ctx, %flag[%c0], %one, %one, %peer mask %first : i1 : memref<1xi32>, i32
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    // expected-sure @+1 {{one warp signals}}
    %c = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer mask %warp : i1 : memref<1xi32>, i32
    gpu.barrier
    %some = arith.cmpi ult, %i, %n : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %d = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer mask %some : i1 : memref<1xi32>, i32
    gpu.barrier
    // Only this thread has updated it.
    %e = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer mask %first : i1 : memref<1xi32>, i32
    %f = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer mask %first : i1 : memref<1xi32>, i32
    gpu.barrier
    gpu.return
  }
}

// -----

// How one thread is told from the others.
gpu.module @kernels {
  gpu.func @one_thread(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_1 = arith.cmpi ult, %i, %c1 : index
    scf.if %is_1 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_2 = arith.cmpi slt, %i, %c1 : index
    scf.if %is_2 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_3 = arith.cmpi sle, %i, %c0 : index
    scf.if %is_3 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_4 = arith.cmpi ugt, %c1, %i : index
    scf.if %is_4 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %size_5 = gpu.block_dim x
    %last_5 = arith.subi %size_5, %c1 : index
    %is_5 = arith.cmpi eq, %i, %last_5 : index
    scf.if %is_5 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %true_6 = arith.constant true
    %others_6 = arith.cmpi uge, %i, %c1 : index
    %is_6 = arith.xori %others_6, %true_6 : i1
    scf.if %is_6 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %y_7 = gpu.thread_id y
    %row_7 = arith.cmpi ult, %y_7, %n : index
    %is_7 = arith.andi %row_7, %first : i1
    scf.if %is_7 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %second_8 = arith.cmpi eq, %i, %c1 : index
    %is_8 = arith.ori %first, %second_8 : i1
    scf.if %is_8 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %lane_9 = gpu.lane_id
    %is_9 = arith.cmpi eq, %lane_9, %c0 : index
    scf.if %is_9 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_10 = index.cmp eq(%i, %c0)
    scf.if %is_10 {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %not = arith.cmpi ne, %i, %c0 : index
    scf.if %not {
      scf.yield
    } else {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// How one warp is told from the others: the warp signals, or its threads do.
gpu.module @kernels {
  gpu.func @one_warp(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_11 = arith.cmpi ule, %i, %c1 : index
    scf.if %is_11 {
      // expected-sure @+1 {{one warp signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %w_12 = gpu.subgroup_id : index
    %is_12 = arith.cmpi eq, %w_12, %c0 : index
    scf.if %is_12 {
      // expected-sure @+1 {{one warp signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %w_13 = arith.divui %i, %c32 : index
    %is_13 = arith.cmpi eq, %w_13, %c0 : index
    scf.if %is_13 {
      // expected-sure @+1 {{one warp signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %c5_14 = arith.constant 5 : index
    %w_14 = arith.shrui %i, %c5_14 : index
    %is_14 = arith.cmpi eq, %w_14, %c1 : index
    scf.if %is_14 {
      // expected-sure @+1 {{one warp signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %warp {
      // expected-sure @+1 {{one warp signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// What is neither, or may be all.
gpu.module @kernels {
  gpu.func @neither(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_15 = arith.cmpi ult, %i, %n : index
    scf.if %is_15 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_16 = arith.cmpi ne, %i, %c0 : index
    scf.if %is_16 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_n_17 = arith.cmpi ult, %i, %n : index
    %is_17 = arith.ori %is_n_17, %first : i1
    scf.if %is_17 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_18 = arith.cmpi ult, %i, %c256 : index
    scf.if %is_18 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %w_19 = arith.divui %i, %c256 : index
    %is_19 = arith.cmpi eq, %w_19, %c0 : index
    scf.if %is_19 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %is_20 = arith.cmpi eq, %n, %c0 : index
    scf.if %is_20 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %y_21 = memref.load %m[%i] : memref<?xf32>
    %z_21 = arith.fptosi %y_21 : f32 to i32
    %is_21 = arith.cmpi eq, %z_21, %one : i32
    scf.if %is_21 {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Of a block of a known size.
gpu.module @kernels {
  gpu.func @only_warp(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %warp {
      symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Of a block of a known size.
gpu.module @kernels {
  gpu.func @two_warps(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %warp {
      // expected-sure @+1 {{one warp signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Of a block of a known size.
gpu.module @kernels {
  gpu.func @only_thread(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// What writes.
gpu.module @kernels {
  func.func private @write(memref<?xf32>, f32)
  gpu.func @writes(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.put %ctx, %m, %m, %peer : memref<?xf32>, memref<?xf32>
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    memref.store %x, %m[%i] : memref<?xf32>
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    %v_24 = vector.broadcast %x : f32 to vector<4xf32>
    vector.transfer_write %v_24, %m[%i] : vector<4xf32>, memref<?xf32>
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    %sum_25 = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<?xf32>) -> f32
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    %sum_26 = symm.atomic_rmw fadd %ctx, %m[%i], %x, %peer sem relaxed : memref<?xf32>, f32
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    func.call @write(%m, %x) : (memref<?xf32>, f32) -> ()
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    scf.for %k_28 = %c0 to %n step %c1 {
      symm.remote_store %ctx, %m[%k_28], %x, %peer : memref<?xf32>, f32
    }
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    // In a branch of the others.
    %old_29 = scf.if %first -> i32 {
      scf.yield %one : i32
    } else {
      symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
      scf.yield %one : i32
    }
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    %own_30 = memref.alloca() : memref<4xf32>
    memref.store %x, %own_30[%c0] : memref<4xf32>
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    %y_31 = memref.load %m[%i] : memref<?xf32>
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    scf.if %first {
      symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    }
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    %me_33 = arith.cmpi ult, %i, %c1 : index
    scf.if %me_33 {
      symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    }
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    %old_34 = scf.if %first -> i32 {
      %o_34 = symm.atomic_rmw add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      scf.yield %o_34 : i32
    } else {
      scf.yield %one : i32
    }
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    // Each tells what it has written.
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    symm.signal add %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// What stands in between.
gpu.module @kernels {
  gpu.func @between(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi32>, %n: index, %x: f32,
      %peer: i32, %other: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %one = arith.constant 1 : i32
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    %warp = arith.cmpi ult, %i, %c32 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    gpu.barrier
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    symm.wait %ctx, %flag[%c0] ge %one group block : memref<1xi32>, i32
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    symm.wait %ctx, %flag[%c0] ge %one : memref<1xi32>, i32
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    // The block may be one warp.
    nvvm.bar.warp.sync %one : i32
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    %yes = arith.cmpi ult, %n, %c1 : index
    scf.if %yes {
      gpu.barrier
    }
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    nvvm.barrier id = %one number_of_threads = %one
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    symm.fence sem release
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    nvvm.bar.warp.sync %one : i32
    scf.if %warp {
      // expected-sure @+1 {{one warp signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<1xi32>, i32
    }
    gpu.barrier
    scf.for %k = %c0 to %n step %c1 {
      symm.remote_store %ctx, %m[%k], %x, %peer : memref<?xf32>, f32
      gpu.barrier
    }
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.barrier
    // In an earlier turn of the loop.
    scf.for %k = %c0 to %n step %c1 {
      scf.if %first {
        // expected-sure @+1 {{one thread signals}}
        symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
      }
      symm.remote_store %ctx, %m[%i], %x, %peer : memref<?xf32>, f32
    }
    gpu.barrier
    gpu.return
  }
}

// -----

// Kernels within the function that launches them.
func.func @main(%ctx: !symm.ctx, %n: index, %x: f32, %peer: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %m = symm.alloc %ctx : memref<1024xf32>
  %flag = symm.alloc %ctx : memref<1xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    symm.remote_store %ctx, %m[%tx], %x, %peer : memref<1024xf32>, f32
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {
      // expected-sure @+1 {{one thread signals}}
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.terminator
  }
  // One thread is all there is.
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    symm.remote_store %ctx, %m[%tx], %x, %peer : memref<1024xf32>, f32
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<1xi32>, i32
    }
    gpu.terminator
  }
  return
}
