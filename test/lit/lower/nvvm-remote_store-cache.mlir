// Cache modifiers and volatile in PTX: the modifier is in the instruction.
// RUN: %golden %sequences %s --chip sm_90
// EACH type; element: i1; i1 | i8; i8 | f16; f16 | f32; f32 | f64; f64
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
// i1|i8  plain  unmasked:
//     st.global.b8
// i1|i8  plain  masked:
//     if[ st.global.b8 ]
// i1|i8  cache cg  unmasked:
//     st.global.cg.b8
// i1|i8  cache cg  masked:
//     if[ st.global.cg.b8 ]
// i1|i8  cache cs  unmasked:
//     st.global.cs.b8
// i1|i8  cache cs  masked:
//     if[ st.global.cs.b8 ]
// i1|i8  cache wb  unmasked:
//     st.global.wb.b8
// i1|i8  cache wb  masked:
//     if[ st.global.wb.b8 ]
// i1|i8  cache wt  unmasked:
//     st.global.wt.b8
// i1|i8  cache wt  masked:
//     if[ st.global.wt.b8 ]
// i1|i8  volatile  unmasked:
//     st.volatile.global.b8
// i1|i8  volatile  masked:
//     if[ st.volatile.global.b8 ]
// f16  plain  unmasked:
//     st.global.b16
// f16  plain  masked:
//     if[ st.global.b16 ]
// f16  cache cg  unmasked:
//     st.global.cg.b16
// f16  cache cg  masked:
//     if[ st.global.cg.b16 ]
// f16  cache cs  unmasked:
//     st.global.cs.b16
// f16  cache cs  masked:
//     if[ st.global.cs.b16 ]
// f16  cache wb  unmasked:
//     st.global.wb.b16
// f16  cache wb  masked:
//     if[ st.global.wb.b16 ]
// f16  cache wt  unmasked:
//     st.global.wt.b16
// f16  cache wt  masked:
//     if[ st.global.wt.b16 ]
// f16  volatile  unmasked:
//     st.volatile.global.b16
// f16  volatile  masked:
//     if[ st.volatile.global.b16 ]
// f32  plain  unmasked:
//     st.global.b32
// f32  plain  masked:
//     if[ st.global.b32 ]
// f32  cache cg  unmasked:
//     st.global.cg.b32
// f32  cache cg  masked:
//     if[ st.global.cg.b32 ]
// f32  cache cs  unmasked:
//     st.global.cs.b32
// f32  cache cs  masked:
//     if[ st.global.cs.b32 ]
// f32  cache wb  unmasked:
//     st.global.wb.b32
// f32  cache wb  masked:
//     if[ st.global.wb.b32 ]
// f32  cache wt  unmasked:
//     st.global.wt.b32
// f32  cache wt  masked:
//     if[ st.global.wt.b32 ]
// f32  volatile  unmasked:
//     st.volatile.global.b32
// f32  volatile  masked:
//     if[ st.volatile.global.b32 ]
// f64  plain  unmasked:
//     st.global.b64
// f64  plain  masked:
//     if[ st.global.b64 ]
// f64  cache cg  unmasked:
//     st.global.cg.b64
// f64  cache cg  masked:
//     if[ st.global.cg.b64 ]
// f64  cache cs  unmasked:
//     st.global.cs.b64
// f64  cache cs  masked:
//     if[ st.global.cs.b64 ]
// f64  cache wb  unmasked:
//     st.global.wb.b64
// f64  cache wb  masked:
//     if[ st.global.wb.b64 ]
// f64  cache wt  unmasked:
//     st.global.wt.b64
// f64  cache wt  masked:
//     if[ st.global.wt.b64 ]
// f64  volatile  unmasked:
//     st.volatile.global.b64
// f64  volatile  masked:
//     if[ st.volatile.global.b64 ]
// vector<4xf32>|vector<8xf16>  plain  unmasked:
//     st.global.v4.b32
// vector<4xf32>|vector<8xf16>  plain  masked:
//     if[ st.global.v4.b32 ]
// vector<4xf32>|vector<8xf16>  cache cg  unmasked:
//     st.global.cg.v4.b32
// vector<4xf32>|vector<8xf16>  cache cg  masked:
//     if[ st.global.cg.v4.b32 ]
// vector<4xf32>|vector<8xf16>  cache cs  unmasked:
//     st.global.cs.v4.b32
// vector<4xf32>|vector<8xf16>  cache cs  masked:
//     if[ st.global.cs.v4.b32 ]
// vector<4xf32>|vector<8xf16>  cache wb  unmasked:
//     st.global.wb.v4.b32
// vector<4xf32>|vector<8xf16>  cache wb  masked:
//     if[ st.global.wb.v4.b32 ]
// vector<4xf32>|vector<8xf16>  cache wt  unmasked:
//     st.global.wt.v4.b32
// vector<4xf32>|vector<8xf16>  cache wt  masked:
//     if[ st.global.wt.v4.b32 ]
// vector<4xf32>|vector<8xf16>  volatile  unmasked:
//     st.volatile.global.v4.b32
// vector<4xf32>|vector<8xf16>  volatile  masked:
//     if[ st.volatile.global.v4.b32 ]
