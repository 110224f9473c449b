// What the check of orders mends (O1), in the text of the GPUs' programs.
// RUN: split-file %s %t
// RUN: symm-translate %t/barrier.mlir --to ptx --chip sm_90 | FileCheck %t/barrier.mlir
// RUN: symm-translate %t/barrier.mlir --to ptx --chip sm_100 | FileCheck %t/barrier.mlir --check-prefixes=CHECK,SM100
// RUN: symm-translate %t/barrier.mlir --to amdgcn --chip gfx942 | FileCheck %t/barrier.mlir --check-prefix=AMD
// RUN: symm-translate %t/credit.mlir --to ptx --chip sm_90 | FileCheck %t/credit.mlir
// RUN: symm-translate %t/credit.mlir --to ptx --chip sm_100 | FileCheck %t/credit.mlir
// RUN: symm-translate %t/credit.mlir --to amdgcn --chip gfx942 | FileCheck %t/credit.mlir --check-prefix=AMD

//--- barrier.mlir
// A barrier acquires from its own flags alone: a relaxed wait before it acquires for itself.
gpu.module @kernels {
  // CHECK-LABEL: .entry thread(
  // CHECK: ld.acquire.sys.global.b32
  // SM100: fence.acquire.sys
  // CHECK: st.relaxed.sys.global.b64
  // CHECK: ld.acquire.sys.global.b64
  // CHECK: ld.global.b32
  // CHECK: ret;
  // AMD-LABEL: thread:
  // AMD: global_load_dword v{{.*}} sc0 sc1
  // AMD: buffer_inv sc0 sc1
  // AMD: buffer_wbl2 sc0 sc1
  // AMD: global_store_dwordx2 {{.*}} sc0 sc1
  // AMD: buffer_inv sc0 sc1
  // AMD: s_endpgm
  gpu.func @thread(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<1xi32>, %out: memref<?xf32>, %one: i32) kernel {
    %c0 = arith.constant 0 : index
    symm.wait %ctx, %f[%c0] ge %one sem relaxed : memref<1xi32>, i32
    symm.barrier %ctx
    %x = memref.load %m[%c0] : memref<?xf32>
    memref.store %x, %out[%c0] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: .entry block(
  // CHECK: ld.acquire.sys.global.b32
  // SM100: fence.acquire.sys
  // CHECK: bar.sync
  // CHECK: st.relaxed.sys.global.b64
  // CHECK: ld.acquire.sys.global.b64
  // CHECK: bar.sync
  // CHECK: ld.global.b32
  // CHECK: ret;
  // AMD-LABEL: block:
  // AMD: global_load_dword v{{.*}} sc0 sc1
  // AMD: buffer_inv sc0 sc1
  // AMD: s_barrier
  // AMD: buffer_wbl2 sc0 sc1
  // AMD: global_store_dwordx2 {{.*}} sc0 sc1
  // AMD: buffer_inv sc0 sc1
  // AMD: s_barrier
  // AMD: s_endpgm
  gpu.func @block(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<1xi32>, %out: memref<?xf32>, %one: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    symm.wait %ctx, %f[%c0] ge %one sem relaxed group block : memref<1xi32>, i32
    symm.barrier %ctx group block
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %out[%i] : memref<?xf32>
    gpu.return
  }
  // The release of a block's barrier is its first threads': a relaxed signal of each thread releases for itself.
  // CHECK-LABEL: .entry signals(
  // CHECK: st.relaxed.sys.global.b64
  // CHECK: bar.sync
  // CHECK: st.release.sys.global.b32
  // CHECK: ret;
  // AMD-LABEL: signals:
  // AMD: global_store_dwordx2 {{.*}} sc0 sc1
  // AMD: s_barrier
  // AMD: buffer_wbl2 sc0 sc1
  // AMD: s_waitcnt vmcnt(0)
  // AMD: global_store_dword {{.*}} sc0 sc1
  // AMD: s_endpgm
  gpu.func @signals(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<?xi32>, %x: f32, %one: i32, %p: i32) kernel {
    %i = gpu.thread_id x
    symm.remote_store %ctx, %m[%i], %x, %p : memref<?xf32>, f32
    symm.barrier %ctx group block
    symm.signal set %ctx, %f[%i], %one, %p sem relaxed : memref<?xi32>, i32
    gpu.return
  }
  // A fence of each thread, then a barrier of the block: the first thread's fence was before what it lets in.
  // CHECK-LABEL: .entry fence_then_barrier(
  // CHECK: st.global.b32
  // CHECK: bar.sync
  // CHECK: st.release.sys.global.b32
  // CHECK: ret;
  // AMD-LABEL: fence_then_barrier:
  // AMD: global_store_dword
  // AMD: s_barrier
  // AMD: buffer_wbl2 sc0 sc1
  // AMD: s_waitcnt vmcnt(0)
  // AMD: global_store_dword {{.*}} sc0 sc1
  // AMD: s_endpgm
  gpu.func @fence_then_barrier(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<?xi32>, %x: f32, %one: i32,
                               %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    symm.remote_store %ctx, %m[%i], %x, %p : memref<?xf32>, f32
    symm.fence sem release
    gpu.barrier
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      symm.signal set %ctx, %f[%c0], %one, %p sem relaxed : memref<?xi32>, i32
    }
    gpu.return
  }
}

//--- credit.mlir
// A relaxed signal that gives a slot back: what was read of it is here before the peer may write it again.
gpu.module @kernels {
  // CHECK-LABEL: .entry local(
  // CHECK: ld.global.b32
  // CHECK: st.release.sys.global.b32
  // CHECK: ret;
  // AMD-LABEL: local:
  // AMD: global_load_dword
  // AMD: s_waitcnt vmcnt(0)
  // AMD: global_store_dword {{.*}} sc0 sc1
  // AMD: s_endpgm
  gpu.func @local(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %one: i32,
                  %p: i32) kernel {
    %i = gpu.thread_id x
    %x = memref.load %m[%i] : memref<?xf32>
    symm.signal set %ctx, %f[%i], %one, %p sem relaxed : memref<?xi32>, i32
    memref.store %x, %out[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: .entry remote(
  // CHECK: ld.global.b32
  // CHECK: st.release.sys.global.b32
  // CHECK: ret;
  // AMD-LABEL: remote:
  // AMD: global_load_dword
  // AMD: s_waitcnt vmcnt(0)
  // AMD: global_store_dword {{.*}} sc0 sc1
  // AMD: s_endpgm
  gpu.func @remote(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %one: i32,
                   %p: i32) kernel {
    %i = gpu.thread_id x
    %x = symm.remote_load %ctx, %m[%i], %p : memref<?xf32> -> f32
    symm.signal set %ctx, %f[%i], %one, %p sem relaxed : memref<?xi32>, i32
    memref.store %x, %out[%i] : memref<?xf32>
    gpu.return
  }
  // CHECK-LABEL: .entry block(
  // CHECK: ld.global.b32
  // CHECK: bar.sync
  // CHECK: st.release.sys.global.b32
  // CHECK: ret;
  // AMD-LABEL: block:
  // AMD: global_load_dword
  // AMD: s_waitcnt vmcnt(0)
  // AMD: s_barrier
  // AMD: global_store_dword {{.*}} sc0 sc1
  // AMD: s_endpgm
  gpu.func @block(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<1xi32>, %out: memref<?xf32>, %one: i32,
                  %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %x = symm.remote_load %ctx, %m[%i], %p : memref<?xf32> -> f32
    symm.signal set %ctx, %f[%c0], %one, %p sem relaxed group block : memref<1xi32>, i32
    memref.store %x, %out[%i] : memref<?xf32>
    gpu.return
  }
  // What all threads of a wave read at one place may be a scalar load, which counts elsewhere.
  // AMD-LABEL: uniform:
  // AMD: s_load_dword [[READ:s[0-9]+]], s{{\[[0-9:]+\]}}, 0x0{{$}}
  // AMD: s_waitcnt {{.*}}lgkmcnt(0)
  // AMD: buffer_wbl2 sc0 sc1
  // AMD: s_waitcnt {{.*}}vmcnt(0)
  // AMD: global_store_dword {{.*}} sc0 sc1
  // AMD: s_endpgm
  gpu.func @uniform(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %one: i32,
                    %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %x = symm.remote_load %ctx, %m[%c0], %p : memref<?xf32> -> f32
    symm.signal set %ctx, %f[%c0], %one, %p sem relaxed : memref<?xi32>, i32
    memref.store %x, %out[%c0] : memref<?xf32>
    gpu.return
  }
  // A handwritten barrier: all waves have read before the first thread signals.
  // CHECK-LABEL: .entry own_barrier(
  // CHECK: ld.global.b32
  // CHECK: bar.sync
  // CHECK: st.release.sys.global.b32
  // CHECK: ret;
  // AMD-LABEL: own_barrier:
  // AMD: global_load_dword
  // AMD: s_waitcnt vmcnt(0)
  // AMD: s_barrier
  // AMD: global_store_dword {{.*}} sc0 sc1
  // AMD: s_endpgm
  gpu.func @own_barrier(%ctx: !symm.ctx, %m: memref<?xf32>, %f: memref<?xi32>, %out: memref<?xf32>, %one: i32,
                        %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %x = memref.load %m[%i] : memref<?xf32>
    gpu.barrier
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      symm.signal set %ctx, %f[%c0], %one, %p sem relaxed : memref<?xi32>, i32
    }
    memref.store %x, %out[%i] : memref<?xf32>
    gpu.return
  }
  // Nobody else reads or writes a thread's own memory.
  // CHECK-LABEL: .entry own(
  // CHECK: st.relaxed.sys.global.b32
  // CHECK: ret;
  // AMD-LABEL: own:
  // AMD-NOT: buffer_wbl2
  // AMD: s_endpgm
  gpu.func @own(%ctx: !symm.ctx, %f: memref<1xi32>, %out: memref<?xf32>, %one: i32, %p: i32) kernel {
    %c0 = arith.constant 0 : index
    %own = memref.alloca() : memref<4xi32>
    memref.store %one, %own[%c0] : memref<4xi32>
    %v = memref.load %own[%c0] : memref<4xi32>
    symm.signal set %ctx, %f[%c0], %v, %p sem relaxed : memref<1xi32>, i32
    gpu.return
  }
}
