// Every line of floats on gfx942: each half is one access of 8 bytes at system scope, whose words
// show by themselves that they have come (P1); no fence, no barrier, and a poll that nothing moves or merges.
// RUN: %golden %sequences %s --chip gfx942
// EACH type; bits: bf16; 16 | f32; 32 | f64; 64 | vector<3xf32>; 32 | vector<16xf8E4M3FN>; 8 | vector<16xf16>; 16
// EACH clears; clear: no; | yes; clear
gpu.func @{name}(%ctx: !symm.ctx, %p: !llvm.ptr, %q: memref<?xi32>, %i: index, %v: {type}, %peer: i32, %delta: i64) kernel {
  symm.put_packet %ctx, %p, %v, sentinel {bits}, %peer via %delta {clear} : !llvm.ptr, {type}
  %0 = symm.wait_packet %ctx, %q[%i], sentinel {bits} : memref<?xi32> -> {type}
  %1 = symm.wait_packet %ctx, %q[%i], sentinel {bits} : memref<?xi32> -> {type}
  gpu.return
}

// OUTPUT:
// bf16|f32|f64|vector<3xf32>|vector<16xf8E4M3FN>  no|yes:
//     global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(1) vmcnt(0) s_sleep ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(1) vmcnt(0) s_sleep ]
// vector<16xf16>  no|yes:
//     global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(3) vmcnt(2) vmcnt(1) vmcnt(0) s_sleep ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(3) vmcnt(2) vmcnt(1) vmcnt(0) s_sleep ]
