// Every packet on gfx942: each half of a line is one access of 8 bytes at system scope (P1); no fence, no barrier, and a
// poll that nothing moves or merges, though nobody takes its value.
// RUN: %golden %sequences %s --chip gfx942
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
//     global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(1) vmcnt(0) s_sleep ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(1) vmcnt(0) s_sleep ]
// i8|bf16|f32|f64  yes:
//     if[ global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(1) vmcnt(0) s_sleep ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(1) vmcnt(0) s_sleep ]
// vector<3xf32>|vector<16xi8>  no:
//     global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(3) vmcnt(2) vmcnt(1) vmcnt(0) s_sleep ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(3) vmcnt(2) vmcnt(1) vmcnt(0) s_sleep ]
// vector<3xf32>|vector<16xi8>  yes:
//     if[ global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 global_store_dwordx2 sc0 sc1 ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(3) vmcnt(2) vmcnt(1) vmcnt(0) s_sleep ] loop[ global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 global_load_dwordx2 sc0 sc1 vmcnt(3) vmcnt(2) vmcnt(1) vmcnt(0) s_sleep ]
