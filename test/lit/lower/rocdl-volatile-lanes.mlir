// Volatile under a mask of lanes: a volatile access of the whole vector where all lanes are on, else a volatile one of
// each lane that is on. A vector that is not aligned as a whole has the lanes' alone.
// RUN: %golden %sequences %s --chip gfx942
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
//     if[ global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dwordx4 sc0 sc1 vmcnt(0) ] global_store_dwordx4 if[ global_store_dwordx4 sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) ]
// vector<4xf32>  zero  lane:
//     if[ global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) ] global_store_dwordx4 if[ global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) ]
// vector<4xf32>  other  whole:
//     if[ global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dwordx4 sc0 sc1 vmcnt(0) ] global_store_dwordx4 if[ global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dwordx4 sc0 sc1 vmcnt(0) ]
// vector<4xf32>  other  lane:
//     if[ global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) ] global_store_dwordx4 if[ global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) ]
// vector<2xf16>  zero|other  whole:
//     if[ global_load_ushort sc0 sc1 vmcnt(0) global_load_ushort sc0 sc1 vmcnt(0) global_load_dword sc0 sc1 vmcnt(0) ] global_store_dword if[ global_store_short sc0 sc1 vmcnt(0) global_store_short_d16_hi sc0 sc1 vmcnt(0) global_store_dword sc0 sc1 vmcnt(0) ]
// vector<2xf16>  zero|other  lane:
//     if[ global_load_ushort sc0 sc1 vmcnt(0) global_load_ushort sc0 sc1 vmcnt(0) ] global_store_dword if[ global_store_short sc0 sc1 vmcnt(0) global_store_short_d16_hi sc0 sc1 vmcnt(0) ]
