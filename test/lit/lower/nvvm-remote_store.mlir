// Every remote store in PTX: a vector of 16 bytes is one access of 128 bits, whatever the pointer and the mask.
// RUN: %golden %sequences %s --chip sm_90
// EACH type; element; lanes: i8; i8; i1 | i16; i16; i1 | i32; i32; i1 | i64; i64; i1
// EACH type; element; lanes: index; index; i1 | f16; f16; i1 | bf16; bf16; i1 | f32; f32; i1 | f64; f64; i1
// EACH type; element; lanes: vector<2xf16>; f16; vector<2xi1> | vector<8xf16>; f16; vector<8xi1>
// EACH type; element; lanes: vector<4xf32>; f32; vector<4xi1> | vector<16xi8>; i8; vector<16xi1>
// EACH type; element; lanes: vector<2xf64>; f64; vector<2xi1> | vector<8xf32>; f32; vector<8xi1>
// EACH called; place; pointer: ptr; %q; !llvm.ptr | memref; %m[%i]; memref<?x{element}>
// EACH called; place; pointer: offset; %s[%i]; memref<?x{element}, strided<[1], offset: ?>>
// EACH called; place; pointer: global; %g[%i]; memref<?x{element}, 1>
// EACH called; mask: unmasked; | one mask; mask %in : i1 | a mask a lane; mask %lane : {lanes}
gpu.func @{name}(%ctx: !symm.ctx, %p: !llvm.ptr, %m: memref<?x{element}>,
    %s: memref<?x{element}, strided<[1], offset: ?>>, %g: memref<?x{element}, 1>, %peer: i32, %delta: i64,
    %in: i1, %lane: {lanes}, %local: memref<?x{type}>, %v: {type}) kernel {
  %i = gpu.thread_id x
  %c64 = arith.constant 64 : index
  %bytes = arith.muli %i, %c64 : index
  %byte = arith.index_cast %bytes : index to i64
  %q = llvm.getelementptr %p[%byte] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  symm.remote_store %ctx, {place}, %v, %peer via %delta {mask} : {pointer}, {type}
  gpu.return
}

// OUTPUT:
// i8  ptr|memref|offset|global  unmasked:
//     st.global.b8
// i8  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ st.global.b8 ]
// i16|f16|bf16  ptr|memref|offset|global  unmasked:
//     st.global.b16
// i16|f16|bf16  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ st.global.b16 ]
// i32|f32  ptr|memref|offset|global  unmasked:
//     st.global.b32
// i32|f32  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ st.global.b32 ]
// i64|index|f64  ptr|memref|offset|global  unmasked:
//     st.global.b64
// i64|index|f64  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ st.global.b64 ]
// vector<2xf16>  ptr|memref|offset|global  unmasked:
//     st.global.b32
// vector<2xf16>  ptr|memref|offset|global  one mask:
//     if[ st.global.b32 ]
// vector<2xf16>  ptr|memref|offset|global  a mask a lane:
//     if[ st.global.b16 st.global.b16 st.global.b32 ]
// vector<8xf16>  ptr|memref|offset|global  unmasked:
//     st.global.v4.b32
// vector<8xf16>  ptr|memref|offset|global  one mask:
//     if[ st.global.v4.b32 ]
// vector<8xf16>  ptr|memref|offset|global  a mask a lane:
//     if[ st.global.b16 st.global.b16 st.global.b16 st.global.b16 st.global.b16 st.global.b16 st.global.b16 st.global.b16 st.global.v4.b32 ]
// vector<4xf32>  ptr|memref|offset|global  unmasked:
//     st.global.v4.b32
// vector<4xf32>  ptr|memref|offset|global  one mask:
//     if[ st.global.v4.b32 ]
// vector<4xf32>  ptr|memref|offset|global  a mask a lane:
//     if[ st.global.b32 st.global.b32 st.global.b32 st.global.b32 st.global.v4.b32 ]
// vector<16xi8>  ptr|memref|offset|global  unmasked:
//     st.global.v4.b32
// vector<16xi8>  ptr|memref|offset|global  one mask:
//     if[ st.global.v4.b32 ]
// vector<16xi8>  ptr|memref|offset|global  a mask a lane:
//     if[ st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.b8 st.global.v4.b32 ]
// vector<2xf64>  ptr|memref|offset|global  unmasked:
//     st.global.v2.b64
// vector<2xf64>  ptr|memref|offset|global  one mask:
//     if[ st.global.v2.b64 ]
// vector<2xf64>  ptr|memref|offset|global  a mask a lane:
//     if[ st.global.b64 st.global.b64 st.global.v2.b64 ]
// vector<8xf32>  ptr|memref|offset|global  unmasked:
//     st.global.v4.b32 st.global.v4.b32
// vector<8xf32>  ptr|memref|offset|global  one mask:
//     if[ st.global.v4.b32 st.global.v4.b32 ]
// vector<8xf32>  ptr|memref|offset|global  a mask a lane:
//     if[ st.global.b32 st.global.b32 st.global.b32 st.global.b32 st.global.b32 st.global.b32 st.global.b32 st.global.b32 st.global.v4.b32 st.global.v4.b32 ]
