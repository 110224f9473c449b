// Every compare-and-swap on gfx942, at system scope whatever narrower scope was asked for (O2).
// RUN: %golden %sequences %s --chip gfx942
// EACH type: i32 | i64
// EACH sem: relaxed | acquire | release | acq_rel
// EACH called; scope; mask: cta; cta; | cluster; cluster; | gpu; gpu; | sys; sys; | masked; sys; mask %in : i1
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?x{type}>, %a: {type}, %b: {type}, %peer: i32, %delta: i64,
    %in: i1) kernel {
  %lane = gpu.thread_id x
  %old = symm.atomic_cas %ctx, %m[%lane], %a, %b, %peer via %delta {mask} sem {sem} scope {scope}
    : memref<?x{type}>, {type}
  gpu.return
}

// OUTPUT:
// i32  relaxed  cta|cluster|gpu|sys:
//     global_atomic_cmpswap sc1
// i32  relaxed  masked:
//     if[ global_atomic_cmpswap sc1 ]
// i32  acquire  cta|cluster|gpu|sys:
//     global_atomic_cmpswap sc1 vmcnt(0) buffer_inv sc0 sc1
// i32  acquire  masked:
//     if[ global_atomic_cmpswap sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// i32  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap sc1
// i32  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap sc1 ]
// i32  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap sc1 vmcnt(0) buffer_inv sc0 sc1
// i32  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// i64  relaxed  cta|cluster|gpu|sys:
//     global_atomic_cmpswap_x2 sc1
// i64  relaxed  masked:
//     if[ global_atomic_cmpswap_x2 sc1 ]
// i64  acquire  cta|cluster|gpu|sys:
//     global_atomic_cmpswap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// i64  acquire  masked:
//     if[ global_atomic_cmpswap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// i64  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap_x2 sc1
// i64  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap_x2 sc1 ]
// i64  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// i64  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
