// Every wait in PTX: it polls relaxed at system scope, whatever narrower scope was asked for (O2), backs off, and
// acquires once after the poll (O5); a group's wait is done by one thread before the group's barrier (O3). With a
// timeout the clock is read too, and a group's threads learn from shared memory what the poll has found.
// RUN: %golden %sequences %s --chip sm_90
// EACH type: i32 | i64
// EACH called; timeout; seen; result: for ever; ; ; | with timeout; timeout %ns; %seen =; -> i1
// EACH sem: acquire | relaxed
// EACH scope: cta | cluster | gpu | sys
// EACH group: thread | warp | block
// EACH comparison: eq | unsigned ge
gpu.func @{name}(%ctx: !symm.ctx, %flag: memref<?x{type}>, %i: index, %v: {type}, %ns: i64,
    %out: memref<1xi1>) kernel {
  {seen} symm.wait %ctx, %flag[%i] {comparison} %v {timeout} sem {sem} scope {scope} group {group}
    : memref<?x{type}>, {type} {result}
  gpu.return
}

// OUTPUT:
// i32  for ever  acquire  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     loop[ ld.acquire.sys.global.b32 ] if[ loop[ ld.relaxed.sys.global.b32 nanosleep.u32 ] fence.acq_rel.sys ]
// i32  for ever  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ ld.acquire.sys.global.b32 ] loop[ ld.relaxed.sys.global.b32 nanosleep.u32 ] fence.acq_rel.sys ] bar.warp.sync
// i32  for ever  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ ld.acquire.sys.global.b32 ] loop[ ld.relaxed.sys.global.b32 nanosleep.u32 ] fence.acq_rel.sys ] bar.sync
// i32  for ever  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     loop[ ld.relaxed.sys.global.b32 nanosleep.u32 ]
// i32  for ever  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ ld.relaxed.sys.global.b32 nanosleep.u32 ] ] bar.warp.sync
// i32  for ever  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ ld.relaxed.sys.global.b32 nanosleep.u32 ] ] bar.sync
// i32  with timeout  acquire  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     globaltimer loop[ ld.acquire.sys.global.b32 globaltimer ] if[ loop[ ld.relaxed.sys.global.b32 globaltimer nanosleep.u32 ] fence.acq_rel.sys ]
// i32  with timeout  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ globaltimer loop[ ld.acquire.sys.global.b32 globaltimer ] loop[ ld.relaxed.sys.global.b32 globaltimer nanosleep.u32 ] fence.acq_rel.sys st.shared.b32 ] bar.warp.sync ld.volatile.shared.b32 bar.warp.sync
// i32  with timeout  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ globaltimer loop[ ld.acquire.sys.global.b32 globaltimer ] loop[ ld.relaxed.sys.global.b32 globaltimer nanosleep.u32 ] fence.acq_rel.sys st.shared.b32 ] bar.sync ld.volatile.shared.b32 bar.sync
// i32  with timeout  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     globaltimer loop[ ld.relaxed.sys.global.b32 globaltimer nanosleep.u32 ]
// i32  with timeout  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ globaltimer loop[ ld.relaxed.sys.global.b32 globaltimer nanosleep.u32 ] st.shared.b32 ] bar.warp.sync ld.volatile.shared.b32 bar.warp.sync
// i32  with timeout  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ globaltimer loop[ ld.relaxed.sys.global.b32 globaltimer nanosleep.u32 ] st.shared.b32 ] bar.sync ld.volatile.shared.b32 bar.sync
// i64  for ever  acquire  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     loop[ ld.acquire.sys.global.b64 ] if[ loop[ ld.relaxed.sys.global.b64 nanosleep.u32 ] fence.acq_rel.sys ]
// i64  for ever  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ ld.acquire.sys.global.b64 ] loop[ ld.relaxed.sys.global.b64 nanosleep.u32 ] fence.acq_rel.sys ] bar.warp.sync
// i64  for ever  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ ld.acquire.sys.global.b64 ] loop[ ld.relaxed.sys.global.b64 nanosleep.u32 ] fence.acq_rel.sys ] bar.sync
// i64  for ever  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     loop[ ld.relaxed.sys.global.b64 nanosleep.u32 ]
// i64  for ever  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ ld.relaxed.sys.global.b64 nanosleep.u32 ] ] bar.warp.sync
// i64  for ever  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ ld.relaxed.sys.global.b64 nanosleep.u32 ] ] bar.sync
// i64  with timeout  acquire  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     globaltimer loop[ ld.acquire.sys.global.b64 globaltimer ] if[ loop[ ld.relaxed.sys.global.b64 globaltimer nanosleep.u32 ] fence.acq_rel.sys ]
// i64  with timeout  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ globaltimer loop[ ld.acquire.sys.global.b64 globaltimer ] loop[ ld.relaxed.sys.global.b64 globaltimer nanosleep.u32 ] fence.acq_rel.sys st.shared.b32 ] bar.warp.sync ld.volatile.shared.b32 bar.warp.sync
// i64  with timeout  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ globaltimer loop[ ld.acquire.sys.global.b64 globaltimer ] loop[ ld.relaxed.sys.global.b64 globaltimer nanosleep.u32 ] fence.acq_rel.sys st.shared.b32 ] bar.sync ld.volatile.shared.b32 bar.sync
// i64  with timeout  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     globaltimer loop[ ld.relaxed.sys.global.b64 globaltimer nanosleep.u32 ]
// i64  with timeout  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ globaltimer loop[ ld.relaxed.sys.global.b64 globaltimer nanosleep.u32 ] st.shared.b32 ] bar.warp.sync ld.volatile.shared.b32 bar.warp.sync
// i64  with timeout  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ globaltimer loop[ ld.relaxed.sys.global.b64 globaltimer nanosleep.u32 ] st.shared.b32 ] bar.sync ld.volatile.shared.b32 bar.sync
