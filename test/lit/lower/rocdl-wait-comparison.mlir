// The comparison of every wait on gfx942: of signed values, or of unsigned ones where the op says so (O6). The poll
// ends when it holds; the flag is the second operand, so that the comparison reads the other way round. The second
// comparison of the loop counts the polls.
// RUN: %golden %sequences %s --chip gfx942 --also '[sv]_cmp'
// EACH type: i32 | i64
// EACH comparison: eq | ne | lt | le | gt | ge | unsigned eq | unsigned ne | unsigned lt | unsigned le
// EACH comparison: unsigned gt | unsigned ge
gpu.func @{name}(%ctx: !symm.ctx, %flag: memref<?x{type}>, %i: index, %v: {type}) kernel {
  symm.wait %ctx, %flag[%i] {comparison} %v : memref<?x{type}>, {type}
  gpu.return
}

// OUTPUT:
// i32  eq|unsigned eq:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_ne_u32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  ne|unsigned ne:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_eq_u32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  lt:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_le_i32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  le:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_lt_i32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  gt:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_ge_i32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  ge:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_gt_i32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  unsigned lt:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_le_u32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  unsigned le:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_lt_u32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  unsigned gt:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_ge_u32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i32  unsigned ge:
//     loop[ global_load_dword sc0 sc1 vmcnt(0) v_cmp_gt_u32_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  eq|unsigned eq:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_ne_u64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  ne|unsigned ne:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_eq_u64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  lt:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_le_i64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  le:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_lt_i64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  gt:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_ge_i64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  ge:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_gt_i64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  unsigned lt:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_le_u64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  unsigned le:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_lt_u64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  unsigned gt:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_ge_u64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
// i64  unsigned ge:
//     loop[ global_load_dwordx2 sc0 sc1 vmcnt(0) v_cmp_gt_u64_e32 v_cmp_lt_i64_e32 s_sleep ] buffer_inv sc0 sc1
