// Cache modifiers and volatile on gfx942: wt writes through as a volatile store does; the others are hints that it has
// no use for.
// RUN: %golden %sequences %s --chip gfx942 --without 'vmcnt.*'
// EACH type; element: i8; i8 | f16; f16 | f32; f32 | f64; f64
// EACH type; element: vector<4xf32>; f32 | vector<8xf16>; f16
// EACH called; modifier: plain; | cache cg; cache cg | cache cs; cache cs | cache wb; cache wb | cache wt; cache wt
// EACH called; modifier: volatile; volatile
// EACH called; mask: unmasked; | masked; mask %in : i1
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?x{element}>, %peer: i32, %delta: i64, %in: i1,
    %v: {type}) kernel {
  %i = gpu.thread_id x
  symm.remote_store %ctx, %m[%i], %v, %peer via %delta {mask} {modifier} : memref<?x{element}>, {type}
  gpu.return
}

// OUTPUT:
// i8  plain|cache cg|cache cs|cache wb  unmasked:
//     global_store_byte
// i8  plain|cache cg|cache cs|cache wb  masked:
//     if[ global_store_byte ]
// i8  cache wt|volatile  unmasked:
//     global_store_byte sc0 sc1
// i8  cache wt|volatile  masked:
//     if[ global_store_byte sc0 sc1 ]
// f16  plain|cache cg|cache cs|cache wb  unmasked:
//     global_store_short_d16_hi
// f16  plain|cache cg|cache cs|cache wb  masked:
//     if[ global_store_short_d16_hi ]
// f16  cache wt|volatile  unmasked:
//     global_store_short_d16_hi sc0 sc1
// f16  cache wt|volatile  masked:
//     if[ global_store_short_d16_hi sc0 sc1 ]
// f32  plain|cache cg|cache cs|cache wb  unmasked:
//     global_store_dword
// f32  plain|cache cg|cache cs|cache wb  masked:
//     if[ global_store_dword ]
// f32  cache wt|volatile  unmasked:
//     global_store_dword sc0 sc1
// f32  cache wt|volatile  masked:
//     if[ global_store_dword sc0 sc1 ]
// f64  plain|cache cg|cache cs|cache wb  unmasked:
//     global_store_dwordx2
// f64  plain|cache cg|cache cs|cache wb  masked:
//     if[ global_store_dwordx2 ]
// f64  cache wt|volatile  unmasked:
//     global_store_dwordx2 sc0 sc1
// f64  cache wt|volatile  masked:
//     if[ global_store_dwordx2 sc0 sc1 ]
// vector<4xf32>|vector<8xf16>  plain|cache cg|cache cs|cache wb  unmasked:
//     global_store_dwordx4
// vector<4xf32>|vector<8xf16>  plain|cache cg|cache cs|cache wb  masked:
//     if[ global_store_dwordx4 ]
// vector<4xf32>|vector<8xf16>  cache wt|volatile  unmasked:
//     global_store_dwordx4 sc0 sc1
// vector<4xf32>|vector<8xf16>  cache wt|volatile  masked:
//     if[ global_store_dwordx4 sc0 sc1 ]
