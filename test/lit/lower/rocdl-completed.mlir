// What the threads of a block write before a barrier is complete when one of them, or one warp, releases it later:
// every wave waits for its own stores before the barrier, which by itself makes none wait.
// RUN: split-file %s %t
// RUN: symm-translate %t/releases.mlir --to amdgcn --chip gfx942 | FileCheck %t/releases.mlir
// RUN: symm-translate %t/releases.mlir --to amdgcn --chip gfx950 | FileCheck %t/releases.mlir
// RUN: symm-translate %t/releases.mlir --to amdgcn --chip gfx90a --pipeline 'symm-rocdl{chip=gfx90a fine-grained-heap=true}' \
// RUN:   | FileCheck %t/releases.mlir
// RUN: symm-translate %t/call.mlir --to amdgcn --chip gfx942 | FileCheck %t/call.mlir
// RUN: symm-translate %t/none.mlir --to amdgcn --chip gfx942 | FileCheck %t/none.mlir

//--- releases.mlir
gpu.module @kernels {
  // CHECK-LABEL: {{^}}by_signal:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  // CHECK: s_endpgm
  gpu.func @by_signal(%ctx: !symm.ctx, %m: memref<1024xf32>, %n: memref<1xi64>, %flag: memref<8xi64>, %x: f32, %peer: i32)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    gpu.barrier
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<8xi64>, i64
    }
    gpu.return
  }
  // The target's own barriers.
  // CHECK-LABEL: {{^}}by_rocdl_barrier:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: s_endpgm
  gpu.func @by_rocdl_barrier(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<8xi64>, %x: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    rocdl.barrier
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<8xi64>, i64
    }
    gpu.return
  }
  // CHECK-LABEL: {{^}}by_s_barrier:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: s_endpgm
  gpu.func @by_s_barrier(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<8xi64>, %x: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    rocdl.s.barrier
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<8xi64>, i64
    }
    gpu.return
  }
  // A wait of the program's own for something else.
  // CHECK-LABEL: {{^}}after_another_wait:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK: s_barrier
  // CHECK: s_endpgm
  gpu.func @after_another_wait(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<8xi64>, %x: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    rocdl.s.waitcnt 49279
    gpu.barrier
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<8xi64>, i64
    }
    gpu.return
  }
  // CHECK-LABEL: {{^}}by_signal_of_warp:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  // CHECK: s_endpgm
  gpu.func @by_signal_of_warp(%ctx: !symm.ctx, %m: memref<1024xf32>, %n: memref<1xi64>, %flag: memref<8xi64>, %x: f32, %peer: i32)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    gpu.barrier
    symm.signal set %ctx, %flag[%c0], %one, %peer group warp : memref<8xi64>, i64
    gpu.return
  }
  // CHECK-LABEL: {{^}}by_put_signal:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  // CHECK: s_endpgm
  gpu.func @by_put_signal(%ctx: !symm.ctx, %m: memref<1024xf32>, %n: memref<1xi64>, %flag: memref<8xi64>, %x: f32, %peer: i32)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    gpu.barrier
    scf.if %first {
      symm.put_signal set %ctx, %n, %n, %flag[%c0], %one, %peer : memref<1xi64>, memref<1xi64>, memref<8xi64>, i64
    }
    gpu.return
  }
  // CHECK-LABEL: {{^}}by_atomic_rmw:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  // CHECK: s_endpgm
  gpu.func @by_atomic_rmw(%ctx: !symm.ctx, %m: memref<1024xf32>, %n: memref<1xi64>, %flag: memref<8xi64>, %x: f32, %peer: i32)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    gpu.barrier
    scf.if %first {
      %old = symm.atomic_rmw xchg %ctx, %flag[%c0], %one, %peer sem release : memref<8xi64>, i64
    }
    gpu.return
  }
  // CHECK-LABEL: {{^}}by_atomic_cas:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  // CHECK: s_endpgm
  gpu.func @by_atomic_cas(%ctx: !symm.ctx, %m: memref<1024xf32>, %n: memref<1xi64>, %flag: memref<8xi64>, %x: f32, %peer: i32)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    gpu.barrier
    scf.if %first {
      %old = symm.atomic_cas %ctx, %flag[%c0], %one, %two, %peer sem release : memref<8xi64>, i64
    }
    gpu.return
  }
  // CHECK-LABEL: {{^}}by_fence:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  // CHECK: s_endpgm
  gpu.func @by_fence(%ctx: !symm.ctx, %m: memref<1024xf32>, %n: memref<1xi64>, %flag: memref<8xi64>, %x: f32, %peer: i32)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    gpu.barrier
    scf.if %first {
      symm.fence sem release
      symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed : memref<8xi64>, i64
    }
    gpu.return
  }
  // CHECK-LABEL: {{^}}by_barrier:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  // CHECK: s_endpgm
  gpu.func @by_barrier(%ctx: !symm.ctx, %m: memref<1024xf32>, %n: memref<1xi64>, %flag: memref<8xi64>, %x: f32, %peer: i32)
      kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    gpu.barrier
    scf.if %first {
      symm.barrier %ctx
    }
    gpu.return
  }
  // What a group waits with is such a barrier, too.
  // CHECK-LABEL: {{^}}after_wait:
  // CHECK: global_store_dword v
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  // CHECK: buffer_wbl2{{( sc0 sc1)?$}}
  gpu.func @after_wait(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<8xi64>, %x: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      symm.wait %ctx, %flag[%c0] ge %one : memref<8xi64>, i64
    }
    symm.remote_store %ctx, %m[%i], %x, %peer : memref<1024xf32>, f32
    symm.wait %ctx, %flag[%c0] ge %one sem relaxed group block : memref<8xi64>, i64
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer : memref<8xi64>, i64
    }
    gpu.return
  }
}

