// gfx90a with a heap that is not cached: `glc` stands for sc0, and L2 is written back (buffer_wbl2) and invalidated
// (buffer_invl2, buffer_wbinvl1_vol).
// RUN: %golden %sequences %s --chip gfx90a --pipeline 'symm-rocdl{chip=gfx90a fine-grained-heap=true}'
// MODULE: symm.heap_stride = 1073741824 : i64
// EACH called; op: set i64; symm.signal set %ctx, %f[%i], %v, %peer via %delta group block : memref<?xi64>, i64
// EACH called; op: add i64; symm.signal add %ctx, %f[%i], %v, %peer via %delta group block : memref<?xi64>, i64
// EACH called; op: wait; symm.wait %ctx, %f[%i] ge %v group block : memref<?xi64>, i64
// EACH called; op: timeout; %seen = symm.wait %ctx, %f[%i] ge %v timeout %v group block : memref<?xi64>, i64 -> i1
// EACH called; op: add; %old = symm.atomic_rmw add %ctx, %f[%i], %v, %peer via %delta : memref<?xi64>, i64
// EACH called; op: fadd f32; %old = symm.atomic_rmw fadd %ctx, %m[%i], %x, %peer via %delta : memref<?xf32>, f32
// EACH called; op: fadd f16; %old = symm.atomic_rmw fadd %ctx, %h[%i], %y, %peer via %delta : memref<?xf16>, f16
// EACH called; op: xchg f16; %old = symm.atomic_rmw xchg %ctx, %h[%i], %y, %peer via %delta : memref<?xf16>, f16
// EACH called; op: cas; %old = symm.atomic_cas %ctx, %f[%i], %v, %v, %peer via %delta : memref<?xi64>, i64
// EACH called; op: fence; symm.fence
// EACH called; op: store; symm.remote_store %ctx, %m[%i], %z, %peer via %delta : memref<?xf32>, vector<4xf32>
// EACH called; op: barrier; symm.barrier %ctx group block
gpu.func @{name}(%ctx: !symm.ctx, %f: memref<?xi64>, %m: memref<?xf32>, %h: memref<?xf16>, %v: i64, %x: f32, %y: f16,
    %z: vector<4xf32>, %peer: i32, %delta: i64) kernel {
  %i = gpu.thread_id x
  {op}
  gpu.return
}

// OUTPUT:
// set i64:
//     vmcnt(0) s_barrier if[ buffer_wbl2 vmcnt(0) global_store_dwordx2 ]
// add i64:
//     vmcnt(0) s_barrier if[ buffer_wbl2 vmcnt(0) global_atomic_add_x2 ]
// wait:
//     if[ loop[ global_load_dwordx2 glc vmcnt(0) s_sleep ] buffer_invl2 buffer_wbinvl1_vol ] s_barrier
// timeout:
//     if[ s_memrealtime loop[ global_load_dwordx2 glc s_memrealtime vmcnt(0) s_sleep ] buffer_invl2 buffer_wbinvl1_vol ds_write_b32 ] s_barrier ds_read_b32 s_barrier
// add:
//     buffer_wbl2 vmcnt(0) global_atomic_add_x2 vmcnt(0) buffer_invl2 buffer_wbinvl1_vol
// fadd f32|fadd f16|xchg f16:
//     buffer_wbl2 vmcnt(0) global_load_dword loop[ vmcnt(0) global_atomic_cmpswap glc vmcnt(0) buffer_invl2 buffer_wbinvl1_vol ]
// cas:
//     buffer_wbl2 vmcnt(0) global_atomic_cmpswap_x2 vmcnt(0) buffer_invl2 buffer_wbinvl1_vol
// fence:
//     buffer_wbl2 vmcnt(0) buffer_invl2 buffer_wbinvl1_vol
// store:
//     global_store_dwordx4
// barrier:
//     vmcnt(0) s_barrier if[ global_store_dwordx2 buffer_wbl2 vmcnt(0) loop[ global_store_dwordx2 ] loop[ global_load_dwordx2 glc vmcnt(0) s_sleep ] buffer_invl2 buffer_wbinvl1_vol ] s_barrier
