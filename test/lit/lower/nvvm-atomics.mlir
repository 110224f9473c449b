// Every read-modify-write in PTX, where LLVM's own would be a bare atom (.relaxed.gpu): order and scope are in the
// text, and the scope is the system's whatever narrower one was asked for (O2). PTX has no subtraction, so that one
// adds the negative, and no exchange of 16 bits, so that one compares and swaps until it succeeds.
// RUN: %golden %sequences %s --chip sm_90
// EACH kind; type: add; i32 | add; i64 | sub; i32 | sub; i64 | and; i32 | and; i64 | or; i32 | or; i64 | xor; i32
// EACH kind; type: xor; i64 | min; i32 | min; i64 | max; i32 | max; i64 | umin; i32 | umin; i64 | umax; i32
// EACH kind; type: umax; i64 | fadd; f16 | fadd; bf16 | fadd; f32 | fadd; f64 | xchg; i32 | xchg; i64 | xchg; f16
// EACH kind; type: xchg; bf16 | xchg; f32 | xchg; f64
// EACH sem: relaxed | acquire | release | acq_rel
// EACH called; scope; mask: cta; cta; | cluster; cluster; | gpu; gpu; | sys; sys; | masked; sys; mask %in : i1
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?x{type}>, %i: index, %v: {type}, %peer: i32, %delta: i64,
    %in: i1) kernel {
  %lane = gpu.thread_id x
  %old = symm.atomic_rmw {kind} %ctx, %m[%lane], %v, %peer via %delta {mask} sem {sem} scope {scope}
    : memref<?x{type}>, {type}
  gpu.return
}