// The release is in a function that the kernel calls.
//--- call.mlir
gpu.module @kernels {
  // CHECK-LABEL: {{^}}kernel:
  // CHECK: global_store_dword v
  // CHECK-NOT: s_barrier
  // CHECK: s_waitcnt vmcnt(0)
  // CHECK-NOT: global_store
  // CHECK: s_barrier
  func.func private @signal(%ctx: !symm.ctx, %flag: memref<8xi64>, %peer: i32) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    symm.signal set %ctx, %flag[%c0], %one, %peer : memref<8xi64>, i64
    return
  }
  gpu.func @kernel(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<8xi64>, %x: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %first = arith.cmpi eq, %i, %c0 : index
    memref.store %x, %m[%i] : memref<1024xf32>
    gpu.barrier
    scf.if %first {
      func.call @signal(%ctx, %flag, %peer) : (!symm.ctx, memref<8xi64>, i32) -> ()
    }
    gpu.return
  }
}

// Nobody releases, or the block does: no thread waits for more than it must.
//--- none.mlir
gpu.module @kernels {
  // CHECK-LABEL: {{^}}none:
  // CHECK: global_store_dword v
  // CHECK-NOT: vmcnt
  // CHECK: s_barrier
  gpu.func @none(%m: memref<1024xf32>, %x: f32, %out: memref<1024xf32>) kernel {
    %i = gpu.thread_id x
    memref.store %x, %m[%i] : memref<1024xf32>
    gpu.barrier
    memref.store %x, %out[%i] : memref<1024xf32>
    gpu.return
  }
  // CHECK-LABEL: {{^}}of_block:
  // CHECK: global_store_dword v
  // CHECK-NOT: vmcnt
  // CHECK: s_barrier
  // CHECK: buffer_wbl2 sc1
  gpu.func @of_block(%ctx: !symm.ctx, %m: memref<1024xf32>, %flag: memref<8xi64>, %x: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %i = gpu.thread_id x
    memref.store %x, %m[%i] : memref<1024xf32>
    gpu.barrier
    memref.store %x, %m[%i] : memref<1024xf32>
    symm.signal set %ctx, %flag[%c0], %one, %peer group block : memref<8xi64>, i64
    gpu.return
  }
}
