// Every packet in PTX: a line is one access of 16 bytes at system scope, each half of it an access of its own to PTX's
// memory model (P1); no fence, no barrier, and a poll that nothing moves or merges, though nobody takes its value.
// RUN: %golden %sequences %s --chip sm_90
// EACH type: i8 | bf16 | f32 | f64 | vector<3xf32> | vector<16xi8>
// EACH masked; mask: no; | yes; mask %on : i1
gpu.func @{name}(%ctx: !symm.ctx, %p: !llvm.ptr, %q: memref<?xi32>, %i: index, %v: {type}, %e: i32, %peer: i32,
                 %on: i1, %delta: i64) kernel {
  symm.put_packet %ctx, %p, %v, %e, %peer via %delta {mask} : !llvm.ptr, {type}
  %0 = symm.wait_packet %ctx, %q[%i], %e {mask} : memref<?xi32> -> {type}
  %1 = symm.wait_packet %ctx, %q[%i], %e {mask} : memref<?xi32> -> {type}
  gpu.return
}

// OUTPUT:
// i8|bf16|f32|f64  no:
//     st.relaxed.sys.global.v2.b64 loop[ ld.relaxed.sys.global.v2.b64 nanosleep.u32 ] loop[ ld.relaxed.sys.global.v2.b64 nanosleep.u32 ]
// i8|bf16|f32|f64  yes:
//     if[ st.relaxed.sys.global.v2.b64 ] loop[ nanosleep.u32 ld.relaxed.sys.global.v2.b64 ] loop[ nanosleep.u32 ld.relaxed.sys.global.v2.b64 ]
// vector<3xf32>|vector<16xi8>  no:
//     st.relaxed.sys.global.v2.b64 st.relaxed.sys.global.v2.b64 loop[ ld.relaxed.sys.global.v2.b64 ld.relaxed.sys.global.v2.b64 nanosleep.u32 ] loop[ ld.relaxed.sys.global.v2.b64 ld.relaxed.sys.global.v2.b64 nanosleep.u32 ]
// vector<3xf32>|vector<16xi8>  yes:
//     if[ st.relaxed.sys.global.v2.b64 st.relaxed.sys.global.v2.b64 ] loop[ nanosleep.u32 ld.relaxed.sys.global.v2.b64 ld.relaxed.sys.global.v2.b64 ] loop[ nanosleep.u32 ld.relaxed.sys.global.v2.b64 ld.relaxed.sys.global.v2.b64 ]
