// Every fence in PTX, with the scope it asks for: a fence may stay on the GPU. A group's fence is that of its first
// thread, with a barrier on the side of the others' accesses (O3).
// RUN: %golden %sequences %s --chip sm_90
// EACH sem: acquire | release | acq_rel
// EACH scope: cta | cluster | gpu | sys
// EACH group: thread | warp | block
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?xf32>, %o: memref<?xf32>) kernel {
  %i = gpu.thread_id x
  %v = memref.load %m[%i] : memref<?xf32>
  symm.fence sem {sem} scope {scope} group {group}
  memref.store %v, %o[%i] : memref<?xf32>
  gpu.return
}

// OUTPUT:
// acquire  cta  thread:
//     ld.global.b32 fence.acq_rel.cta st.global.b32
// acquire  cta  warp:
//     ld.global.b32 if[ fence.acq_rel.cta ] bar.warp.sync st.global.b32
// acquire  cta  block:
//     ld.global.b32 if[ fence.acq_rel.cta ] bar.sync st.global.b32
// acquire  cluster  thread:
//     ld.global.b32 fence.acq_rel.cluster st.global.b32
// acquire  cluster  warp:
//     ld.global.b32 if[ fence.acq_rel.cluster ] bar.warp.sync st.global.b32
// acquire  cluster  block:
//     ld.global.b32 if[ fence.acq_rel.cluster ] bar.sync st.global.b32
// acquire  gpu  thread:
//     ld.global.b32 fence.acq_rel.gpu st.global.b32
// acquire  gpu  warp:
//     ld.global.b32 if[ fence.acq_rel.gpu ] bar.warp.sync st.global.b32
// acquire  gpu  block:
//     ld.global.b32 if[ fence.acq_rel.gpu ] bar.sync st.global.b32
// acquire  sys  thread:
//     ld.global.b32 fence.acq_rel.sys st.global.b32
// acquire  sys  warp:
//     ld.global.b32 if[ fence.acq_rel.sys ] bar.warp.sync st.global.b32
// acquire  sys  block:
//     ld.global.b32 if[ fence.acq_rel.sys ] bar.sync st.global.b32
// release  cta  thread:
//     ld.global.b32 fence.acq_rel.cta st.global.b32
// release  cta  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.cta ] st.global.b32
// release  cta  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.cta ] st.global.b32
// release  cluster  thread:
//     ld.global.b32 fence.acq_rel.cluster st.global.b32
// release  cluster  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.cluster ] st.global.b32
// release  cluster  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.cluster ] st.global.b32
// release  gpu  thread:
//     ld.global.b32 fence.acq_rel.gpu st.global.b32
// release  gpu  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.gpu ] st.global.b32
// release  gpu  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.gpu ] st.global.b32
// release  sys  thread:
//     ld.global.b32 fence.acq_rel.sys st.global.b32
// release  sys  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.sys ] st.global.b32
// release  sys  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.sys ] st.global.b32
// acq_rel  cta  thread:
//     ld.global.b32 fence.acq_rel.cta st.global.b32
// acq_rel  cta  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.cta ] bar.warp.sync st.global.b32
// acq_rel  cta  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.cta ] bar.sync st.global.b32
// acq_rel  cluster  thread:
//     ld.global.b32 fence.acq_rel.cluster st.global.b32
// acq_rel  cluster  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.cluster ] bar.warp.sync st.global.b32
// acq_rel  cluster  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.cluster ] bar.sync st.global.b32
// acq_rel  gpu  thread:
//     ld.global.b32 fence.acq_rel.gpu st.global.b32
// acq_rel  gpu  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.gpu ] bar.warp.sync st.global.b32
// acq_rel  gpu  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.gpu ] bar.sync st.global.b32
// acq_rel  sys  thread:
//     ld.global.b32 fence.acq_rel.sys st.global.b32
// acq_rel  sys  warp:
//     ld.global.b32 bar.warp.sync if[ fence.acq_rel.sys ] bar.warp.sync st.global.b32
// acq_rel  sys  block:
//     ld.global.b32 bar.sync if[ fence.acq_rel.sys ] bar.sync st.global.b32
