"""Loops that load from other ranks: which are staged, that a test of the addresses stands before them, and when not."""

import inspect
import re

import pytest
import symm.triton as st
import triton
import triton.language as tl
from compiling import VERSION, compile_for, machine_text

SIGNATURE = {"table": "*i64", **dict.fromkeys(("p", "q", "r"), "*fp32"), "index": "*i32", "flag": "*i32"}
SIGNATURE |= {**dict.fromkeys(("n", "m", "stride", "peer"), "i32"), "wide": "i64"}


@triton.jit
def pull(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        tl.store(q + at, ctx.load(p + at, peer, mask=at < n), mask=at < n)


@triton.jit
def pull_carried(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    theirs, mine = p + tl.arange(0, B), q + tl.arange(0, B)
    for _ in range(n):
        tl.store(mine, ctx.load(theirs, peer))
        theirs += B
        mine += B


@triton.jit
def pull_tiles(table, p, q, n, m, stride, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    row = tl.program_id(0) * 16 + tl.arange(0, 16)
    for first in range(0, n, B // 16):
        column = first + tl.arange(0, B // 16)
        at = row[:, None] * stride + column[None, :] % m
        ctx.get(p + at, q + at, peer)


@triton.jit
def pull_remote(table, p, q, n, wide, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    theirs = ctx.as_remote(p, peer)
    for start in range(0, n, B):
        at = wide * 3 + start + tl.arange(0, B)
        tl.store(q + at, tl.load(theirs + at))


@triton.jit
def pull_remote_block(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    mine, theirs = q + tl.arange(0, B), ctx.as_remote(p + tl.arange(0, B), peer)
    for _ in range(n):
        tl.store(mine, tl.load(theirs))
        theirs += B
        mine += B


@triton.jit
def add_from(table, p, q, r, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    for i in range(n):
        tl.store(r + at, tl.load(q + at) + ctx.load(p + i * B + at, peer))


@triton.jit
def sum_of_many(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for i in range(n):
        total += ctx.load(p + i * B + at, peer)
    tl.store(q + at, total)


@triton.jit
def push(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        ctx.store(q + at, tl.load(p + at), peer)


@triton.jit
def put_blocks(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        ctx.put(p + at, q + at, peer)


@triton.jit
def add_in_place(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    for i in range(n):
        tl.store(q + at, tl.load(q + at) + ctx.load(p + i * B + at, peer))


@triton.jit
def add_in_place_of_each(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    for i in range(n):
        tl.store(p + i * B + at, tl.load(p + i * B + at) + ctx.load(p + i * B + at, peer))


@triton.jit
def over_ranks(table, p, q, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for i in range(1, ctx.num_ranks()):
        total += ctx.load(p + at, (ctx.rank() + i) % ctx.num_ranks())
    tl.store(q + at, total)


@triton.jit
def over_eight(table, p, q, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for peer in range(8):
        total += ctx.load(p + at, peer)
    tl.store(q + at, total)


@triton.jit
def gather(table, p, q, index, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(0, n, B):
        at = start + tl.arange(0, B)
        tl.store(q + at, ctx.load(p + tl.load(index + at), peer))


@triton.jit
def to_a_block_pointer(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    block = tl.make_block_ptr(q, (n,), (1,), (0,), (B,), (0,))
    for start in range(0, n, B):
        tl.store(block, ctx.load(p + start + tl.arange(0, B), peer))


@triton.jit
def own_stages(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in tl.range(0, n, B, num_stages=1):
        at = start + tl.arange(0, B)
        tl.store(q + at, ctx.load(p + at, peer))


@triton.jit
def waits(table, p, q, flag, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(0, n, B):
        at = start + tl.arange(0, B)
        ctx.wait(flag, start)
        tl.store(q + at, ctx.load(p + at, peer))


def compiled(kernel, caplog, **options):
    signature = {name: SIGNATURE[name] for name in kernel.arg_names if name != "B"}
    aligned = [name for name in signature if name != "peer"]
    with caplog.at_level("INFO", "symm"):
        return compile_for("sm_90", kernel, signature, aligned, {"num_warps": 8, **options}, B=2048)


def line_of(kernel, word):
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, line in enumerate(lines) if word in line)


def blocks_of(text):
    """The basic blocks of PTX, each with its loads, stores and asynchronous copies of whole vectors, in order."""
    accesses = r"ld\.global\S*\.v4|st\.global\S*\.v4|cp\.async\.c[ag]"
    return [re.findall(accesses, block) for block in re.split(r"^\$L__BB\d+_\d+:", text, flags=re.MULTILINE)]


STAGED = [pull, pull_carried, pull_tiles, pull_remote, pull_remote_block, add_from]


@pytest.mark.parametrize("kernel", STAGED, ids=lambda each: each.__name__)
def test_a_loop_is_staged_where_its_accesses_are_apart(kernel, caplog):
    text = machine_text(compiled(kernel, caplog))
    ahead = 80 // (16 if kernel is add_from else 8)
    [remark] = caplog.messages
    assert f"{__file__}:{line_of(kernel, 'for ')}: 'scf.for' op is given {ahead + 1} stages of " in remark
    assert "if the bytes it loads and the bytes it stores do not overlap" in remark
    blocks = blocks_of(text)
    # A loop whose loads are those of a later iteration, and one that stores what it has just loaded.
    assert any(block and block[-1].startswith("cp") and block[0].startswith("st") for block in blocks), blocks
    loaded = 4 if kernel is add_from else 2
    plain = [block for block in blocks if block and not any(each.startswith("cp") for each in block)]
    assert [[each[:2] for each in block] for block in plain] == [["ld"] * loaded + ["st"] * 2], blocks


def test_a_loop_that_stores_nothing_is_staged_without_a_test(caplog):
    text = machine_text(compiled(sum_of_many, caplog))
    assert "cp.async" in text and not re.search(r"ld\.global\S*\.v4", text)
    assert caplog.messages[0].endswith("is given 11 stages of 8192 bytes")


LEFT_ALONE = [push, put_blocks, add_in_place, add_in_place_of_each, over_ranks, over_eight]
LEFT_ALONE += [gather, own_stages, waits]
# Newer versions have no block pointers.
LEFT_ALONE += [to_a_block_pointer] if VERSION < (3, 7) else []


@pytest.mark.parametrize("kernel", LEFT_ALONE, ids=lambda each: each.__name__)
def test_other_loops_are_left_alone(kernel, caplog):
    found = compiled(kernel, caplog)
    assert "cp.async" not in machine_text(found) and not caplog.messages
    assert found.metadata.shared <= 16


@pytest.mark.parametrize(("asked", "stages"), [(1, 0), (2, 2), (3, 11), (5, 5), (40, 17)])
def test_stages_of_the_launch_are_taken(asked, stages, caplog):
    found = compiled(pull, caplog, num_stages=asked)
    assert [int(re.search(r"given (\d+) stages", each)[1]) for each in caplog.messages] == [stages][: stages > 0]
    # Triton has a buffer for each stage but the last.
    assert found.metadata.shared == max(0, stages - 1) * 8192


def test_amd_has_no_stages(caplog):
    signature = {name: SIGNATURE[name] for name in pull.arg_names if name != "B"}
    with caplog.at_level("INFO", "symm"):
        compile_for("gfx942", pull, signature, B=2048)
    assert not caplog.messages
