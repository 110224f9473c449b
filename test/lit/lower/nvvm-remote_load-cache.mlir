// Cache modifiers and volatile in PTX: the modifier is in the instruction.
// RUN: %golden %sequences %s --chip sm_90
// EACH type; element: i1; i1 | i8; i8 | f16; f16 | f32; f32 | f64; f64
// EACH type; element: vector<4xf32>; f32 | vector<8xf16>; f16
// EACH called; modifier: plain; | cache ca; cache ca | cache cg; cache cg | cache cs; cache cs | cache cv; cache cv
// EACH called; modifier: volatile; volatile
// EACH called; mask; other: unmasked; ; | masked; mask %in : i1; | masked with other; mask %in : i1; other %o : {type}
gpu.func @{name}(%ctx: !symm.ctx, %m: memref<?x{element}>, %peer: i32, %delta: i64, %in: i1, %o: {type},
    %local: memref<?x{type}>) kernel {
  %i = gpu.thread_id x
  %v = symm.remote_load %ctx, %m[%i], %peer via %delta {mask} {other} {modifier} : memref<?x{element}> -> {type}
  memref.store %v, %local[%i] : memref<?x{type}>
  gpu.return
}

// OUTPUT:
// i1|i8  plain  unmasked:
//     ld.global.b8 st.global.b8
// i1|i8  plain  masked|masked with other:
//     if[ ld.global.b8 ] st.global.b8
// i1|i8  cache ca  unmasked:
//     ld.global.ca.b8 st.global.b8
// i1|i8  cache ca  masked|masked with other:
//     if[ ld.global.ca.b8 ] st.global.b8
// i1|i8  cache cg  unmasked:
//     ld.global.cg.b8 st.global.b8
// i1|i8  cache cg  masked|masked with other:
//     if[ ld.global.cg.b8 ] st.global.b8
// i1|i8  cache cs  unmasked:
//     ld.global.cs.b8 st.global.b8
// i1|i8  cache cs  masked|masked with other:
//     if[ ld.global.cs.b8 ] st.global.b8
// i1|i8  cache cv  unmasked:
//     ld.global.cv.b8 st.global.b8
// i1|i8  cache cv  masked|masked with other:
//     if[ ld.global.cv.b8 ] st.global.b8
// i1|i8  volatile  unmasked:
//     ld.volatile.global.b8 st.global.b8
// i1|i8  volatile  masked|masked with other:
//     if[ ld.volatile.global.b8 ] st.global.b8
// f16  plain  unmasked:
//     ld.global.b16 st.global.b16
// f16  plain  masked|masked with other:
//     if[ ld.global.b16 ] st.global.b16
// f16  cache ca  unmasked:
//     ld.global.ca.b16 st.global.b16
// f16  cache ca  masked|masked with other:
//     if[ ld.global.ca.b16 ] st.global.b16
// f16  cache cg  unmasked:
//     ld.global.cg.b16 st.global.b16
// f16  cache cg  masked|masked with other:
//     if[ ld.global.cg.b16 ] st.global.b16
// f16  cache cs  unmasked:
//     ld.global.cs.b16 st.global.b16
// f16  cache cs  masked|masked with other:
//     if[ ld.global.cs.b16 ] st.global.b16
// f16  cache cv  unmasked:
//     ld.global.cv.b16 st.global.b16
// f16  cache cv  masked|masked with other:
//     if[ ld.global.cv.b16 ] st.global.b16
// f16  volatile  unmasked:
//     ld.volatile.global.b16 st.global.b16
// f16  volatile  masked|masked with other:
//     if[ ld.volatile.global.b16 ] st.global.b16
// f32  plain  unmasked:
//     ld.global.b32 st.global.b32
// f32  plain  masked|masked with other:
//     if[ ld.global.b32 ] st.global.b32
// f32  cache ca  unmasked:
//     ld.global.ca.b32 st.global.b32
// f32  cache ca  masked|masked with other:
//     if[ ld.global.ca.b32 ] st.global.b32
// f32  cache cg  unmasked:
//     ld.global.cg.b32 st.global.b32
// f32  cache cg  masked|masked with other:
//     if[ ld.global.cg.b32 ] st.global.b32
// f32  cache cs  unmasked:
//     ld.global.cs.b32 st.global.b32
// f32  cache cs  masked|masked with other:
//     if[ ld.global.cs.b32 ] st.global.b32
// f32  cache cv  unmasked:
//     ld.global.cv.b32 st.global.b32
// f32  cache cv  masked|masked with other:
//     if[ ld.global.cv.b32 ] st.global.b32
// f32  volatile  unmasked:
//     ld.volatile.global.b32 st.global.b32
// f32  volatile  masked|masked with other:
//     if[ ld.volatile.global.b32 ] st.global.b32
// f64  plain  unmasked:
//     ld.global.b64 st.global.b64
// f64  plain  masked|masked with other:
//     if[ ld.global.b64 ] st.global.b64
// f64  cache ca  unmasked:
//     ld.global.ca.b64 st.global.b64
// f64  cache ca  masked|masked with other:
//     if[ ld.global.ca.b64 ] st.global.b64
// f64  cache cg  unmasked:
//     ld.global.cg.b64 st.global.b64
// f64  cache cg  masked|masked with other:
//     if[ ld.global.cg.b64 ] st.global.b64
// f64  cache cs  unmasked:
//     ld.global.cs.b64 st.global.b64
// f64  cache cs  masked|masked with other:
//     if[ ld.global.cs.b64 ] st.global.b64
// f64  cache cv  unmasked:
//     ld.global.cv.b64 st.global.b64
// f64  cache cv  masked|masked with other:
//     if[ ld.global.cv.b64 ] st.global.b64
// f64  volatile  unmasked:
//     ld.volatile.global.b64 st.global.b64
// f64  volatile  masked|masked with other:
//     if[ ld.volatile.global.b64 ] st.global.b64
// vector<4xf32>|vector<8xf16>  plain  unmasked:
//     ld.global.v4.b32 st.global.v4.b32
// vector<4xf32>|vector<8xf16>  plain  masked|masked with other:
//     if[ ld.global.v4.b32 ] st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache ca  unmasked:
//     ld.global.ca.v4.b32 st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache ca  masked|masked with other:
//     if[ ld.global.ca.v4.b32 ] st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache cg  unmasked:
//     ld.global.cg.v4.b32 st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache cg  masked|masked with other:
//     if[ ld.global.cg.v4.b32 ] st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache cs  unmasked:
//     ld.global.cs.v4.b32 st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache cs  masked|masked with other:
//     if[ ld.global.cs.v4.b32 ] st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache cv  unmasked:
//     ld.global.cv.v4.b32 st.global.v4.b32
// vector<4xf32>|vector<8xf16>  cache cv  masked|masked with other:
//     if[ ld.global.cv.v4.b32 ] st.global.v4.b32
// vector<4xf32>|vector<8xf16>  volatile  unmasked:
//     ld.volatile.global.v4.b32 st.global.v4.b32
// vector<4xf32>|vector<8xf16>  volatile  masked|masked with other:
//     if[ ld.volatile.global.v4.b32 ] st.global.v4.b32
