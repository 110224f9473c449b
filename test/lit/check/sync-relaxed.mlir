// A relaxed signal of one thread is made release (O1), and then it releases for its block (O3): the pipelines look at
// orders first.
// RUN: symm-translate %s --to ptx 2>&1 | FileCheck %s
// RUN: symm-translate %s --to amdgcn --chip gfx942 2>&1 | FileCheck %s --check-prefix=AMD

gpu.module @kernels {
  // CHECK: remark: 'symm.signal' op O1: relaxed, but writes come before it without a release fence; made release
  // CHECK: remark: 'symm.signal' op O3: one thread signals what the other threads of its block have written before
  // CHECK: st.global.b32
  // CHECK: bar.sync
  // CHECK: st.release.sys.global.b64
  // AMD: global_store_dword v
  // AMD: s_waitcnt vmcnt(0)
  // AMD: s_barrier
  // AMD: buffer_wbl2 sc0 sc1
  // AMD: global_store_dwordx2 {{.*}} sc0 sc1
  gpu.func @relaxed(%ctx: !symm.ctx, %m: memref<?xf32>, %flag: memref<1xi64>, %one: i64, %x: f32, %peer: i32) kernel {
    %c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    symm.remote_store %ctx, %x, %m[%i], %peer : f32, memref<?xf32>
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      symm.signal set %ctx, %flag[%c0], %one, %peer sem relaxed : memref<1xi64>, i64
    }
    gpu.return
  }
}
