// The comparison of every wait in PTX: of signed values, or of unsigned ones where the op says so (O6). The poll ends
// when it holds; the flag is the first operand. The second comparison of the loop counts the polls.
// RUN: %golden %sequences %s --chip sm_90 --also setp
// EACH type: i32 | i64
// EACH comparison: eq | ne | lt | le | gt | ge | unsigned eq | unsigned ne | unsigned lt | unsigned le
// EACH comparison: unsigned gt | unsigned ge
gpu.func @{name}(%ctx: !symm.ctx, %flag: memref<?x{type}>, %i: index, %v: {type}) kernel {
  symm.wait %ctx, %flag[%i] {comparison} %v : memref<?x{type}>, {type}
  gpu.return
}

// OUTPUT:
// i32  eq|unsigned eq:
//     loop[ ld.acquire.sys.global.b32 setp.ne.b32 setp.lt.u64 ] setp.eq.b32 if[ loop[ ld.relaxed.sys.global.b32 setp.ne.b32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  ne|unsigned ne:
//     loop[ ld.acquire.sys.global.b32 setp.eq.b32 setp.lt.u64 ] setp.ne.b32 if[ loop[ ld.relaxed.sys.global.b32 setp.eq.b32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  lt:
//     loop[ ld.acquire.sys.global.b32 setp.ge.s32 setp.lt.u64 ] setp.lt.s32 if[ loop[ ld.relaxed.sys.global.b32 setp.ge.s32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  le:
//     loop[ ld.acquire.sys.global.b32 setp.gt.s32 setp.lt.u64 ] setp.le.s32 if[ loop[ ld.relaxed.sys.global.b32 setp.gt.s32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  gt:
//     loop[ ld.acquire.sys.global.b32 setp.le.s32 setp.lt.u64 ] setp.gt.s32 if[ loop[ ld.relaxed.sys.global.b32 setp.le.s32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  ge:
//     loop[ ld.acquire.sys.global.b32 setp.lt.s32 setp.lt.u64 ] setp.ge.s32 if[ loop[ ld.relaxed.sys.global.b32 setp.lt.s32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  unsigned lt:
//     loop[ ld.acquire.sys.global.b32 setp.ge.u32 setp.lt.u64 ] setp.lt.u32 if[ loop[ ld.relaxed.sys.global.b32 setp.ge.u32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  unsigned le:
//     loop[ ld.acquire.sys.global.b32 setp.gt.u32 setp.lt.u64 ] setp.le.u32 if[ loop[ ld.relaxed.sys.global.b32 setp.gt.u32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  unsigned gt:
//     loop[ ld.acquire.sys.global.b32 setp.le.u32 setp.lt.u64 ] setp.gt.u32 if[ loop[ ld.relaxed.sys.global.b32 setp.le.u32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  unsigned ge:
//     loop[ ld.acquire.sys.global.b32 setp.lt.u32 setp.lt.u64 ] setp.ge.u32 if[ loop[ ld.relaxed.sys.global.b32 setp.lt.u32 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  eq|unsigned eq:
//     loop[ ld.acquire.sys.global.b64 setp.ne.b64 setp.lt.u64 ] setp.eq.b64 if[ loop[ ld.relaxed.sys.global.b64 setp.ne.b64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  ne|unsigned ne:
//     loop[ ld.acquire.sys.global.b64 setp.eq.b64 setp.lt.u64 ] setp.ne.b64 if[ loop[ ld.relaxed.sys.global.b64 setp.eq.b64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  lt:
//     loop[ ld.acquire.sys.global.b64 setp.ge.s64 setp.lt.u64 ] setp.lt.s64 if[ loop[ ld.relaxed.sys.global.b64 setp.ge.s64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  le:
//     loop[ ld.acquire.sys.global.b64 setp.gt.s64 setp.lt.u64 ] setp.le.s64 if[ loop[ ld.relaxed.sys.global.b64 setp.gt.s64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  gt:
//     loop[ ld.acquire.sys.global.b64 setp.le.s64 setp.lt.u64 ] setp.gt.s64 if[ loop[ ld.relaxed.sys.global.b64 setp.le.s64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  ge:
//     loop[ ld.acquire.sys.global.b64 setp.lt.s64 setp.lt.u64 ] setp.ge.s64 if[ loop[ ld.relaxed.sys.global.b64 setp.lt.s64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  unsigned lt:
//     loop[ ld.acquire.sys.global.b64 setp.ge.u64 setp.lt.u64 ] setp.lt.u64 if[ loop[ ld.relaxed.sys.global.b64 setp.ge.u64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  unsigned le:
//     loop[ ld.acquire.sys.global.b64 setp.gt.u64 setp.lt.u64 ] setp.le.u64 if[ loop[ ld.relaxed.sys.global.b64 setp.gt.u64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  unsigned gt:
//     loop[ ld.acquire.sys.global.b64 setp.le.u64 setp.lt.u64 ] setp.gt.u64 if[ loop[ ld.relaxed.sys.global.b64 setp.le.u64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  unsigned ge:
//     loop[ ld.acquire.sys.global.b64 setp.lt.u64 setp.lt.u64 ] setp.ge.u64 if[ loop[ ld.relaxed.sys.global.b64 setp.lt.u64 setp.lt.s64 nanosleep.u32 ] fence.acq_rel.sys ]
