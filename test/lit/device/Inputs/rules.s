// One function for each rule of divergence.py, and right ones that come close.
.version 8.0
.target sm_90
.address_size 64

// Half of the warps meet one barrier, the others two.
.visible .entry warps()
{
	mov.u32 	%r1, %tid.x;
	shr.u32 	%r2, %r1, 5;
	setp.eq.b32 	%p1, %r2, 0;
	@%p1 bra 	$L__BB0_2;
	bar.sync 	0;
$L__BB0_2:
	bar.sync 	0;
	ret;
}

// All warps meet one, at different places.
.visible .entry right_warps()
{
	mov.u32 	%r1, %tid.x;
	setp.lt.u32 	%p1, %r1, 64;
	@%p1 bra 	$L__BB1_2;
	bar.sync 	0;
	bra.uni 	$L__BB1_3;
$L__BB1_2:
	bar.sync 	0;
$L__BB1_3:
	ret;
}

.visible .entry predicated()
{
	mov.u32 	%r1, %laneid;
	setp.eq.b32 	%p1, %r1, 0;
	@%p1 bar.sync 	0;
	ret;
}

.func meet(
	.param .b32 meet_param_0
)
{
	ld.param.b32 	%r1, [meet_param_0];
	setp.eq.b32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB3_2;
	bar.warp.sync 	-1;
$L__BB3_2:
	ret;
}

// The function's branch is on what it is given.
.visible .entry called()
{
	mov.u32 	%r1, %tid.x;
	setp.eq.b32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB4_2;
	{ // callseq 0, 0
	.param .b32 	param0;
	st.param.b32 	[param0], 7;
	call.uni meet, (param0);
	} // callseq 0
$L__BB4_2:
	ret;
}

.visible .entry right_called()
{
	{ // callseq 0, 0
	.param .b32 	param0;
	st.param.b32 	[param0], 7;
	call.uni meet, (param0);
	} // callseq 0
	ret;
}

// As many rounds as the thread's number.
.visible .entry looped()
{
	mov.u32 	%r1, %tid.x;
	mov.b32 	%r2, 0;
$L__BB6_1:
	bar.sync 	0;
	add.s32 	%r2, %r2, 1;
	setp.lt.u32 	%p1, %r2, %r1;
	@%p1 bra 	$L__BB6_1;
	ret;
}

// As many as an argument says, with a thread's own loop in each.
.visible .entry right_looped(
	.param .u32 right_looped_param_0
)
{
	ld.param.b32 	%r3, [right_looped_param_0];
	mov.u32 	%r1, %tid.x;
	mov.b32 	%r2, 0;
$L__BB7_1:
	mov.b32 	%r4, 0;
$L__BB7_2:
	add.s32 	%r4, %r4, 1;
	setp.lt.u32 	%p2, %r4, %r1;
	@%p2 bra 	$L__BB7_2;
	bar.sync 	0;
	add.s32 	%r2, %r2, 1;
	setp.lt.u32 	%p1, %r2, %r3;
	@%p1 bra 	$L__BB7_1;
	ret;
}

// What is written in an arm differs after it.
.visible .entry merged()
{
	mov.u32 	%r1, %tid.x;
	setp.eq.b32 	%p1, %r1, 0;
	mov.b32 	%r2, 1;
	@%p1 bra 	$L__BB8_2;
	mov.b32 	%r2, 2;
$L__BB8_2:
	setp.eq.b32 	%p2, %r2, 1;
	@%p2 bra 	$L__BB8_4;
	bar.sync 	0;
$L__BB8_4:
	ret;
}

// A thread that traps rejoins nobody.
.visible .entry right_trap()
{
	mov.u32 	%r1, %tid.x;
	setp.lt.u32 	%p1, %r1, 1024;
	@%p1 bra 	$L__BB9_2;
	trap;
$L__BB9_2:
	bar.sync 	0;
	ret;
}

.visible .entry released(
	.param .u64 released_param_0
)
{
	ld.param.b64 	%rd1, [released_param_0];
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd2, %r1, 8;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.b64 	[%rd3], 1;
	setp.ne.b32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB10_2;
	st.release.sys.global.b64 	[%rd1], 1;
$L__BB10_2:
	ret;
}

