// Every signal in PTX: release stores and atomics at system scope, whatever narrower scope was asked for (O2); a
// group's signal is sent by one thread after the group's barrier (O3). No signal is a bare atom (.relaxed.gpu).
// RUN: %golden %sequences %s --chip sm_90
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
//     st.release.sys.global.b32
// set  i32  release  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ st.release.sys.global.b32 ]
// set  i32  release  cta|cluster|gpu|sys  block:
//     bar.sync if[ st.release.sys.global.b32 ]
// set  i32  relaxed  cta|cluster|gpu|sys  thread:
//     st.relaxed.sys.global.b32
// set  i32  relaxed  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ st.relaxed.sys.global.b32 ]
// set  i32  relaxed  cta|cluster|gpu|sys  block:
//     bar.sync if[ st.relaxed.sys.global.b32 ]
// set  i64  release  cta|cluster|gpu|sys  thread:
//     st.release.sys.global.b64
// set  i64  release  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ st.release.sys.global.b64 ]
// set  i64  release  cta|cluster|gpu|sys  block:
//     bar.sync if[ st.release.sys.global.b64 ]
// set  i64  relaxed  cta|cluster|gpu|sys  thread:
//     st.relaxed.sys.global.b64
// set  i64  relaxed  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ st.relaxed.sys.global.b64 ]
// set  i64  relaxed  cta|cluster|gpu|sys  block:
//     bar.sync if[ st.relaxed.sys.global.b64 ]
// add  i32  release  cta|cluster|gpu|sys  thread:
//     atom.release.sys.global.add.u32
// add  i32  release  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ atom.release.sys.global.add.u32 ]
// add  i32  release  cta|cluster|gpu|sys  block:
//     bar.sync if[ atom.release.sys.global.add.u32 ]
// add  i32  relaxed  cta|cluster|gpu|sys  thread:
//     atom.relaxed.sys.global.add.u32
// add  i32  relaxed  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ atom.relaxed.sys.global.add.u32 ]
// add  i32  relaxed  cta|cluster|gpu|sys  block:
//     bar.sync if[ atom.relaxed.sys.global.add.u32 ]
// add  i64  release  cta|cluster|gpu|sys  thread:
//     atom.release.sys.global.add.u64
// add  i64  release  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ atom.release.sys.global.add.u64 ]
// add  i64  release  cta|cluster|gpu|sys  block:
//     bar.sync if[ atom.release.sys.global.add.u64 ]
// add  i64  relaxed  cta|cluster|gpu|sys  thread:
//     atom.relaxed.sys.global.add.u64
// add  i64  relaxed  cta|cluster|gpu|sys  warp:
//     bar.warp.sync if[ atom.relaxed.sys.global.add.u64 ]
// add  i64  relaxed  cta|cluster|gpu|sys  block:
//     bar.sync if[ atom.relaxed.sys.global.add.u64 ]
