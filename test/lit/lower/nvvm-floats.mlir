// Every line of floats in PTX: one access of 16 bytes at system scope, whose words of 32 bits, or 64 for floats of 64,
// show by themselves that they have come (P1); no fence, no barrier, and a poll that nothing moves or merges.
// RUN: %golden %sequences %s --chip sm_90
// EACH type; bits: bf16; 16 | f32; 32 | f64; 64 | vector<3xf32>; 32 | vector<16xf8E4M3FN>; 8 | vector<16xf16>; 16
// EACH clears; clear: no; | yes; clear
gpu.func @{name}(%ctx: !symm.ctx, %p: !llvm.ptr, %q: memref<?xi32>, %i: index, %v: {type}, %peer: i32, %delta: i64) kernel {
  symm.put_packet %ctx, %p, %v, sentinel {bits}, %peer via %delta {clear} : !llvm.ptr, {type}
  %0 = symm.wait_packet %ctx, %q[%i], sentinel {bits} : memref<?xi32> -> {type}
  %1 = symm.wait_packet %ctx, %q[%i], sentinel {bits} : memref<?xi32> -> {type}
  gpu.return
}

// OUTPUT:
// bf16|f32|vector<3xf32>|vector<16xf8E4M3FN>  no|yes:
//     st.relaxed.sys.global.v4.b32 loop[ ld.relaxed.sys.global.v4.b32 nanosleep.u32 ] loop[ ld.relaxed.sys.global.v4.b32 nanosleep.u32 ]
// f64  no|yes:
//     st.relaxed.sys.global.v2.b64 loop[ ld.relaxed.sys.global.v2.b64 nanosleep.u32 ] loop[ ld.relaxed.sys.global.v2.b64 nanosleep.u32 ]
// vector<16xf16>  no|yes:
//     st.relaxed.sys.global.v4.b32 st.relaxed.sys.global.v4.b32 loop[ ld.relaxed.sys.global.v4.b32 ld.relaxed.sys.global.v4.b32 nanosleep.u32 ] loop[ ld.relaxed.sys.global.v4.b32 ld.relaxed.sys.global.v4.b32 nanosleep.u32 ]
