// The barrier of all ranks on gfx942: what the block wrote is released, one relaxed store to each rank, a relaxed poll
// for each, one acquire; a group is before it and after it together (O3, O5).
// RUN: %golden %sequences %s --chip gfx942
// MODULE: symm.heap_stride = 1073741824 : i64
// EACH group: thread | warp | block
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?xf32>, %i: index, %v: f32) kernel {
  memref.store %v, %m[%i] : memref<?xf32>
  symm.barrier %ctx group {group}
  %w = memref.load %m[%i] : memref<?xf32>
  %x = arith.addf %v, %w : f32
  memref.store %x, %m[%i] : memref<?xf32>
  gpu.return
}

// OUTPUT:
// thread:
//     global_store_dword global_load_dwordx2 vmcnt(0) global_store_dwordx2 if[ buffer_wbl2 sc0 sc1 vmcnt(0) loop[ global_store_dwordx2 sc0 sc1 ] loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ] global_load_dword vmcnt(0) global_store_dword
// warp:
//     global_store_dword global_load_dwordx2 vmcnt(0) buffer_wbl2 sc1 vmcnt(0) if[ global_store_dwordx2 buffer_wbl2 sc0 sc1 vmcnt(0) loop[ global_store_dwordx2 sc0 sc1 ] loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ] global_load_dword vmcnt(0) global_store_dword
// block:
//     global_store_dword global_load_dwordx2 vmcnt(0) buffer_wbl2 sc1 vmcnt(0) s_barrier if[ global_store_dwordx2 buffer_wbl2 sc0 sc1 vmcnt(0) loop[ global_store_dwordx2 sc0 sc1 ] loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ] s_barrier global_load_dword vmcnt(0) global_store_dword
