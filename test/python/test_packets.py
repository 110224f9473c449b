"""Packets: single accesses of 64 bits of a line, at system scope, made once, with no barrier but before an answer."""

import re

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import VERSION, compile_for, machine_text
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

TARGETS = ("sm_90", "gfx942")
KINDS = {
    "i8": tl.int8, "u8": tl.uint8, "i16": tl.int16, "i32": tl.int32, "i64": tl.int64, "fp16": tl.float16,
    "bf16": tl.bfloat16, "fp32": tl.float32, "fp64": tl.float64, "fp8e5": tl.float8e5,
}  # fmt: skip


@triton.jit
def one_shot(table, p, o, slots, epoch, peer, n, T: tl.constexpr, N: tl.constexpr, MASKED: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    value = tl.load(p + at)
    if MASKED:
        ctx.put_packet(slots, value, epoch, peer, mask=at < n)
        got = ctx.wait_packet(slots, epoch, N, T, mask=at < n)
    else:
        ctx.put_packet(slots, value, epoch, peer)
        got = ctx.wait_packet(slots, epoch, N, T)
    tl.store(o + at, got)


@gluon.jit
def one_shot_gluon(table, p, o, slots, epoch, peer, n, T: gl.constexpr, N: gl.constexpr, MASKED: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([8 // (T.primitive_bitwidth // 8)], [gl.num_warps() * 8], [4], [0])
    ctx = sg.DeviceContext(table)
    at = gl.arange(0, N, layout=layout)
    value = gl.load(p + at)
    if MASKED:
        ctx.put_packet(slots, value, epoch, peer, mask=at < n)
        got = ctx.wait_packet(slots, epoch, N, T, mask=at < n, layout=layout)
    else:
        ctx.put_packet(slots, value, epoch, peer)
        got = ctx.wait_packet(slots, epoch, N, T, layout=layout)
    gl.store(o + at, got)


@gluon.jit
def spread_gluon(
    table, p, slots, epoch, peer, n,
    WIDTH: gl.constexpr, LANES: gl.constexpr, N: gl.constexpr, MASKED: gl.constexpr,
):  # fmt: skip
    layout: gl.constexpr = gl.BlockedLayout([WIDTH], [LANES], [4], [0])
    ctx = sg.DeviceContext(table)
    at = gl.arange(0, N, layout=layout)
    if MASKED:
        ctx.put_packet(slots, gl.load(p + at), epoch, peer, mask=at < n)
    else:
        ctx.put_packet(slots, gl.load(p + at), epoch, peer)


def text_of(kernel, target, kind="i64", **constants):
    signature = dict(table="*i64", p=f"*{kind}", o=f"*{kind}", slots="*i32", epoch="i32", peer="i32", n="i32")
    return machine_text(compile_for(target, kernel, signature, ("p", "o", "slots"), **constants))


def accesses(text):
    """What a kernel does to lines, in order."""
    if "ld.param" in text:
        return re.findall(r"\b(?:st|ld)\.relaxed\S*|nanosleep|bar\.sync", text)
    return re.findall(r"\bglobal_(?:store|load)_dwordx\d .*sc0 sc1|s_barrier|s_sleep", text)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_accesses(target, kind, masked):
    # A line of 8 bytes for each of 128 threads, or 256.
    size, threads = KINDS[kind].primitive_bitwidth // 8, 128 if target == "sm_90" else 256
    text = text_of(one_shot, target, kind, T=KINDS[kind], N=threads * 8 // size, MASKED=masked)
    if target == "sm_90":
        lines = [access for access in accesses(text) if "relaxed" in access]
        one = "ld.relaxed.sys.global.v2.b64"
        assert lines == ["st.relaxed.sys.global.v2.b64", one, one], text
        assert not re.search(r"\b(fence|membar|atom|red)\b", text)
    else:
        lines = [access.split()[0] for access in accesses(text) if access.startswith("global")]
        assert lines == ["global_store_dwordx2"] * 2 + ["global_load_dwordx2"] * 2, text
        assert "buffer_inv" not in text and "buffer_wbl2" not in text
        assert ("s_and_saveexec_b64" in text) == masked


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind,width", [("i32", 1), ("fp16", 1), ("fp16", 2), ("i8", 4)])
@pytest.mark.parametrize("target", TARGETS)
def test_layouts_with_fewer_elements_in_a_thread_than_a_packet(target, kind, width, masked):
    # A line of 8 bytes for each of 128 threads; of 256 for AMD.
    lanes = 32 if target == "sm_90" else 64
    count = 4 * lanes * 8 // (KINDS[kind].primitive_bitwidth // 8)
    signature = dict(table="*i64", p=f"*{kind}", slots="*i32", epoch="i32", peer="i32", n="i32")
    constants = dict(WIDTH=width, LANES=lanes, N=count, MASKED=masked)
    text = machine_text(compile_for(target, spread_gluon, signature, ("p", "slots"), **constants))
    lines = [access for access in accesses(text) if "relaxed" in access or "global_store" in access]
    assert len(lines) == (1 if target == "sm_90" else 2), text


@pytest.mark.parametrize("target", TARGETS)
def test_words_of_64_bits_need_no_barrier(target):
    threads = 128 if target == "sm_90" else 256
    text = text_of(one_shot, target, T=tl.int64, N=threads, MASKED=False)
    assert "bar.sync" not in text and "s_barrier" not in text, text


def test_all_lines_of_a_thread_are_under_way_before_the_first_is_looked_at():
    text = text_of(one_shot, "sm_90", T=tl.int64, N=1024, MASKED=False)
    lines = [access for access in accesses(text) if access.startswith("ld")]
    first_poll = text.index("AGAIN:")
    assert text[:first_poll].count("ld.relaxed.sys.global.v2.b64") == len(lines) // 2 == 8, text


@triton.jit
def loop(table, p, o, slots, steps, peer, BARRIER: tl.constexpr, N: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    for step in range(1, steps):
        ctx.put_packet(slots, tl.load(p + at), step, peer)
        tl.store(o + at, ctx.wait_packet(slots, step, N))
        if BARRIER:
            tl.debug_barrier()


@pytest.mark.parametrize("target", TARGETS)
def test_an_answer_comes_after_a_barrier(target):
    """The next packet tells the peer that all threads have the last one."""
    signature = dict(table="*i64", p="*i64", o="*i64", slots="*i32", steps="i32", peer="i32")
    N = 128 if target == "sm_90" else 256
    for barrier in (False, True):
        text = machine_text(compile_for(target, loop, signature, ("p", "o", "slots"), BARRIER=barrier, N=N))
        # LLVM may unroll the loop.
        puts = len(re.findall(r"\bst\.relaxed|\bglobal_store_dwordx2 .*offset:8 sc0 sc1", text))
        assert len(re.findall(r"\bbar\.sync|\bs_barrier", text)) == puts > 0, text


@triton.jit
def twice(table, o, slots, p, N: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    first = ctx.wait_packet(slots, 1, N)
    ctx.wait_packet(slots, 1, N)
    tl.store(o + at, ctx.wait_packet(slots, 1, N) + first)


@pytest.mark.parametrize("target", TARGETS)
def test_waits_are_neither_merged_nor_removed(target):
    signature = dict(table="*i64", o="*i64", slots="*i32", p="*i64")
    N = 128 if target == "sm_90" else 256
    text = machine_text(compile_for(target, twice, signature, N=N))
    assert len(re.findall(r"^AGAIN:|^\.Lsymm_again_\d+:", text, re.M)) == 3, text


@triton.jit
def polled(table, o, slots, p, N: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    value, valid = ctx.try_packet(slots, 1, N)
    # Four elements a thread, whose layout is another one than that of the lines.
    tl.store(o + at, tl.where(valid, value, tl.load(p + at)))


def test_a_look_is_made_once():
    """A value that comes with its flag from another look would not be that flag's."""
    signature = dict(table="*i64", o="*i64", slots="*i32", p="*i64")
    text = machine_text(compile_for("sm_90", polled, signature, ("o", "p", "slots"), N=1024))
    assert len(re.findall(r"\batom\.\S*sys\S*\.relaxed\S*\.or\.b64", text)) == 2 * 1024 // 128, text


@triton.jit
def agreed(table, o, slots, p):
    ctx = st.DeviceContext(table)
    value, valid = ctx.try_packet(slots, 1)
    while not valid:
        value, valid = ctx.try_packet(slots, 1)
    tl.store(o, value)


def test_all_threads_see_the_same_look():
    """One reads for all: a loop around it ends for all of them, or for none."""
    signature = dict(table="*i64", o="*i64", slots="*i32", p="*i64")
    text = machine_text(compile_for("sm_90", agreed, signature))
    assert "ld.relaxed" not in text, text
    atoms = [at.start() for at in re.finditer(r"\batom\.", text)]
    assert len(atoms) % 2 == 0 and text.count("bar.sync") >= len(atoms), text


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", ["i8", "bf16", "fp32", "i64"])
def test_gluon(kind, masked):
    size = KINDS[kind].primitive_bitwidth // 8
    text = text_of(one_shot_gluon, "sm_90", kind, T=KINDS[kind], N=128 * 8 // size, MASKED=masked)
    one = "ld.relaxed.sys.global.v2.b64"
    # The layout is such that each thread has all elements of its lines.
    assert accesses(text) == ["st.relaxed.sys.global.v2.b64", one, "nanosleep", one], text


@triton.jit
def a_loops_variable(table, p, n):
    for i in range(n):
        st.put_packet(table, p + 4 * i, i, 1, 0)
        st.put_packet(table, p + 64 + 4 * i, i == 2, 1, 0)


def test_a_loops_variable_is_a_value():
    # test/python/checked/packets.py has the same in the interpreter.
    text = machine_text(compile_for("sm_90", a_loops_variable, dict(table="*i64", p="*i32", n="i32")))
    assert accesses(text) == ["st.relaxed.sys.global.v2.b64"] * 2, text


@gluon.jit
def send_by_another(ctx, slots, value, peer):
    ctx.put_floats(slots, value, peer)


@gluon.jit
def partition(ctx, p, slots, epoch, peer, N: gl.constexpr, OP: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    at = gl.arange(0, N, layout=layout)
    if OP == "put":
        ctx.put_packet(slots, gl.load(p + at), epoch, peer)
    elif OP == "wait":
        gl.store(p + at, ctx.wait_packet(slots, epoch, N, gl.float16, layout=layout))
    elif OP == "wait as it comes":
        value, is_there = ctx.try_packet(slots, epoch, N, gl.float16)
        ctx.put_packet(slots, value, epoch, peer, mask=is_there)
    elif OP == "floats":
        ctx.put_floats(slots, gl.load(p + at), peer)
        gl.store(p + at, ctx.wait_floats(slots, N, gl.float16, layout=layout))
        ctx.clear_floats(slots, N, gl.float16)
    elif OP == "scalar":
        send_by_another(ctx, slots, gl.load(p), peer)
    else:
        ctx.clear_floats(slots, (), gl.float16, mask=epoch > 1)


@gluon.jit
def beside(p):
    gl.store(p, 1)


@gluon.jit
def specialized(table, p, slots, epoch, peer, N: gl.constexpr, WARPS: gl.constexpr, OP: gl.constexpr):
    ctx = sg.DeviceContext(table)
    gl.warp_specialize([(beside, (p,)), (partition, (ctx, p, slots, epoch, peer, N, OP))], [WARPS], [80])


@pytest.mark.parametrize("op", ["put", "wait", "wait as it comes", "floats", "scalar", "clear"])
@pytest.mark.parametrize("warps", [1, 2])
def test_partitions_with_fewer_warps_than_the_kernel(warps, op):
    signature = dict(table="*i64", p="*fp16", slots="*i32", epoch="i32", peer="i32")
    # A line for each thread, of packets and of floats.
    constants = dict(N=32 * warps * (8 if op == "floats" else 4), WARPS=warps, OP=op)
    text = machine_text(compile_for("sm_90", specialized, signature, ("p", "slots"), **constants))
    assert ".maxntid 256" in text or ".reqntid 256" in text, text
    lines = re.findall(r"(@\S+ )?(st|ld)\.relaxed\.sys", text)
    wanted = {"put": 1, "wait": 2, "wait as it comes": 1, "floats": 4, "scalar": 1, "clear": 1}
    assert len(lines) == wanted[op], text
    if op in ("scalar", "clear"):
        # The first thread of the partition, which is not the program's, and no other one.
        assert lines == [("@on ", "st")] and "setp.eq.b32 on, thread, 0" not in text, text
        assert re.search(rf"and\.b32\s+(%r\d+), %r\d+, {32 * warps - 1};\s+setp\.eq\.b32\s+%p\d+, \1, 0;", text), text


@triton.jit
def wrong_slots(table, p):
    st.wait_packet(table, p, 1, 4)


@triton.jit
def wrong_value(table, p):
    st.put_packet(table, p, 3, 1, 0)


@triton.jit
def wrong_shape(table, p):
    st.wait_packet(table, p, 1, 3)


@triton.jit
def wrong_block(table, p):
    st.wait_packet(table, p + tl.arange(0, 4), 1, 8)


@triton.jit
def wrong_epoch(table, p):
    st.wait_packet(table, p, 1.5, 4)


@triton.jit
def wrong_dtype(table, p):
    st.wait_packet(table, p, 1, 4, 7)


@pytest.mark.parametrize(
    ("kernel", "kind", "message"),
    [
        (wrong_slots, "fp32", "slots must be a pointer to integers"),
        (wrong_value, "i32", "value must be a scalar or a block of the kernel, not 3"),
        (wrong_shape, "i32", "shape must consist of constant powers of two, not 3"),
        (wrong_block, "i32", "slots are a block of shape"),
        (wrong_epoch, "i32", "epoch must be one integer, not 1.5"),
        (wrong_dtype, "i32", "dtype must be an element type"),
    ],
)
def test_wrong_use_is_told(kernel, kind, message):
    with pytest.raises(symm.CompileError, match=message):
        compile_for("sm_90", kernel, dict(table="*i64", p=f"*{kind}"))
