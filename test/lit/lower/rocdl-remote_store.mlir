// Every remote store on gfx942: a vector of 16 bytes is one access of 128 bits, whatever the pointer and the mask of
// one i1.
// RUN: %golden %sequences %s --chip gfx942 --without 'vmcnt.*'
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
//     global_store_byte
// i8  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ global_store_byte ]
// i16|f16|bf16  ptr|memref|offset|global  unmasked:
//     global_store_short
// i16|f16|bf16  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ global_store_short ]
// i32|f32  ptr|memref|offset|global  unmasked:
//     global_store_dword
// i32|f32  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ global_store_dword ]
// i64|index|f64  ptr|memref|offset|global  unmasked:
//     global_store_dwordx2
// i64|index|f64  ptr|memref|offset|global  one mask|a mask a lane:
//     if[ global_store_dwordx2 ]
// vector<2xf16>  ptr|memref|offset|global  unmasked:
//     global_store_dword
// vector<2xf16>  ptr|memref|offset|global  one mask:
//     if[ global_store_dword ]
// vector<2xf16>  ptr|memref|offset|global  a mask a lane:
//     if[ global_store_short global_store_short_d16_hi global_store_dword ]
// vector<8xf16>  ptr|memref|offset|global  unmasked:
//     global_store_dwordx4
// vector<8xf16>  ptr|memref|offset|global  one mask:
//     if[ global_store_dwordx4 ]
// vector<8xf16>  ptr|memref|offset|global  a mask a lane:
//     if[ global_store_dwordx4 global_store_short global_store_short_d16_hi global_store_short global_store_short_d16_hi global_store_short global_store_short_d16_hi global_store_short global_store_short_d16_hi ]
// vector<4xf32>  ptr|memref|offset|global  unmasked:
//     global_store_dwordx4
// vector<4xf32>  ptr|memref|offset|global  one mask:
//     if[ global_store_dwordx4 ]
// vector<4xf32>  ptr|memref|offset|global  a mask a lane:
//     if[ global_store_dwordx4 global_store_dword global_store_dword global_store_dword global_store_dword ]
// vector<16xi8>  ptr|memref|offset|global  unmasked:
//     global_store_dwordx4
// vector<16xi8>  ptr|memref|offset|global  one mask:
//     if[ global_store_dwordx4 ]
// vector<16xi8>  ptr|memref|offset|global  a mask a lane:
//     if[ global_store_dwordx4 global_store_byte global_store_byte global_store_byte_d16_hi global_store_byte global_store_byte global_store_byte global_store_byte_d16_hi global_store_byte global_store_byte global_store_byte global_store_byte_d16_hi global_store_byte global_store_byte global_store_byte global_store_byte_d16_hi global_store_byte ]
// vector<2xf64>  ptr|memref|offset|global  unmasked:
//     global_store_dwordx4
// vector<2xf64>  ptr|memref|offset|global  one mask:
//     if[ global_store_dwordx4 ]
// vector<2xf64>  ptr|memref|offset|global  a mask a lane:
//     if[ global_store_dwordx2 global_store_dwordx2 global_store_dwordx4 ]
// vector<8xf32>  ptr|memref|offset|global  unmasked:
//     global_store_dwordx4 global_store_dwordx4
// vector<8xf32>  ptr|memref|offset|global  one mask:
//     if[ global_store_dwordx4 global_store_dwordx4 ]
// vector<8xf32>  ptr|memref|offset|global  a mask a lane:
//     if[ global_store_dwordx4 global_store_dwordx4 global_store_dword global_store_dword global_store_dword global_store_dword global_store_dword global_store_dword global_store_dword global_store_dword ]
