// Every compare-and-swap in PTX, at system scope whatever narrower scope was asked for (O2).
// RUN: %golden %sequences %s --chip sm_90
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
//     atom.relaxed.sys.global.cas.b32
// i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.cas.b32 ]
// i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.cas.b32
// i32  acquire  masked:
//     if[ atom.acquire.sys.global.cas.b32 ]
// i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.cas.b32
// i32  release  masked:
//     if[ atom.release.sys.global.cas.b32 ]
// i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.cas.b32
// i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.cas.b32 ]
// i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.cas.b64
// i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.cas.b64 ]
// i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.cas.b64
// i64  acquire  masked:
//     if[ atom.acquire.sys.global.cas.b64 ]
// i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.cas.b64
// i64  release  masked:
//     if[ atom.release.sys.global.cas.b64 ]
// i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.cas.b64
// i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.cas.b64 ]
