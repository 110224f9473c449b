"""Looks, waits for several flags and signals to all ranks: what they become, and that they are assembled."""

import inspect
import re

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import carriers, compile_for, exported, machine_text
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

SIGNATURE = {"table": "*i64", "flags": "*u32", "found": "*i32", "data": "*fp32"}


@triton.jit
def results(table, flags, found, data, USED: tl.constexpr):
    ctx = st.DeviceContext(table)
    if USED:
        tl.store(found, ctx.wait(flags, 1))
    else:
        ctx.wait(flags, 1)


def test_a_wait_reads_the_flag_only_if_its_result_is_used():
    named = [carrier.split("(")[0] for carrier, *_ in carriers(exported(results, SIGNATURE, USED=False))]
    assert named == ["wait"]
    found = carriers(exported(results, SIGNATURE, USED=True))
    assert [carrier.split("(")[0] for carrier, *_ in found] == ["wait", "rank", "atomic_rmw"]
    assert found[-1][0] == "atomic_rmw(ctx, ptr, value, rank) {kind = or, sem = acquire}"


def triton_flags(table, flags, found, data, OP: tl.constexpr, N: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    each(ctx, flags, found, data, at, OP)


def each(ctx, flags, found, data, at, OP: tl.constexpr):
    if OP == "test":
        if ctx.test(flags, 3):
            tl.store(found, tl.load(data).to(tl.int32))
    elif OP == "wait":
        tl.store(found, ctx.wait(flags, 3))
    elif OP == "signal_all":
        tl.store(data, 1.0)
        ctx.signal_all(flags + ctx.rank(), 3)
    elif OP == "wait_all":
        tl.store(found + at, ctx.wait_all(flags + at, 3, mask=at < ctx.num_ranks()))
        tl.store(found, tl.load(data).to(tl.int32))
    else:
        tl.store(found + at, ctx.wait_any(flags + at, at + 3, "eq"))


def gluon_flags(table, flags, found, data, OP: gl.constexpr, N: gl.constexpr, THREADS: gl.constexpr):
    ctx = sg.DeviceContext(table)
    at = gl.arange(0, N, layout=gl.BlockedLayout([1], [THREADS], [4], [0]))
    gluon_each(ctx, flags, found, data, at, OP)


gluon_each, gluon_kernel = gluon.jit(each), gluon.jit(gluon_flags)
each, triton_kernel = triton.jit(each), triton.jit(triton_flags)


@pytest.mark.parametrize("op", ["test", "wait", "signal_all", "wait_all", "wait_any"])
@pytest.mark.parametrize("front_end", ["triton", "gluon"])
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_compiles(target, front_end, op):
    constants = {"OP": op, "N": 8}
    if front_end == "gluon":
        constants["THREADS"] = 32 if target == "sm_90" else 64
    kernel = triton_kernel if front_end == "triton" else gluon_kernel
    text = machine_text(compile_for(target, kernel, SIGNATURE, **constants))
    if target == "gfx942":
        assert ("buffer_wbl2 sc0 sc1" if op == "signal_all" else "buffer_inv sc0 sc1") in text
        return
    if op == "signal_all":
        # One fence for all ranks, and what it releases before the loop of signals.
        assert len(re.findall(r"fence\.\S*sys", text)) == 1, text
        assert re.search(
            r"st\.global.*bar\.sync.*fence\.\S*sys.*\$L__BB\d+_\d+:.*\b(atom|red)\.\S*relaxed", text, re.S
        ), text
    else:
        [look] = re.findall(r"\batom\.\S*", text)
        assert {"or", "acquire", "sys", "b32"} <= {*look.split(".")}, text
    if op in ("test", "wait_all"):
        # What the flag tells of is read after it, and after the threads have met.
        assert re.search(r"\batom\..*bar\.sync.*ld\.global", text, re.S), text


@triton.jit
def one_pointer(table, flags, found, data):
    st.wait_all(table, flags, 1)


@triton.jit
def floats(table, flags, found, data):
    st.wait_any(table, data + tl.arange(0, 8), 1)


@triton.jit
def wide_value(table, flags, found, data):
    st.test(table, flags, 1 << 33)


@triton.jit
def comparison(table, flags, found, data):
    st.test(table, flags, 1, "==")


@triton.jit
def releasing(table, flags, found, data):
    st.wait_all(table, flags + tl.arange(0, 8), 1, sem="release")


@triton.jit
def acquiring(table, flags, found, data):
    st.signal_all(table, flags, 1, sem="acquire")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            one_pointer,
            "symm wait_all: flags must be a block of pointers, not pointer<uint32>: for one flag use wait",
        ),
        (floats, "symm wait_any: a flag is an int32, uint32, int64 or uint64, but this one is fp32"),
        (wide_value, "symm test: value 8589934592 does not fit in a flag of uint32"),
        (comparison, "symm test: compare must be one of 'eq', 'ne', 'lt', 'le', 'gt', 'ge', not '=='"),
        (releasing, "symm wait_all: sem must be one of 'relaxed', 'acquire', not 'release'"),
        (acquiring, "symm signal_all: sem must be one of 'relaxed', 'release', not 'acquire'"),
    ],
)
def test_wrong_uses_name_the_line(kernel, message):
    with pytest.raises(symm.CompileError, match=re.escape(message)) as caught:
        compile_for("sm_90", kernel, SIGNATURE)
    _, first = inspect.getsourcelines(kernel.fn)
    assert (caught.value.file, caught.value.line) == (__file__, first + 2)
