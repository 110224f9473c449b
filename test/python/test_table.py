"""On AMD, the context table is read by scalar loads wherever the ranks are known early, also after other writes."""

import re

import pytest
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text

SIGNATURE = {"table": "*i64", "p": "*i32", "q": "*i32", "n": "i32"}


@triton.jit
def after_a_store(table, p, q, n, CASE: tl.constexpr):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    ctx = st.DeviceContext(table)
    value = tl.load(p + at)
    tl.store(q + at, value + 1)
    if CASE == "next":
        peer = (ctx.rank() + 1) % ctx.num_ranks()
    elif CASE == "other":
        peer = ctx.num_ranks() - 1 - ctx.rank()
    else:
        peer = n + 1
    ctx.store(p + at, value, peer)


@triton.jit
def twice(table, p, q, n, CASE: tl.constexpr):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    ctx = st.DeviceContext(table)
    for ahead in tl.static_range(1, 3):
        peer = (ctx.rank() + ahead) % ctx.num_ranks()
        ctx.store(q + at, ctx.load(p + at, peer), peer)


@triton.jit
def one_call(table, p, q, n, CASE: tl.constexpr):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    value = tl.load(p + at)
    for i in range(n):
        tl.store(q + at + i, value + 1)
        st.store(table, p + at + i, value, 1)


@triton.jit
def after_a_wait(table, p, q, n, CASE: tl.constexpr):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    ctx = st.DeviceContext(table)
    ctx.wait(q, 1)
    ctx.store(p + at, at, (ctx.rank() + 1) % ctx.num_ranks())


@pytest.mark.parametrize(
    ("kernel", "case"),
    [
        (after_a_store, "next"),
        (after_a_store, "other"),
        (after_a_store, "given"),
        (twice, ""),
        (one_call, ""),
        (after_a_wait, ""),
    ],
)
def test_the_table_is_read_by_scalar_loads(kernel, case):
    text = machine_text(compile_for("gfx942", kernel, SIGNATURE, CASE=case))
    # Bases are eight bytes; data here is four.
    assert not re.findall(r"(?:global|flat|buffer)_load_dwordx2.*", text), text
    assert "s_load_dwordx2" in text
