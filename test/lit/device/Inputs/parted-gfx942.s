	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
k:
	v_and_b32_e32 v1, 0x3ff, v0
	v_cmp_lt_u32_e32 vcc, 15, v1
	s_and_saveexec_b64 s[2:3], vcc
	s_xor_b64 s[2:3], exec, s[2:3]
	s_cbranch_execnz .LBB0_3
	s_andn2_saveexec_b64 s[2:3], s[2:3]
	s_cbranch_execnz .LBB0_4
.LBB0_2:
	s_endpgm
.LBB0_3:
	buffer_wbl2 sc1
	s_waitcnt vmcnt(0)
	s_barrier
	s_barrier
	s_andn2_saveexec_b64 s[2:3], s[2:3]
	s_cbranch_execz .LBB0_2
.LBB0_4:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dwordx2 s[6:7], s[0:1], 0x38
	s_load_dwordx2 s[2:3], s[0:1], 0x58
	s_load_dword s14, s[0:1], 0x60
	v_lshrrev_b32_e32 v4, 20, v0
	s_waitcnt lgkmcnt(0)
	s_load_dword s10, s[4:5], 0x8
	s_load_dwordx2 s[8:9], s[4:5], 0x0
	v_lshrrev_b32_e32 v0, 10, v0
	v_or_b32_e32 v0, v0, v4
	v_lshlrev_b32_e32 v2, 3, v1
	s_waitcnt lgkmcnt(0)
	s_cmp_lt_u32 s14, s10
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[12:13], s[10:11], exec
	s_cselect_b32 s12, s14, 0
	s_ashr_i32 s13, s12, 31
	s_lshl_b64 s[12:13], s[12:13], 3
	s_add_u32 s12, s4, s12
	s_addc_u32 s13, s5, s13
	s_lshl_b64 s[8:9], s[8:9], 3
	s_add_u32 s4, s4, s8
	s_addc_u32 s5, s5, s9
	s_load_dwordx2 s[8:9], s[12:13], 0x10
	s_load_dwordx2 s[14:15], s[4:5], 0x10
	s_movk_i32 s4, 0x3ff
	v_and_or_b32 v0, v0, s4, v1
	v_mov_b32_e32 v3, 0
	v_mov_b64_e32 v[4:5], s[2:3]
	s_waitcnt lgkmcnt(0)
	s_sub_u32 s4, s8, s14
	s_subb_u32 s8, s9, s15
	s_and_b32 s9, s4, 0xffe00000
	s_and_b64 s[4:5], s[10:11], exec
	s_cselect_b32 s11, s9, 0
	s_cselect_b32 s10, s8, 0x10000000
	s_add_u32 s4, s6, s11
	s_addc_u32 s5, s7, s10
	v_cmp_eq_u32_e32 vcc, 0, v0
	global_store_dwordx2 v2, v[4:5], s[4:5]
	buffer_wbl2 sc1
	s_waitcnt vmcnt(0)
	s_barrier
	s_and_saveexec_b64 s[6:7], vcc
	s_cbranch_execz .LBB0_10
	s_load_dwordx2 s[0:1], s[0:1], 0x10
	v_mov_b64_e32 v[0:1], s[2:3]
	buffer_wbl2 sc0 sc1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_mov_b64 s[8:9], 0
	s_add_u32 s12, s0, s11
	s_addc_u32 s13, s1, s10
	global_store_dwordx2 v3, v[0:1], s[12:13] sc0 sc1
	v_mov_b64_e32 v[0:1], 0x100
	s_branch .LBB0_7
.LBB0_6:
	global_load_dwordx2 v[4:5], v3, s[0:1] sc0 sc1
	s_add_u32 s8, s8, 1
	s_addc_u32 s9, s9, 0
	s_waitcnt vmcnt(0)
	v_cmp_gt_i64_e32 vcc, s[2:3], v[4:5]
	s_cbranch_vccz .LBB0_9
.LBB0_7:
	v_cmp_lt_i64_e32 vcc, s[8:9], v[0:1]
	s_cbranch_vccnz .LBB0_6
	s_sleep 1
	s_branch .LBB0_6
.LBB0_9:
	buffer_inv sc0 sc1
.LBB0_10:
	s_or_b64 exec, exec, s[6:7]
	v_lshl_add_u64 v[0:1], s[4:5], 0, v[2:3]
	v_mov_b64_e32 v[2:3], s[2:3]
	s_barrier
	global_store_dwordx2 v[0:1], v[2:3], off
	s_endpgm
	.amdhsa_kernel k
		.amdhsa_kernarg_size 100
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
