// The barrier of all ranks in PTX: what the block wrote is released, one relaxed store to each rank, a relaxed poll
// for each, one acquire; a group is before it and after it together (O3, O5).
// RUN: %golden %sequences %s --chip sm_90
// MODULE: symm.heap_stride = 1073741824 : i64
// EACH group: thread | warp | block
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?xf32>, %i: index, %v: f32) kernel {
  memref.store %v, %m[%i] : memref<?xf32>
  symm.barrier %ctx group {group}
  %w = memref.load %m[%i] : memref<?xf32>
  %x = arith.addf %v, %w : f32
  memref.store %x, %m[%i] : memref<?xf32>
  gpu.return
}

// OUTPUT:
// thread:
//     st.global.b32 ld.global.nc.b64 ld.global.nc.b64 ld.global.nc.b64 ld.global.b64 st.global.b64 if[ fence.acq_rel.sys loop[ st.relaxed.sys.global.b64 st.relaxed.sys.global.b64 ] st.relaxed.sys.global.b64 loop[ fence.acq_rel.sys ld.acquire.sys.global.b64 ld.relaxed.sys.global.b64 nanosleep.u32 ] ] ld.global.b32 st.global.b32
// warp:
//     st.global.b32 ld.global.nc.s32 ld.global.nc.b64 ld.global.nc.b64 ld.global.b64 bar.warp.sync if[ st.global.b64 fence.acq_rel.sys loop[ st.relaxed.sys.global.b64 ] loop[ fence.acq_rel.sys ld.acquire.sys.global.b64 ld.relaxed.sys.global.b64 nanosleep.u32 ] ] bar.warp.sync ld.global.b32 st.global.b32
// block:
//     st.global.b32 ld.global.nc.s32 ld.global.nc.b64 ld.global.nc.b64 ld.global.b64 bar.sync if[ st.global.b64 fence.acq_rel.sys loop[ st.relaxed.sys.global.b64 ] loop[ fence.acq_rel.sys ld.acquire.sys.global.b64 ld.relaxed.sys.global.b64 nanosleep.u32 ] ] bar.sync ld.global.b32 st.global.b32
