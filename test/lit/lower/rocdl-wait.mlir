// Every wait on gfx942: it polls relaxed at system scope, whatever narrower scope was asked for (O2), backs off, and
// acquires once after the poll (O5); a group's wait is done by one thread before the group's barrier (O3). With a
// timeout the clock is read too, and a group's threads learn from shared memory what the poll has found.
// RUN: %golden %sequences %s --chip gfx942
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
//     loop[ global_load_dword sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1
// i32  for ever  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ global_load_dword sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ]
// i32  for ever  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ global_load_dword sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ] s_barrier
// i32  for ever  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) s_sleep ]
// i32  for ever  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ global_load_dword sc0 sc1 vmcnt(0) s_sleep ] ]
// i32  for ever  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ global_load_dword sc0 sc1 vmcnt(0) s_sleep ] ] s_barrier
// i32  with timeout  acquire  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     s_memrealtime loop[ global_load_dword sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] buffer_inv sc0 sc1
// i32  with timeout  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dword sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ds_write_b32 ] ds_read_b32
// i32  with timeout  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dword sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ds_write_b32 ] s_barrier ds_read_b32 s_barrier
// i32  with timeout  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     s_memrealtime loop[ global_load_dword sc0 sc1 s_memrealtime vmcnt(0) s_sleep ]
// i32  with timeout  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dword sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] ds_write_b32 ] ds_read_b32
// i32  with timeout  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dword sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] ds_write_b32 ] s_barrier ds_read_b32 s_barrier
// i64  for ever  acquire  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1
// i64  for ever  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ]
// i64  for ever  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ] s_barrier
// i64  for ever  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ]
// i64  for ever  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] ]
// i64  for ever  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] ] s_barrier
// i64  with timeout  acquire  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     s_memrealtime loop[ global_load_dwordx2 sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] buffer_inv sc0 sc1
// i64  with timeout  acquire  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dwordx2 sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ds_write_b32 ] ds_read_b32
// i64  with timeout  acquire  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dwordx2 sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ds_write_b32 ] s_barrier ds_read_b32 s_barrier
// i64  with timeout  relaxed  cta|cluster|gpu|sys  thread  eq|unsigned ge:
//     s_memrealtime loop[ global_load_dwordx2 sc0 sc1 s_memrealtime vmcnt(0) s_sleep ]
// i64  with timeout  relaxed  cta|cluster|gpu|sys  warp  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dwordx2 sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] ds_write_b32 ] ds_read_b32
// i64  with timeout  relaxed  cta|cluster|gpu|sys  block  eq|unsigned ge:
//     if[ s_memrealtime loop[ global_load_dwordx2 sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] ds_write_b32 ] s_barrier ds_read_b32 s_barrier
