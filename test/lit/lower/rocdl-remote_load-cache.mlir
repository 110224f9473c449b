// Cache modifiers and volatile on gfx942: cv fetches again as a volatile load does; the others are hints that it has
// no use for.
// RUN: %golden %sequences %s --chip gfx942 --without 'vmcnt.*'
// EACH type; element: i8; i8 | f16; f16 | f32; f32 | f64; f64
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
// i8  plain|cache ca|cache cg|cache cs  unmasked:
//     global_load_ubyte global_store_byte
// i8  plain|cache ca|cache cg|cache cs  masked|masked with other:
//     if[ global_load_ubyte ] global_store_byte
// i8  cache cv|volatile  unmasked:
//     global_load_ubyte sc0 sc1 global_store_byte
// i8  cache cv|volatile  masked|masked with other:
//     if[ global_load_ubyte sc0 sc1 ] global_store_byte
// f16  plain|cache ca|cache cg|cache cs  unmasked:
//     global_load_ushort global_store_short
// f16  plain|cache ca|cache cg|cache cs  masked|masked with other:
//     if[ global_load_ushort ] global_store_short
// f16  cache cv|volatile  unmasked:
//     global_load_ushort sc0 sc1 global_store_short
// f16  cache cv|volatile  masked|masked with other:
//     if[ global_load_ushort sc0 sc1 ] global_store_short
// f32  plain|cache ca|cache cg|cache cs  unmasked:
//     global_load_dword global_store_dword
// f32  plain|cache ca|cache cg|cache cs  masked|masked with other:
//     if[ global_load_dword ] global_store_dword
// f32  cache cv|volatile  unmasked:
//     global_load_dword sc0 sc1 global_store_dword
// f32  cache cv|volatile  masked|masked with other:
//     if[ global_load_dword sc0 sc1 ] global_store_dword
// f64  plain|cache ca|cache cg|cache cs  unmasked:
//     global_load_dwordx2 global_store_dwordx2
// f64  plain|cache ca|cache cg|cache cs  masked|masked with other:
//     if[ global_load_dwordx2 ] global_store_dwordx2
// f64  cache cv|volatile  unmasked:
//     global_load_dwordx2 sc0 sc1 global_store_dwordx2
// f64  cache cv|volatile  masked|masked with other:
//     if[ global_load_dwordx2 sc0 sc1 ] global_store_dwordx2
// vector<4xf32>|vector<8xf16>  plain|cache ca|cache cg|cache cs  unmasked:
//     global_load_dwordx4 global_store_dwordx4
// vector<4xf32>|vector<8xf16>  plain|cache ca|cache cg|cache cs  masked|masked with other:
//     if[ global_load_dwordx4 ] global_store_dwordx4
// vector<4xf32>|vector<8xf16>  cache cv|volatile  unmasked:
//     global_load_dwordx4 sc0 sc1 global_store_dwordx4
// vector<4xf32>|vector<8xf16>  cache cv|volatile  masked|masked with other:
//     if[ global_load_dwordx4 sc0 sc1 ] global_store_dwordx4
