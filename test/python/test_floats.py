"""Floats that show by themselves that they have come: one access of 16 bytes a line, whose words are each one, too."""

import re

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

TARGETS = ("sm_90", "gfx942")
KINDS = {"fp16": tl.float16, "bf16": tl.bfloat16, "fp32": tl.float32, "fp64": tl.float64, "fp8e5": tl.float8e5}


@triton.jit
def one_shot(table, p, o, slots, peer, n, T: tl.constexpr, N: tl.constexpr, MASKED: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    value = tl.load(p + at)
    on = at < (n if MASKED else N)
    ctx.put_floats(slots, value, peer, mask=on if MASKED else None)
    tl.store(o + at, ctx.wait_floats(slots, N, T, mask=on if MASKED else None))
    ctx.clear_floats(slots, N, T, mask=on if MASKED else None)


@gluon.jit
def one_shot_gluon(table, p, o, slots, peer, n, T: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([16 // (T.primitive_bitwidth // 8)], [32], [4], [0])
    ctx = sg.DeviceContext(table)
    at = gl.arange(0, N, layout=layout)
    ctx.put_floats(slots, gl.load(p + at), peer)
    gl.store(o + at, ctx.wait_floats(slots, N, T, layout=layout))
    ctx.clear_floats(slots, N, T)


@gluon.jit
def spread_gluon(table, p, slots, peer, n, WIDTH: gl.constexpr, LANES: gl.constexpr, N: gl.constexpr):
    ctx = sg.DeviceContext(table)
    at = gl.arange(0, N, layout=gl.BlockedLayout([WIDTH], [LANES], [4], [0]))
    ctx.put_floats(slots, gl.load(p + at), peer, mask=at < n)


def text_of(kernel, target, kind, **constants):
    signature = dict(table="*i64", p=f"*{kind}", o=f"*{kind}", slots="*i32", peer="i32", n="i32")
    return machine_text(compile_for(target, kernel, signature, ("p", "o", "slots"), **constants))


def accesses(text):
    """What a kernel does to lines, in order."""
    if "ld.param" in text:
        return re.findall(r"\b(?:st|ld)\.relaxed\S*|bar\.sync", text)
    return re.findall(r"\bglobal_(?:store|load)_dwordx\d(?= .*sc0 sc1)|s_barrier", text)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_accesses(target, kind, masked):
    # A line of 16 bytes for each of 128 threads, or 256.
    size, threads = KINDS[kind].primitive_bitwidth // 8, 128 if target == "sm_90" else 256
    text = text_of(one_shot, target, kind, T=KINDS[kind], N=threads * 16 // size, MASKED=masked)
    lines = [access for access in accesses(text) if access not in ("bar.sync", "s_barrier")]
    if target == "sm_90":
        width = "v2.b64" if kind == "fp64" else "v4.b32"
        store, load = f"st.relaxed.sys.global.{width}", f"ld.relaxed.sys.global.{width}"
        assert lines == [store, load, load, store], text
        assert not re.search(r"\b(fence|membar|atom|red)\b", text)
    else:
        store, load = ["global_store_dwordx2"] * 2, ["global_load_dwordx2"] * 2
        assert lines == [*store, *load, *store], text
        assert "buffer_inv" not in text and "buffer_wbl2" not in text


@pytest.mark.parametrize("kind,width", [("fp64", 1), ("fp32", 1), ("fp32", 2), ("fp16", 1), ("fp16", 4)])
@pytest.mark.parametrize("target", TARGETS)
def test_layouts_with_fewer_elements_in_a_thread_than_a_line(target, kind, width):
    # A line of 16 bytes for each of 128 threads; of 256 for AMD.
    lanes = 32 if target == "sm_90" else 64
    count = 4 * lanes * 16 // (KINDS[kind].primitive_bitwidth // 8)
    signature = dict(table="*i64", p=f"*{kind}", slots="*i32", peer="i32", n="i32")
    constants = dict(WIDTH=width, LANES=lanes, N=count)
    text = machine_text(compile_for(target, spread_gluon, signature, ("p", "slots"), **constants))
    lines = [access for access in accesses(text) if access not in ("bar.sync", "s_barrier")]
    width = "v2.b64" if kind == "fp64" else "v4.b32"
    one = [f"st.relaxed.sys.global.{width}"] if target == "sm_90" else ["global_store_dwordx2"] * 2
    assert lines == one, text


@pytest.mark.parametrize("target", TARGETS)
def test_a_line_is_cleared_when_all_threads_have_it(target):
    N = (128 if target == "sm_90" else 256) * 4
    found = accesses(text_of(one_shot, target, "fp32", T=tl.float32, N=N, MASKED=False))
    loads = [at for at, access in enumerate(found) if "ld" in access or "load" in access]
    stores = [at for at, access in enumerate(found) if access.startswith(("st", "global_store"))]
    barrier = "bar.sync" if target == "sm_90" else "s_barrier"
    assert barrier in found[loads[-1] : stores[-1]], found


@pytest.mark.parametrize("kind", ["fp8e5", "bf16", "fp32"])
def test_gluon(kind):
    size = KINDS[kind].primitive_bitwidth // 8
    found = accesses(text_of(one_shot_gluon, "sm_90", kind, T=KINDS[kind], N=128 * 16 // size))
    store, load = "st.relaxed.sys.global.v4.b32", "ld.relaxed.sys.global.v4.b32"
    assert [access for access in found if access != "bar.sync"] == [store, load, load, store]


@triton.jit
def a_scalar(table, p, o, slots, peer, n, MASKED: tl.constexpr):
    st.put_floats(table, slots, tl.load(p), peer, mask=n > 0 if MASKED else None)


@pytest.mark.parametrize("masked", [False, True])
def test_one_thread_sends_a_scalar(masked):
    """A later one could send it after it has been received and cleared."""
    text = text_of(a_scalar, "sm_90", "fp32", MASKED=masked)
    body = text[text.index("mov.u32 thread, %tid.x") : text.index("st.relaxed")]
    assert "setp.eq.b32 on, thread, 0" in body and ("setp.ne.and.b32 on" in body) == masked, text
    assert body.strip().endswith("@on"), text


@triton.jit
def polled(table, p, o, slots, peer, n, T: tl.constexpr, N: tl.constexpr):
    """Words, polled in a loop that carries a scalar."""
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    ctx.put_floats(slots, tl.load(p + at), peer, dtype=T)
    there = 0
    while there == 0:
        _, valid = ctx.try_floats(slots, N, T, words=True)
        there = tl.min(valid.to(tl.int32), 0)
    tl.store(o + at, ctx.wait_floats(slots, N, T, words=True))
    ctx.clear_floats(slots, N, T, words=True)


@pytest.mark.parametrize("kind", ["bf16", "fp32"])
@pytest.mark.parametrize("target", TARGETS)
def test_words_are_polled(target, kind):
    assert text_of(polled, target, "i64", T=KINDS[kind], N=64)


@triton.jit
def agreed(table, p, o, slots, peer, n):
    ctx = st.DeviceContext(table)
    value, valid = ctx.try_floats(slots, dtype=tl.float32)
    while not valid:
        value, valid = ctx.try_floats(slots, dtype=tl.float32)
    tl.store(o, value)


def test_all_threads_see_the_same_look():
    """One reads for all: a loop around it ends for all of them, or for none."""
    text = text_of(agreed, "sm_90", "fp32")
    assert "ld.relaxed" not in text, text
    assert len(re.findall(r"\batom\.\S*or\.b32", text)) % 4 == 0 and "bar.sync" in text, text


@triton.jit
def a_loops_variable(table, p, n):
    for i in range(n):
        st.put_floats(table, p + 4 * i, i * 0.5, 0)


def test_a_loops_variable_is_a_value():
    # test/python/checked/packets.py has the same in the interpreter.
    text = machine_text(compile_for("sm_90", a_loops_variable, dict(table="*i64", p="*i32", n="i32")))
    assert "st.relaxed.sys.global.v4.b32" in text, text


@triton.jit
def of_integers(table, p):
    st.put_floats(table, p, tl.arange(0, 4), 0)


@triton.jit
def with_one_nan(table, p):
    st.wait_floats(table, p, 16, tl.float8e4b8)


@triton.jit
def half_a_line(table, p):
    st.wait_floats(table, p, 2, tl.float32)


@triton.jit
def words_of_32_bits(table, p):
    st.put_floats(table, p, tl.arange(0, 4), 0, dtype=tl.float32)


@triton.jit
def a_number(table, p):
    st.put_floats(table, p, 1.0, 0)


@triton.jit
def into_floats(table, p):
    st.wait_floats(table, p, 4)


@pytest.mark.parametrize(
    ("kernel", "kind", "message"),
    [
        (of_integers, "i32", "S1: floats that show .* are fp64, fp32, fp16, bf16, fp8e5, fp8e4nv, not int32"),
        (with_one_nan, "i32", "not fp8e4b8: send packets"),
        (half_a_line, "i32", "a block of floats is a multiple of 16 bytes, not 8"),
        (words_of_32_bits, "i32", "words of these floats, where dtype is given, not of int32"),
        (a_number, "i32", "value must be a scalar or a block of the kernel, not 1.0"),
        (into_floats, "fp32", "slots must be a pointer to integers"),
    ],
)
def test_wrong_use_is_told(kernel, kind, message):
    with pytest.raises(symm.CompileError, match=message):
        compile_for("sm_90", kernel, dict(table="*i64", p=f"*{kind}"))
