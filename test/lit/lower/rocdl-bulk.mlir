// Bulk copies on gfx942: 16 bytes a thread and four of them in flight where both ends are aligned alike, single
// elements before and behind; rows of memrefs with gaps likewise, elements without rows one by one.
// RUN: %golden %sequences %s --chip gfx942 --without 'vmcnt.*'
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
//     if[ loop[ global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_store_dwordx4 ] loop[ global_load_dword global_store_dword ] loop[ global_load_dword global_store_dword ] ]
// contiguous  get|put  warp:
//     if[ loop[ global_load_dword global_store_dword ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 loop[ global_load_dwordx4 global_store_dwordx4 ] global_load_dword global_store_dword global_load_dword global_store_dword ]
// contiguous  get|put  block:
//     if[ loop[ global_load_dword global_store_dword ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_store_dwordx4 ] loop[ global_load_dword global_store_dword ] loop[ global_load_dword global_store_dword ] ]
// counted bytes  get|put  thread:
//     if[ loop[ global_load_ubyte global_store_byte ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_store_dwordx4 ] loop[ global_load_ubyte global_store_byte ] loop[ global_load_ubyte global_store_byte ] ]
// counted bytes  get|put  warp:
//     if[ loop[ global_load_ubyte global_store_byte ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_store_dwordx4 ] global_load_ubyte global_store_byte global_load_ubyte global_store_byte ]
// counted bytes  get|put  block:
//     if[ loop[ global_load_ubyte global_store_byte ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_store_dwordx4 ] loop[ global_load_ubyte global_store_byte ] loop[ global_load_ubyte global_store_byte ] ]
// counted f64  get|put  thread:
//     if[ loop[ global_load_dwordx2 global_store_dwordx2 ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_store_dwordx4 ] global_load_dwordx2 global_store_dwordx2 global_load_dwordx2 global_store_dwordx2 ]
// counted f64  get|put  warp|block:
//     if[ loop[ global_load_dwordx2 global_store_dwordx2 ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 ] loop[ global_load_dwordx4 global_store_dwordx4 ] global_load_dwordx2 global_store_dwordx2 global_load_dwordx2 global_store_dwordx2 ]
// rows  get|put  thread:
//     if[ loop[ global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dword global_store_dword global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_load_dwordx4 global_store_dwordx4 global_load_dword global_store_dword global_load_dword global_store_dword ] ]
// rows  get|put  warp:
//     if[ loop[ global_load_dwordx4 global_store_dwordx4 global_load_dword global_store_dword global_load_dword global_store_dword ] ]
// rows  get|put  block:
//     if[ loop[ global_load_dword global_store_dword global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_store_dwordx4 global_load_dwordx4 global_store_dwordx4 global_load_dword global_store_dword global_load_dword global_store_dword ] ]
// elements  get|put  thread:
//     loop[ global_load_ushort global_store_short global_load_ushort global_store_short global_load_ushort global_store_short global_load_ushort global_store_short ]
// elements  get|put  warp:
//     global_load_ushort global_store_short
// elements  get|put  block:
//     if[ loop[ global_load_ushort global_store_short ] ]
