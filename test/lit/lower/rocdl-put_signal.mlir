// put_signal on gfx942: the copy by all threads of the group, then the group's release signal (O3).
// RUN: %golden %sequences %s --chip gfx942
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
//     if[ global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 ] buffer_wbl2 sc0 sc1 vmcnt(0) vmcnt(0) global_store_dword sc0 sc1
// set  i32  gpu|sys  warp:
//     if[ global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 ]
// set  i32  gpu|sys  block:
//     if[ loop[ global_load_dword vmcnt(0) global_store_dword ] global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(1) global_store_dwordx4 global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 ]
// set  i64  gpu|sys  thread:
//     if[ global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 ] buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dwordx2 sc0 sc1
// set  i64  gpu|sys  warp:
//     if[ global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dwordx2 sc0 sc1 ]
// set  i64  gpu|sys  block:
//     if[ loop[ global_load_dword vmcnt(0) global_store_dword ] global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(1) global_store_dwordx4 global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dwordx2 sc0 sc1 ]
// add  i32  gpu|sys  thread:
//     if[ global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 ] buffer_wbl2 sc0 sc1 vmcnt(0) if[ global_atomic_add sc1 ]
// add  i32  gpu|sys  warp:
//     if[ global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1 ]
// add  i32  gpu|sys  block:
//     if[ loop[ global_load_dword vmcnt(0) global_store_dword ] global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(1) global_store_dwordx4 global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1 ]
// add  i64  gpu|sys  thread:
//     if[ global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 ] buffer_wbl2 sc0 sc1 vmcnt(0) if[ global_atomic_add_x2 sc1 ]
// add  i64  gpu|sys  warp:
//     if[ global_load_dword vmcnt(0) global_store_dword global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dword vmcnt(0) global_store_dword global_load_dword vmcnt(0) global_store_dword global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 ]
// add  i64  gpu|sys  block:
//     if[ loop[ global_load_dword vmcnt(0) global_store_dword ] global_load_dwordx4 vmcnt(0) global_store_dwordx4 loop[ global_load_dword vmcnt(0) global_store_dword ] loop[ global_load_dword vmcnt(0) global_store_dword ] global_store_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(1) global_store_dwordx4 global_load_dwordx4 vmcnt(0) global_store_dwordx4 global_load_dwordx4 global_load_dwordx4 global_load_dwordx4 global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 vmcnt(3) global_store_dwordx4 ] buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 ]
