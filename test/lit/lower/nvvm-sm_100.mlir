// sm_100: as on sm_90, but that a fence of one direction has a name of its own and 16 bytes are two words of 64 bits.
// RUN: %golden %sequences %s --chip sm_100
// MODULE: symm.heap_stride = 1073741824 : i64
// EACH called; op: set i64; symm.signal set %ctx, %f[%i], %v, %peer via %delta group block : memref<?xi64>, i64
// EACH called; op: add i64; symm.signal add %ctx, %f[%i], %v, %peer via %delta group block : memref<?xi64>, i64
// EACH called; op: wait; symm.wait %ctx, %f[%i] ge %v group block : memref<?xi64>, i64
// EACH called; op: timeout; %seen = symm.wait %ctx, %f[%i] ge %v timeout %v group block : memref<?xi64>, i64 -> i1
// EACH called; op: add; %old = symm.atomic_rmw add %ctx, %f[%i], %v, %peer via %delta : memref<?xi64>, i64
// EACH called; op: fadd f32; %old = symm.atomic_rmw fadd %ctx, %m[%i], %x, %peer via %delta : memref<?xf32>, f32
// EACH called; op: fadd f16; %old = symm.atomic_rmw fadd %ctx, %h[%i], %y, %peer via %delta : memref<?xf16>, f16
// EACH called; op: xchg f16; %old = symm.atomic_rmw xchg %ctx, %h[%i], %y, %peer via %delta : memref<?xf16>, f16
// EACH called; op: cas; %old = symm.atomic_cas %ctx, %f[%i], %v, %v, %peer via %delta : memref<?xi64>, i64
// EACH called; op: fence; symm.fence
// EACH called; op: store; symm.remote_store %ctx, %m[%i], %z, %peer via %delta : memref<?xf32>, vector<4xf32>
// EACH called; op: barrier; symm.barrier %ctx group block
gpu.func @{name}(%ctx: !symm.ctx, %f: memref<?xi64>, %m: memref<?xf32>, %h: memref<?xf16>, %v: i64, %x: f32, %y: f16,
    %z: vector<4xf32>, %peer: i32, %delta: i64) kernel {
  %i = gpu.thread_id x
  {op}
  gpu.return
}

// OUTPUT:
// set i64:
//     bar.sync if[ st.release.sys.global.b64 ]
// add i64:
//     bar.sync if[ atom.release.sys.global.add.u64 ]
// wait:
//     if[ loop[ ld.acquire.sys.global.b64 ] loop[ ld.relaxed.sys.global.b64 nanosleep.u32 ] fence.acquire.sys ] bar.sync
// timeout:
//     if[ globaltimer loop[ ld.acquire.sys.global.b64 globaltimer ] loop[ ld.relaxed.sys.global.b64 globaltimer nanosleep.u32 ] fence.acquire.sys st.shared.b32 ] bar.sync ld.volatile.shared.b32 bar.sync
// add:
//     atom.acq_rel.sys.global.add.u64
// fadd f32:
//     atom.acq_rel.sys.global.add.f32
// fadd f16:
//     atom.acq_rel.sys.global.add.noftz.f16
// xchg f16:
//     ld.relaxed.sys.global.b16 loop[ atom.acq_rel.sys.global.cas.b16 ]
// cas:
//     atom.acq_rel.sys.global.cas.b64
// fence:
//     fence.acq_rel.sys
// store:
//     st.global.v2.b64
// barrier:
//     ld.global.nc.s32 ld.global.nc.b64 ld.global.nc.b64 ld.global.b64 bar.sync if[ st.global.b64 fence.release.sys loop[ st.relaxed.sys.global.b64 ] loop[ fence.acquire.sys ld.acquire.sys.global.b64 ld.relaxed.sys.global.b64 nanosleep.u32 ] ] bar.sync
