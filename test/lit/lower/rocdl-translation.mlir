// Bases are read from the table once on gfx942, before the loop, whatever is waited for inside it (T3). They are
// invariant loads: s_load, which also reads the kernel's arguments.
// RUN: %golden %sequences %s --chip gfx942 --also s_load
// EACH peer: %c1 | %rank | %next
// EACH between: | symm.wait %ctx, %flag[%c0] ge %v : memref<1xi64>, i64 | symm.fence
gpu.func @{name}(%ctx: !symm.ctx, %in: memref<?xf32>, %out: memref<?xf32>, %flag: memref<1xi64>, %v: i64, %rank: i32,
    %n: index) kernel {
  %c0 = arith.constant 0 : index
  %step = gpu.block_dim x
  %first = gpu.thread_id x
  %c1 = arith.constant 1 : i32
  %me = symm.rank %ctx
  %ranks = symm.num_ranks %ctx
  %after = arith.addi %me, %c1 : i32
  %next = arith.remui %after, %ranks : i32
  scf.for %i = %first to %n step %step {
    {between}
    %x = symm.remote_load %ctx, %in[%i], {peer} : memref<?xf32> -> f32
    symm.remote_store %ctx, %out[%i], %x, {peer} : memref<?xf32>, f32
  }
  gpu.return
}

// OUTPUT:
// %c1  -:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword global_load_dword s_load_dwordx2 vmcnt(0) s_load_dwordx2 s_load_dwordx2 loop[ global_load_dword vmcnt(0) global_store_dword ] ]
// %c1  symm.wait %ctx, %flag[%c0] ge %v : memref<1xi64>, i64:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 global_load_dword s_load_dwordx2 vmcnt(0) s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword loop[ buffer_inv sc0 sc1 global_load_dword vmcnt(0) global_store_dword global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] ]
// %c1  symm.fence:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword global_load_dword s_load_dwordx2 vmcnt(0) s_load_dwordx2 s_load_dwordx2 loop[ buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 global_load_dword vmcnt(0) global_store_dword ] ]
// %rank  -:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword s_load_dword s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword loop[ global_load_dword vmcnt(0) global_store_dword ] ]
// %rank  symm.wait %ctx, %flag[%c0] ge %v : memref<1xi64>, i64:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword s_load_dword s_load_dwordx2 s_load_dword s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 loop[ buffer_inv sc0 sc1 global_load_dword vmcnt(0) global_store_dword global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] ]
// %rank  symm.fence:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword s_load_dword s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword loop[ buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 global_load_dword vmcnt(0) global_store_dword ] ]
// %next  -:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword s_load_dword s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 loop[ global_load_dword vmcnt(0) global_store_dword ] ]
// %next  symm.wait %ctx, %flag[%c0] ge %v : memref<1xi64>, i64:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword s_load_dword s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 loop[ buffer_inv sc0 sc1 global_load_dword vmcnt(0) global_store_dword global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] ]
// %next  symm.fence:
//     s_load_dwordx2 if[ s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 s_load_dword s_load_dword s_load_dwordx2 s_load_dwordx2 s_load_dwordx2 loop[ buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 global_load_dword vmcnt(0) global_store_dword ] ]
