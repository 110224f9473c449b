// Volatile under a mask of lanes: a volatile access of the whole vector where all lanes are on, else a volatile one of
// each lane that is on. A vector that is not aligned as a whole has the lanes' alone.
// RUN: %golden %sequences %s --chip sm_90
// EACH type; mask; each: vector<4xf32>; vector<4xi1>; 4 | vector<2xf16>; vector<2xi1>; 2
// EACH other; o: zero; | other; other %o : {type}
// EACH alignment; attributes: whole; | lane; {alignment = {each} : i64}
gpu.func @{name}(%ctx: !symm.ctx, %p: !llvm.ptr, %peer: i32, %delta: i64, %in: {mask}, %o: {type},
    %local: memref<?x{type}>) kernel {
  %i = gpu.thread_id x
  %v = symm.remote_load %ctx, %p, %peer via %delta mask %in : {mask} {o} volatile {attributes} : !llvm.ptr -> {type}
  memref.store %v, %local[%i] : memref<?x{type}>
  symm.remote_store %ctx, %p, %o, %peer via %delta mask %in : {mask} volatile {attributes} : !llvm.ptr, {type}
  gpu.return
}

// OUTPUT:
// vector<4xf32>  zero  whole:
//     if[ ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.v4.b32 ] st.global.v4.b32 if[ st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.v4.b32 ]
// vector<4xf32>  zero  lane:
//     if[ ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.b32 ] st.global.v4.b32 if[ st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 ]
// vector<4xf32>  other  whole:
//     if[ ld.volatile.global.b32 ld.volatile.global.v4.b32 ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.b32 ] st.global.v4.b32 if[ st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.v4.b32 ]
// vector<4xf32>  other  lane:
//     if[ ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.b32 ld.volatile.global.b32 ] st.global.v4.b32 if[ st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 st.volatile.global.b32 ]
// vector<2xf16>  zero  whole:
//     if[ ld.volatile.global.b16 ld.volatile.global.b16 ld.volatile.global.b32 ] st.global.b32 if[ st.volatile.global.b16 st.volatile.global.b16 st.volatile.global.b32 ]
// vector<2xf16>  zero  lane:
//     if[ ld.volatile.global.b16 ld.volatile.global.b16 ] st.global.v2.b16 if[ st.volatile.global.b16 st.volatile.global.b16 ]
// vector<2xf16>  other  whole:
//     if[ ld.volatile.global.b16 ld.volatile.global.b32 ld.volatile.global.b16 ] st.global.b32 if[ st.volatile.global.b16 st.volatile.global.b16 st.volatile.global.b32 ]
// vector<2xf16>  other  lane:
//     if[ ld.volatile.global.b16 ld.volatile.global.b16 ] st.global.v2.b16 if[ st.volatile.global.b16 st.volatile.global.b16 ]
