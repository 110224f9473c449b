// Every read-modify-write on gfx942, at system scope (sc1) whatever narrower one was asked for (O2). A release is a
// write-back of L2 that is waited for, before a relaxed or acquire atomic; an acquire invalidates afterwards.
// RUN: %golden %sequences %s --chip gfx942
// EACH kind; type: add; i32 | add; i64 | sub; i32 | sub; i64 | and; i32 | and; i64 | or; i32 | or; i64 | xor; i32
// EACH kind; type: xor; i64 | min; i32 | min; i64 | max; i32 | max; i64 | umin; i32 | umin; i64 | umax; i32
// EACH kind; type: umax; i64 | fadd; f16 | fadd; bf16 | fadd; f32 | fadd; f64 | xchg; i32 | xchg; i64 | xchg; f16
// EACH kind; type: xchg; bf16 | xchg; f32 | xchg; f64
// EACH sem: relaxed | acquire | release | acq_rel
// EACH called; scope; mask: cta; cta; | cluster; cluster; | gpu; gpu; | sys; sys; | masked; sys; mask %in : i1
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?x{type}>, %i: index, %v: {type}, %peer: i32, %delta: i64,
    %in: i1) kernel {
  %lane = gpu.thread_id x
  %old = symm.atomic_rmw {kind} %ctx, %m[%lane], %v, %peer via %delta {mask} sem {sem} scope {scope}
    : memref<?x{type}>, {type}
  gpu.return
}

// OUTPUT:
// add i32  relaxed  cta|cluster|gpu|sys:
//     global_atomic_add sc1
// add i32  relaxed  masked:
//     if[ global_atomic_add sc1 ]
// add i32  acquire  cta|cluster|gpu|sys:
//     global_atomic_add sc1 vmcnt(0) buffer_inv sc0 sc1
// add i32  acquire  masked:
//     if[ global_atomic_add sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// add i32  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1
// add i32  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1 ]
// add i32  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1 vmcnt(0) buffer_inv sc0 sc1
// add i32  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// add i64  relaxed  cta|cluster|gpu|sys:
//     global_atomic_add_x2 sc1
// add i64  relaxed  masked:
//     if[ global_atomic_add_x2 sc1 ]
// add i64  acquire  cta|cluster|gpu|sys:
//     global_atomic_add_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// add i64  acquire  masked:
//     if[ global_atomic_add_x2 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// add i64  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1
// add i64  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 ]
// add i64  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// add i64  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_add_x2 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  relaxed  cta|cluster|gpu|sys:
//     global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  relaxed  masked:
//     if[ global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) ] ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  acquire  cta|cluster|gpu|sys:
//     global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  acquire  masked:
//     if[ global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ] ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) ] ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// sub i32|and i32|or i32|xor i32|min i32|max i32|umin i32|umax i32|fadd f16|fadd bf16|fadd f32|xchg f16|xchg bf16  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dword loop[ vmcnt(0) global_atomic_cmpswap sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ] ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  relaxed  cta|cluster|gpu|sys:
//     global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  relaxed  masked:
//     if[ global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) ] ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  acquire  cta|cluster|gpu|sys:
//     global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  acquire  masked:
//     if[ global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ] ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) ] ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// sub i64|and i64|or i64|xor i64|min i64|max i64|umin i64|umax i64|fadd f64  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_load_dwordx2 loop[ vmcnt(0) global_atomic_cmpswap_x2 sc0 sc1 vmcnt(0) buffer_inv sc0 sc1 ] ]
// xchg i32|xchg f32  relaxed  cta|cluster|gpu|sys:
//     global_atomic_swap sc1
// xchg i32|xchg f32  relaxed  masked:
//     if[ global_atomic_swap sc1 ]
// xchg i32|xchg f32  acquire  cta|cluster|gpu|sys:
//     global_atomic_swap sc1 vmcnt(0) buffer_inv sc0 sc1
// xchg i32|xchg f32  acquire  masked:
//     if[ global_atomic_swap sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// xchg i32|xchg f32  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap sc1
// xchg i32|xchg f32  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap sc1 ]
// xchg i32|xchg f32  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap sc1 vmcnt(0) buffer_inv sc0 sc1
// xchg i32|xchg f32  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// xchg i64|xchg f64  relaxed  cta|cluster|gpu|sys:
//     global_atomic_swap_x2 sc1
// xchg i64|xchg f64  relaxed  masked:
//     if[ global_atomic_swap_x2 sc1 ]
// xchg i64|xchg f64  acquire  cta|cluster|gpu|sys:
//     global_atomic_swap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// xchg i64|xchg f64  acquire  masked:
//     if[ global_atomic_swap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
// xchg i64|xchg f64  release  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap_x2 sc1
// xchg i64|xchg f64  release  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap_x2 sc1 ]
// xchg i64|xchg f64  acq_rel  cta|cluster|gpu|sys:
//     buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1
// xchg i64|xchg f64  acq_rel  masked:
//     if[ buffer_wbl2 sc0 sc1 vmcnt(0) global_atomic_swap_x2 sc1 vmcnt(0) buffer_inv sc0 sc1 ]
