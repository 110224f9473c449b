// put_signal in PTX: the copy by all threads of the group, then the group's release signal (O3).
// RUN: %golden %sequences %s --chip sm_90
// EACH kind: set | add
// EACH type: i32 | i64
// EACH scope: gpu | sys
// EACH group: thread | warp | block
gpu.func @{name}(%ctx: !symm.ctx, %src: memref<4xf32>, %dst: memref<4xf32>, %flag: memref<?x{type}>, %i: index,
    %v: {type}, %peer: i32, %delta: i64) kernel {
  symm.put_signal {kind} %ctx, %src, %dst, %flag[%i], %v, %peer via %delta scope {scope} group {group}
    : memref<4xf32>, memref<4xf32>, memref<?x{type}>, {type}
  gpu.return
}

// OUTPUT:
// set  i32  gpu|sys  thread:
//     if[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] st.release.sys.global.b32
// set  i32  gpu|sys  warp:
//     if[ ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.warp.sync if[ st.release.sys.global.b32 ]
// set  i32  gpu|sys  block:
//     if[ loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.sync if[ st.release.sys.global.b32 ]
// set  i64  gpu|sys  thread:
//     if[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] st.release.sys.global.b64
// set  i64  gpu|sys  warp:
//     if[ ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.warp.sync if[ st.release.sys.global.b64 ]
// set  i64  gpu|sys  block:
//     if[ loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.sync if[ st.release.sys.global.b64 ]
// add  i32  gpu|sys  thread:
//     if[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] atom.release.sys.global.add.u32
// add  i32  gpu|sys  warp:
//     if[ ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.warp.sync if[ atom.release.sys.global.add.u32 ]
// add  i32  gpu|sys  block:
//     if[ loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.sync if[ atom.release.sys.global.add.u32 ]
// add  i64  gpu|sys  thread:
//     if[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] atom.release.sys.global.add.u64
// add  i64  gpu|sys  warp:
//     if[ ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.warp.sync if[ atom.release.sys.global.add.u64 ]
// add  i64  gpu|sys  block:
//     if[ loop[ ld.global.b32 st.global.b32 ] ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ] bar.sync if[ atom.release.sys.global.add.u64 ]
