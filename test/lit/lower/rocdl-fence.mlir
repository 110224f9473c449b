// Every fence on gfx942, with the scope it asks for: a fence may stay on the GPU. A group's fence is that of its first
// thread, with a barrier on the side of the others' accesses (O3).
// RUN: %golden %sequences %s --chip gfx942
// EACH sem: acquire | release | acq_rel
// EACH scope: cta | gpu | sys
// EACH group: thread | warp | block
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?xf32>, %o: memref<?xf32>) kernel {
  %i = gpu.thread_id x
  %v = memref.load %m[%i] : memref<?xf32>
  symm.fence sem {sem} scope {scope} group {group}
  memref.store %v, %o[%i] : memref<?xf32>
  gpu.return
}

// OUTPUT:
// acquire  cta  thread|warp:
//     global_load_dword vmcnt(0) global_store_dword
// acquire  cta  block:
//     global_load_dword s_barrier vmcnt(0) global_store_dword
// acquire  gpu  thread:
//     global_load_dword vmcnt(0) buffer_inv sc1 global_store_dword
// acquire  gpu  warp:
//     global_load_dword if[ vmcnt(0) buffer_inv sc1 ] vmcnt(0) global_store_dword
// acquire  gpu  block:
//     global_load_dword if[ vmcnt(0) buffer_inv sc1 ] s_barrier vmcnt(0) global_store_dword
// acquire  sys  thread:
//     global_load_dword vmcnt(0) buffer_inv sc0 sc1 global_store_dword
// acquire  sys  warp:
//     global_load_dword if[ vmcnt(0) buffer_inv sc0 sc1 ] vmcnt(0) global_store_dword
// acquire  sys  block:
//     global_load_dword if[ vmcnt(0) buffer_inv sc0 sc1 ] s_barrier vmcnt(0) global_store_dword
// release  cta  thread:
//     global_load_dword vmcnt(0) global_store_dword
// release  cta  warp:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) if[ vmcnt(0) ] global_store_dword
// release  cta  block:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) s_barrier if[ vmcnt(0) ] global_store_dword
// release  gpu  thread:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) global_store_dword
// release  gpu  warp:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc1 vmcnt(0) ] global_store_dword
// release  gpu  block:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc1 vmcnt(0) ] global_store_dword
// release  sys  thread:
//     global_load_dword buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dword
// release  sys  warp:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) ] global_store_dword
// release  sys  block:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) ] global_store_dword
// acq_rel  cta  thread:
//     global_load_dword vmcnt(0) global_store_dword
// acq_rel  cta  warp:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) if[ vmcnt(0) ] global_store_dword
// acq_rel  cta  block:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) s_barrier if[ vmcnt(0) ] s_barrier global_store_dword
// acq_rel  gpu  thread:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) buffer_inv sc1 global_store_dword
// acq_rel  gpu  warp:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc1 vmcnt(0) buffer_inv sc1 ] global_store_dword
// acq_rel  gpu  block:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc1 vmcnt(0) buffer_inv sc1 ] s_barrier global_store_dword
// acq_rel  sys  thread:
//     global_load_dword buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 global_store_dword
// acq_rel  sys  warp:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ] global_store_dword
// acq_rel  sys  block:
//     global_load_dword buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ] s_barrier global_store_dword
