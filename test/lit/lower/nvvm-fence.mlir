// Every fence in PTX, with the scope it asks for: a fence orders this thread's accesses and may stay on the GPU.
// RUN: %golden %sequences %s --chip sm_90
// EACH sem: acquire | release | acq_rel
// EACH scope: cta | cluster | gpu | sys
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<2xf32>) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %m[%c0] : memref<2xf32>
  symm.fence sem {sem} scope {scope}
  memref.store %v, %m[%c1] : memref<2xf32>
  gpu.return
}

// OUTPUT:
// acquire|release|acq_rel  cta:
//     ld.global.b32 fence.acq_rel.cta st.global.b32
// acquire|release|acq_rel  cluster:
//     ld.global.b32 fence.acq_rel.cluster st.global.b32
// acquire|release|acq_rel  gpu:
//     ld.global.b32 fence.acq_rel.gpu st.global.b32
// acquire|release|acq_rel  sys:
//     ld.global.b32 fence.acq_rel.sys st.global.b32