// OUTPUT:
// add i32|sub i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.add.u32
// add i32|sub i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.add.u32 ]
// add i32|sub i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.add.u32
// add i32|sub i32  acquire  masked:
//     if[ atom.acquire.sys.global.add.u32 ]
// add i32|sub i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.add.u32
// add i32|sub i32  release  masked:
//     if[ atom.release.sys.global.add.u32 ]
// add i32|sub i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.add.u32
// add i32|sub i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.add.u32 ]
// add i64|sub i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.add.u64
// add i64|sub i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.add.u64 ]
// add i64|sub i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.add.u64
// add i64|sub i64  acquire  masked:
//     if[ atom.acquire.sys.global.add.u64 ]
// add i64|sub i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.add.u64
// add i64|sub i64  release  masked:
//     if[ atom.release.sys.global.add.u64 ]
// add i64|sub i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.add.u64
// add i64|sub i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.add.u64 ]
// and i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.and.b32
// and i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.and.b32 ]
// and i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.and.b32
// and i32  acquire  masked:
//     if[ atom.acquire.sys.global.and.b32 ]
// and i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.and.b32
// and i32  release  masked:
//     if[ atom.release.sys.global.and.b32 ]
// and i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.and.b32
// and i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.and.b32 ]
// and i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.and.b64
// and i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.and.b64 ]
// and i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.and.b64
// and i64  acquire  masked:
//     if[ atom.acquire.sys.global.and.b64 ]
// and i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.and.b64
// and i64  release  masked:
//     if[ atom.release.sys.global.and.b64 ]
// and i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.and.b64
// and i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.and.b64 ]
// or i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.or.b32
// or i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.or.b32 ]
// or i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.or.b32
// or i32  acquire  masked:
//     if[ atom.acquire.sys.global.or.b32 ]
// or i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.or.b32
// or i32  release  masked:
//     if[ atom.release.sys.global.or.b32 ]
// or i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.or.b32
// or i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.or.b32 ]
// or i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.or.b64
// or i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.or.b64 ]
// or i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.or.b64
// or i64  acquire  masked:
//     if[ atom.acquire.sys.global.or.b64 ]
// or i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.or.b64
// or i64  release  masked:
//     if[ atom.release.sys.global.or.b64 ]
// or i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.or.b64
// or i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.or.b64 ]
// xor i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.xor.b32
// xor i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.xor.b32 ]
// xor i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.xor.b32
// xor i32  acquire  masked:
//     if[ atom.acquire.sys.global.xor.b32 ]
// xor i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.xor.b32
// xor i32  release  masked:
//     if[ atom.release.sys.global.xor.b32 ]
// xor i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.xor.b32
// xor i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.xor.b32 ]
// xor i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.xor.b64
// xor i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.xor.b64 ]
// xor i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.xor.b64
// xor i64  acquire  masked:
//     if[ atom.acquire.sys.global.xor.b64 ]
// xor i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.xor.b64
// xor i64  release  masked:
//     if[ atom.release.sys.global.xor.b64 ]
// xor i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.xor.b64
// xor i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.xor.b64 ]
// min i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.min.s32
// min i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.min.s32 ]
// min i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.min.s32
// min i32  acquire  masked:
//     if[ atom.acquire.sys.global.min.s32 ]
// min i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.min.s32
// min i32  release  masked:
//     if[ atom.release.sys.global.min.s32 ]
// min i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.min.s32
// min i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.min.s32 ]
// min i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.min.s64
// min i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.min.s64 ]
// min i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.min.s64
// min i64  acquire  masked:
//     if[ atom.acquire.sys.global.min.s64 ]
// min i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.min.s64
// min i64  release  masked:
//     if[ atom.release.sys.global.min.s64 ]
// min i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.min.s64
// min i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.min.s64 ]
// max i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.max.s32
// max i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.max.s32 ]
// max i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.max.s32
// max i32  acquire  masked:
//     if[ atom.acquire.sys.global.max.s32 ]
// max i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.max.s32
// max i32  release  masked:
//     if[ atom.release.sys.global.max.s32 ]
// max i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.max.s32
// max i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.max.s32 ]
// max i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.max.s64
// max i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.max.s64 ]
// max i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.max.s64
// max i64  acquire  masked:
//     if[ atom.acquire.sys.global.max.s64 ]
// max i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.max.s64
// max i64  release  masked:
//     if[ atom.release.sys.global.max.s64 ]
// max i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.max.s64
// max i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.max.s64 ]
// umin i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.min.u32
// umin i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.min.u32 ]
// umin i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.min.u32
// umin i32  acquire  masked:
//     if[ atom.acquire.sys.global.min.u32 ]
// umin i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.min.u32
// umin i32  release  masked:
//     if[ atom.release.sys.global.min.u32 ]
// umin i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.min.u32
// umin i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.min.u32 ]
// umin i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.min.u64
// umin i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.min.u64 ]
// umin i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.min.u64
// umin i64  acquire  masked:
//     if[ atom.acquire.sys.global.min.u64 ]
// umin i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.min.u64
// umin i64  release  masked:
//     if[ atom.release.sys.global.min.u64 ]
// umin i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.min.u64
// umin i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.min.u64 ]
// umax i32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.max.u32
// umax i32  relaxed  masked:
//     if[ atom.relaxed.sys.global.max.u32 ]
// umax i32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.max.u32
// umax i32  acquire  masked:
//     if[ atom.acquire.sys.global.max.u32 ]
// umax i32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.max.u32
// umax i32  release  masked:
//     if[ atom.release.sys.global.max.u32 ]
// umax i32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.max.u32
// umax i32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.max.u32 ]
// umax i64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.max.u64
// umax i64  relaxed  masked:
//     if[ atom.relaxed.sys.global.max.u64 ]
// umax i64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.max.u64
// umax i64  acquire  masked:
//     if[ atom.acquire.sys.global.max.u64 ]
// umax i64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.max.u64
// umax i64  release  masked:
//     if[ atom.release.sys.global.max.u64 ]
// umax i64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.max.u64
// umax i64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.max.u64 ]
// fadd f16  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.add.noftz.f16
// fadd f16  relaxed  masked:
//     if[ atom.relaxed.sys.global.add.noftz.f16 ]
// fadd f16  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.add.noftz.f16
// fadd f16  acquire  masked:
//     if[ atom.acquire.sys.global.add.noftz.f16 ]
// fadd f16  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.add.noftz.f16
// fadd f16  release  masked:
//     if[ atom.release.sys.global.add.noftz.f16 ]
// fadd f16  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.add.noftz.f16
// fadd f16  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.add.noftz.f16 ]
// fadd bf16  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.add.noftz.bf16
// fadd bf16  relaxed  masked:
//     if[ atom.relaxed.sys.global.add.noftz.bf16 ]
// fadd bf16  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.add.noftz.bf16
// fadd bf16  acquire  masked:
//     if[ atom.acquire.sys.global.add.noftz.bf16 ]
// fadd bf16  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.add.noftz.bf16
// fadd bf16  release  masked:
//     if[ atom.release.sys.global.add.noftz.bf16 ]
// fadd bf16  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.add.noftz.bf16
// fadd bf16  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.add.noftz.bf16 ]
// fadd f32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.add.f32
// fadd f32  relaxed  masked:
//     if[ atom.relaxed.sys.global.add.f32 ]
// fadd f32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.add.f32
// fadd f32  acquire  masked:
//     if[ atom.acquire.sys.global.add.f32 ]
// fadd f32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.add.f32
// fadd f32  release  masked:
//     if[ atom.release.sys.global.add.f32 ]
// fadd f32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.add.f32
// fadd f32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.add.f32 ]
// fadd f64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.add.f64
// fadd f64  relaxed  masked:
//     if[ atom.relaxed.sys.global.add.f64 ]
// fadd f64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.add.f64
// fadd f64  acquire  masked:
//     if[ atom.acquire.sys.global.add.f64 ]
// fadd f64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.add.f64
// fadd f64  release  masked:
//     if[ atom.release.sys.global.add.f64 ]
// fadd f64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.add.f64
// fadd f64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.add.f64 ]
// xchg i32|xchg f32  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.exch.b32
// xchg i32|xchg f32  relaxed  masked:
//     if[ atom.relaxed.sys.global.exch.b32 ]
// xchg i32|xchg f32  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.exch.b32
// xchg i32|xchg f32  acquire  masked:
//     if[ atom.acquire.sys.global.exch.b32 ]
// xchg i32|xchg f32  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.exch.b32
// xchg i32|xchg f32  release  masked:
//     if[ atom.release.sys.global.exch.b32 ]
// xchg i32|xchg f32  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.exch.b32
// xchg i32|xchg f32  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.exch.b32 ]
// xchg i64|xchg f64  relaxed  cta|cluster|gpu|sys:
//     atom.relaxed.sys.global.exch.b64
// xchg i64|xchg f64  relaxed  masked:
//     if[ atom.relaxed.sys.global.exch.b64 ]
// xchg i64|xchg f64  acquire  cta|cluster|gpu|sys:
//     atom.acquire.sys.global.exch.b64
// xchg i64|xchg f64  acquire  masked:
//     if[ atom.acquire.sys.global.exch.b64 ]
// xchg i64|xchg f64  release  cta|cluster|gpu|sys:
//     atom.release.sys.global.exch.b64
// xchg i64|xchg f64  release  masked:
//     if[ atom.release.sys.global.exch.b64 ]
// xchg i64|xchg f64  acq_rel  cta|cluster|gpu|sys:
//     atom.acq_rel.sys.global.exch.b64
// xchg i64|xchg f64  acq_rel  masked:
//     if[ atom.acq_rel.sys.global.exch.b64 ]
// xchg f16|xchg bf16  relaxed  cta|cluster|gpu|sys:
//     ld.relaxed.sys.global.b16 loop[ atom.relaxed.sys.global.cas.b16 ]
// xchg f16|xchg bf16  relaxed  masked:
//     if[ ld.relaxed.sys.global.b16 loop[ atom.relaxed.sys.global.cas.b16 ] ]
// xchg f16|xchg bf16  acquire  cta|cluster|gpu|sys:
//     ld.relaxed.sys.global.b16 loop[ atom.acquire.sys.global.cas.b16 ]
// xchg f16|xchg bf16  acquire  masked:
//     if[ ld.relaxed.sys.global.b16 loop[ atom.acquire.sys.global.cas.b16 ] ]
// xchg f16|xchg bf16  release  cta|cluster|gpu|sys:
//     ld.relaxed.sys.global.b16 loop[ atom.release.sys.global.cas.b16 ]
// xchg f16|xchg bf16  release  masked:
//     if[ ld.relaxed.sys.global.b16 loop[ atom.release.sys.global.cas.b16 ] ]
// xchg f16|xchg bf16  acq_rel  cta|cluster|gpu|sys:
//     ld.relaxed.sys.global.b16 loop[ atom.acq_rel.sys.global.cas.b16 ]
// xchg f16|xchg bf16  acq_rel  masked:
//     if[ ld.relaxed.sys.global.b16 loop[ atom.acq_rel.sys.global.cas.b16 ] ]
