// gfx950: the same sequences as on gfx942.
// RUN: %golden %sequences %s --chip gfx950
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
//     buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_store_dwordx2 sc0 sc1 ]
// add i64:
//     buffer_wbl2 sc1 vmcnt(0) s_barrier if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 ]
// wait:
//     if[ loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ] s_barrier
// timeout:
//     if[ s_memrealtime loop[ global_load_dwordx2 sc0 sc1 s_memrealtime vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ds_write_b32 ] s_barrier ds_read_b32 s_barrier
// add:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// fadd f32|fadd f16|xchg f16:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// cas:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_cmpswap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// fence:
//     buffer_wbl2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1
// store:
//     global_store_dwordx4
// barrier:
//     buffer_wbl2 sc1 vmcnt(0) s_barrier if[ global_store_dwordx2 buffer_wbl2 sc0 sc1 vmcnt(0) loop[ global_store_dwordx2 sc0 sc1 ] loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) s_sleep ] buffer_inv sc0 sc1 ] s_barrier
