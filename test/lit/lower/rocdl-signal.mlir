// Every signal in PTX: release stores and atomics at system scope, whatever narrower scope was asked for (O2); a
// group's signal is sent by one thread after the group's barrier (O3). No signal is a bare atom (.relaxed.gpu).
// RUN: %golden %sequences %s --chip gfx942
// EACH kind: set | add
// EACH type: i32 | i64
// EACH sem: release | relaxed
// EACH scope: cta | cluster | gpu | sys
// EACH group: thread | warp | block
gpu.func @{name}(%ctx: !symm.ctx, %flag: memref<?x{type}>, %i: index, %v: {type}, %peer: i32, %delta: i64) kernel {
  symm.signal {kind} %ctx, %flag[%i], %v, %peer via %delta sem {sem} scope {scope} group {group}
    : memref<?x{type}>, {type}
  gpu.return
}

// OUTPUT:
// set  i32  release  cta|cluster|gpu|sys  thread:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dword sc0 sc1
// set  i32  release  cta|cluster|gpu|sys  warp:
//     buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 ]
// set  i32  release  cta|cluster|gpu|sys  block:
//     buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 ]
// set  i32  relaxed  cta|cluster|gpu|sys  thread:
//     global_store_dword sc0 sc1
// set  i32  relaxed  cta|cluster|gpu|sys  warp:
//     if[ global_store_dword sc0 sc1 ]
// set  i32  relaxed  cta|cluster|gpu|sys  block:
//     s_barrier if[ global_store_dword sc0 sc1 ]
// set  i64  release  cta|cluster|gpu|sys  thread:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dwordx2 sc0 sc1
// set  i64  release  cta|cluster|gpu|sys  warp:
//     buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dwordx2 sc0 sc1 ]
// set  i64  release  cta|cluster|gpu|sys  block:
//     buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dwordx2 sc0 sc1 ]
// set  i64  relaxed  cta|cluster|gpu|sys  thread:
//     global_store_dwordx2 sc0 sc1
// set  i64  relaxed  cta|cluster|gpu|sys  warp:
//     if[ global_store_dwordx2 sc0 sc1 ]
// set  i64  relaxed  cta|cluster|gpu|sys  block:
//     s_barrier if[ global_store_dwordx2 sc0 sc1 ]
// add  i32  release  cta|cluster|gpu|sys  thread:
//     buffer_wbl2 sc0 sc1 vmcnt(0) if[ global_atomic_add sc1 ]
// add  i32  release  cta|cluster|gpu|sys  warp:
//     buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1 ]
// add  i32  release  cta|cluster|gpu|sys  block:
//     buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1 ]
// add  i32  relaxed  cta|cluster|gpu|sys  thread|warp:
//     if[ global_atomic_add sc1 ]
// add  i32  relaxed  cta|cluster|gpu|sys  block:
//     s_barrier if[ global_atomic_add sc1 ]
// add  i64  release  cta|cluster|gpu|sys  thread:
//     buffer_wbl2 sc0 sc1 vmcnt(0) if[ global_atomic_add_x2 sc1 ]
// add  i64  release  cta|cluster|gpu|sys  warp:
//     buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 ]
// add  i64  release  cta|cluster|gpu|sys  block:
//     buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 ]
// add  i64  relaxed  cta|cluster|gpu|sys  thread|warp:
//     if[ global_atomic_add_x2 sc1 ]
// add  i64  relaxed  cta|cluster|gpu|sys  block:
//     s_barrier if[ global_atomic_add_x2 sc1 ]