// With a barrier in between, and a store of the thread's own.
.visible .entry right_released(
	.param .u64 right_released_param_0
)
{
	ld.param.b64 	%rd1, [right_released_param_0];
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd2, %r1, 8;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.b64 	[%rd3], 1;
	bar.sync 	0;
	setp.ne.b32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB11_2;
	st.global.b64 	[%rd1+8], 1;
	st.release.sys.global.b64 	[%rd1], 1;
$L__BB11_2:
	ret;
}
// A thread's own update in a loop of its own, which it comes into from its store.
.visible .entry right_exchange(
	.param .u64 right_exchange_param_0
)
{
	ld.param.b64 	%rd1, [right_exchange_param_0];
	mov.u32 	%r1, %tid.x;
	mul.wide.u32 	%rd2, %r1, 2;
	add.s64 	%rd3, %rd1, %rd2;
	st.global.b16 	[%rd3], 1;
	ld.relaxed.sys.global.b16 	%rs2, [%rd3+4096];
$L__BB20_1:
	mov.b16 	%rs1, %rs2;
	atom.release.sys.global.cas.b16 	%rs2, [%rd3+4096], %rs1, 1;
	setp.ne.b16 	%p1, %rs2, %rs1;
	@%p1 bra 	$L__BB20_1;
	ret;
}

.visible .entry copied(
	.param .u64 copied_param_0
)
{
	ld.param.b64 	%rd1, [copied_param_0];
	st.global.b64 	[%rd1], 1;
	bar.sync 	0;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];
	ret;
}

.visible .entry right_copied(
	.param .u64 right_copied_param_0
)
{
	ld.param.b64 	%rd1, [right_copied_param_0];
	st.global.b64 	[%rd1], 1;
	fence.proxy.async;
	bar.sync 	0;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];
	ret;
}

// The store of one round comes before the copy of the next.
.visible .entry copied_again(
	.param .u64 copied_again_param_0
)
{
	ld.param.b64 	%rd1, [copied_again_param_0];
	mov.b32 	%r4, 0;
	fence.proxy.async;
$L__BB14_1:
	bar.sync 	0;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];
	st.global.b64 	[%rd1], 1;
	add.s32 	%r4, %r4, 1;
	setp.lt.u32 	%p1, %r4, 8;
	@%p1 bra 	$L__BB14_1;
	ret;
}

.visible .entry right_copied_again(
	.param .u64 right_copied_again_param_0
)
{
	ld.param.b64 	%rd1, [right_copied_again_param_0];
	mov.b32 	%r4, 0;
$L__BB15_1:
	fence.proxy.async;
	bar.sync 	0;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];
	st.global.b64 	[%rd1], 1;
	add.s32 	%r4, %r4, 1;
	setp.lt.u32 	%p1, %r4, 8;
	@%p1 bra 	$L__BB15_1;
	ret;
}
// Threads of a warp go to different arms of an indirect branch.
.visible .entry chosen()
{
	mov.u32 	%r1, %tid.x;
	and.b32 	%r2, %r1, 1;
$L_brx_0: .branchtargets
	$L__BB21_1,
	$L__BB21_2;
	brx.idx 	%r2, $L_brx_0;
$L__BB21_1:
	bar.sync 	0;
	bra.uni 	$L__BB21_3;
$L__BB21_2:
	bar.sync 	0;
$L__BB21_3:
	ret;
}
// Whole warps do, by a number that they have of one of their threads; some go round for ever.
.visible .entry right_chosen()
{
	mov.u32 	%r1, %tid.x;
	shr.u32 	%r2, %r1, 5;
	shfl.sync.idx.b32 	%r3, %r2, 0, 31, -1;
$L_brx_1: .branchtargets
	$L__BB22_1,
	$L__BB22_2;
	brx.idx 	%r3, $L_brx_1;
$L__BB22_1:
	barrier.sync 	1;
	bra.uni 	$L__BB22_1;
$L__BB22_2:
	barrier.sync 	1;
	ret;
}
