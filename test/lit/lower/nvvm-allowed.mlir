// On sm_90 the scope cluster and fadd of bf16, which older chips lack (nvvm-invalid.mlir). Without the check of orders
// that would widen the scope.
// RUN: %golden %sequences %s --chip sm_90 --pipeline 'symm-lower-to-nvvm,convert-scf-to-cf,gpu.module(convert-gpu-to-nvvm),reconcile-unrealized-casts'
// EACH called; op: signal set; symm.signal set %ctx, %f[%c0], %v, %peer scope cluster : memref<1xi64>, i64
// EACH called; op: signal add; symm.signal add %ctx, %f[%c0], %v, %peer scope cluster : memref<1xi64>, i64
// EACH called; op: wait; symm.wait %ctx, %f[%c0] ge %v scope cluster : memref<1xi64>, i64
// EACH called; op: atomic_rmw; %old = symm.atomic_rmw add %ctx, %f[%c0], %v, %peer scope cluster : memref<1xi64>, i64
// EACH called; op: atomic_cas; %old = symm.atomic_cas %ctx, %f[%c0], %v, %v, %peer scope cluster : memref<1xi64>, i64
// EACH called; op: fence; symm.fence scope cluster
// EACH called; op: narrower signal; symm.signal add %ctx, %f[%c0], %v, %peer scope gpu : memref<1xi64>, i64
// EACH called; op: narrower wait; symm.wait %ctx, %f[%c0] ge %v scope cta : memref<1xi64>, i64
// EACH called; op: fadd bf16; %old = symm.atomic_rmw fadd %ctx, %g[%c0], %x, %peer : memref<1xbf16>, bf16
// MODULE: symm.heap_stride = 1073741824 : i64
gpu.func @{name}(%ctx: !symm.ctx, %f: memref<1xi64>, %g: memref<1xbf16>, %v: i64, %x: bf16, %peer: i32) kernel {
  %c0 = arith.constant 0 : index
  {op}
  gpu.return
}

// OUTPUT:
// signal set:
//     ld.global.nc.b64 ld.global.nc.b32 st.release.cluster.global.b64
// signal add:
//     ld.global.nc.b64 ld.global.nc.b32 atom.release.cluster.global.add.u64
// wait:
//     loop[ ld.acquire.cluster.global.b64 ] if[ loop[ ld.relaxed.cluster.global.b64 nanosleep.u32 ] fence.acq_rel.cluster ]
// atomic_rmw:
//     ld.global.nc.b64 ld.global.nc.b32 atom.acq_rel.cluster.global.add.u64
// atomic_cas:
//     ld.global.nc.b64 ld.global.nc.b32 atom.acq_rel.cluster.global.cas.b64
// fence:
//     fence.acq_rel.cluster
// narrower signal:
//     ld.global.nc.b64 ld.global.nc.b32 atom.release.gpu.global.add.u64
// narrower wait:
//     loop[ ld.acquire.cta.global.b64 ] if[ loop[ ld.relaxed.cta.global.b64 nanosleep.u32 ] fence.acq_rel.cta ]
// fadd bf16:
//     ld.global.nc.b64 ld.global.nc.b32 atom.acq_rel.sys.global.add.noftz.bf16
