// Bulk copies in PTX: 16 bytes a thread and four of them in flight where both ends are aligned alike, single elements
// before and behind; rows of memrefs with gaps likewise, elements without rows one by one.
// RUN: %golden %sequences %s --chip sm_90
// EACH shape; ends: contiguous; %a, %b, %peer via %delta group {group} : memref<4096xf32>, memref<4096xf32>
// EACH shape; ends: counted bytes; %p, %q, %peer via %delta count %n : index of i8 group {group} : !llvm.ptr, !llvm.ptr
// EACH shape; ends: counted f64; %p, %q, %peer via %delta count %n : index of f64 group {group} : !llvm.ptr, !llvm.ptr
// EACH shape; ends: rows; %c, %d, %peer via %delta group {group} : {rows}, {rows}
// EACH shape; ends: elements; %e, %f, %peer via %delta group {group} : {gaps}, {gaps}
// EACH rows; gaps: memref<?x64xf32, strided<[128, 1]>>; memref<64xf16, strided<[3]>>
// EACH op: get | put
// EACH group: thread | warp | block
gpu.func @{name}(%ctx: !symm.ctx, %a: memref<4096xf32>, %b: memref<4096xf32>, %p: !llvm.ptr, %q: !llvm.ptr,
    %c: {rows}, %d: {rows}, %e: {gaps}, %f: {gaps}, %n: index, %peer: i32, %delta: i64) kernel {
  symm.{op} %ctx, {ends}
  gpu.return
}

// OUTPUT:
// contiguous  get|put  thread:
//     if[ loop[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ]
// contiguous  get|put  warp:
//     if[ loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ]
// contiguous  get|put  block:
//     if[ loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ] ]
// counted bytes  get|put  thread:
//     if[ loop[ ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ] loop[ ld.global.b8 st.global.b8 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ] loop[ ld.global.b8 st.global.b8 ] loop[ ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ] loop[ ld.global.b8 st.global.b8 ] ]
// counted bytes  get|put  warp:
//     if[ loop[ ld.global.b8 st.global.b8 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] ld.global.b8 st.global.b8 ld.global.b8 st.global.b8 ]
// counted bytes  get|put  block:
//     if[ loop[ ld.global.b8 st.global.b8 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.b8 st.global.b8 ] loop[ ld.global.b8 st.global.b8 ] ]
// counted f64  get|put  thread:
//     if[ loop[ ld.global.b64 st.global.b64 ld.global.b64 st.global.b64 ld.global.b64 st.global.b64 ld.global.b64 st.global.b64 ] loop[ ld.global.b64 st.global.b64 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] ld.global.v4.b32 st.global.v4.b32 loop[ ld.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 ] ld.global.b64 st.global.b64 ld.global.b64 st.global.b64 ]
// counted f64  get|put  warp|block:
//     if[ loop[ ld.global.b64 st.global.b64 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ] loop[ ld.global.v4.b32 st.global.v4.b32 ] ld.global.b64 st.global.b64 ld.global.b64 st.global.b64 ]
// rows  get  thread:
//     if[ loop[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] ]
// rows  get  warp:
//     if[ loop[ ld.global.b32 st.global.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] ]
// rows  get  block:
//     if[ loop[ ld.global.b32 st.global.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] ]
// rows  put  thread:
//     if[ loop[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] loop[ ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] ]
// rows  put  warp:
//     if[ loop[ ld.global.b32 st.global.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] ]
// rows  put  block:
//     if[ loop[ ld.global.b32 st.global.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 st.global.v4.b32 ld.global.v4.b32 st.global.v4.b32 ld.global.b32 st.global.b32 ld.global.b32 st.global.b32 ] ]
// elements  get|put  thread:
//     loop[ ld.global.b16 st.global.b16 ld.global.b16 st.global.b16 ld.global.b16 st.global.b16 ld.global.b16 st.global.b16 ]
// elements  get|put  warp:
//     loop[ ld.global.b16 st.global.b16 ]
// elements  get|put  block:
//     if[ loop[ ld.global.b16 st.global.b16 ] ]
