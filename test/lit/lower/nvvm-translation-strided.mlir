// With a strided heap no base is loaded at all in PTX: the distance is arithmetic on the rank, which is read once from
// the table (ld.global.nc) before the loop (T5).
// RUN: %golden %sequences %s --chip sm_90
// MODULE: symm.heap_stride = 1073741824 : i64
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
//     ld.global.nc.b64 if[ ld.global.b32 loop[ ld.global.b32 st.global.b32 ] ]
// %c1  symm.wait %ctx, %flag[%c0] ge %v : memref<1xi64>, i64:
//     ld.global.nc.b64 if[ ld.global.b32 loop[ fence.acq_rel.sys ld.global.b32 st.global.b32 ld.acquire.sys.global.b64 ld.relaxed.sys.global.b64 nanosleep.u32 ] ]
// %c1  symm.fence:
//     ld.global.nc.b64 if[ ld.global.b32 loop[ fence.acq_rel.sys ld.global.b32 st.global.b32 ] ]
// %rank|%next  -:
//     ld.global.nc.b64 ld.global.nc.b32 if[ loop[ ld.global.b32 st.global.b32 ] ]
// %rank|%next  symm.wait %ctx, %flag[%c0] ge %v : memref<1xi64>, i64:
//     ld.global.nc.b64 ld.global.nc.b32 if[ loop[ fence.acq_rel.sys ld.global.b32 st.global.b32 ld.acquire.sys.global.b64 ld.relaxed.sys.global.b64 nanosleep.u32 ] ]
// %rank|%next  symm.fence:
//     ld.global.nc.b64 ld.global.nc.b32 if[ loop[ fence.acq_rel.sys ld.global.b32 st.global.b32 ] ]
