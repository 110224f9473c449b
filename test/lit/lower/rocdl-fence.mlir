// Every fence on gfx942, with the scope it asks for: a fence orders this thread's accesses and may stay on the GPU.
// RUN: %golden %sequences %s --chip gfx942
// EACH sem: acquire | release | acq_rel
// EACH scope: cta | gpu | sys
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<2xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %m[%c0] : memref<2xf32>
  symm.fence sem {sem} scope {scope}
  memref.store %v, %m[%c1] : memref<2xf32>
  gpu.return
}

// OUTPUT:
// acquire  cta:
//     global_store_dword
// acquire  gpu:
//     buffer_inv sc1 global_store_dword
// acquire  sys:
//     buffer_inv sc0 sc1 global_store_dword
// release  cta:
//     vmcnt(0) global_store_dword
// release  gpu:
//     buffer_wbl2 sc1 vmcnt(0) global_store_dword
// release  sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dword
// acq_rel  cta:
//     vmcnt(0) global_store_dword
// acq_rel  gpu:
//     buffer_wbl2 sc1 vmcnt(0) buffer_inv sc1 global_store_dword
// acq_rel  sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 global_store_dword
