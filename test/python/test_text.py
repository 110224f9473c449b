"""The machine text of kernels with symm ops: what is hoisted, what stays vectorised and pipelined."""

import re

import pytest
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text

POINTERS = {"table": "*i64", "p": "*fp16", "q": "*fp16"}


@triton.jit
def loop(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    for start in tl.range(0, n, B, num_stages=1):
        tl.store(q + start + at, ctx.load(p + start + at, peer))


@triton.jit
def piece(ctx, p, q, peer, B: tl.constexpr):
    at = tl.arange(0, B)
    ctx.store(q + at, tl.load(p + at), peer)


@triton.jit
def loop_of_calls(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in tl.range(0, n, B, num_stages=1):
        piece(ctx, p + start, q + start, peer, B)


@pytest.mark.parametrize("kernel", [loop, loop_of_calls])
def test_translation_leaves_the_loop(kernel):
    signature = {**POINTERS, "n": "i32", "peer": "i32"}
    text = machine_text(compile_for("sm_90", kernel, signature, [*POINTERS, "n"], {"num_warps": 4}, B=1024))
    label, body = re.search(r"^(\$L__BB\d+_\d+):(.*?)bra\S*\s+\1;", text, re.M | re.S).groups()
    accesses = re.findall(r"\b(?:ld|st)\.global\S*", body)
    assert accesses == ["ld.global.v4.b32", "st.global.v4.b32"], (label, body)
    # My number, my base, the number of ranks and the peer's base.
    assert len(re.findall(r"\bld\.global\S*\.b64", text)) <= 4


@triton.jit
def plain_loop(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    for start in range(0, n, B):
        tl.store(q + start + at, ctx.load(p + start + at, peer, mask=start + at < n), mask=start + at < n)


@triton.jit
def loop_of_copies(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        ctx.get(p + at, q + at, peer)


@triton.jit
def loop_that_moves_pointers(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    p += tl.arange(0, B)
    q += tl.arange(0, B)
    for _ in range(0, n, B):
        tl.store(q, ctx.load(p, peer))
        p += B
        q += B


@triton.jit
def loop_after_a_wait(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    ctx.wait(table + 16, 1)
    for start in range(0, n, B):
        at = start + tl.arange(0, B)
        ctx.get(p + at, q + at, peer)


@pytest.mark.parametrize("kernel", [plain_loop, loop_of_copies, loop_that_moves_pointers, loop_after_a_wait])
def test_a_plain_loop_is_pipelined(kernel):
    signature = {**POINTERS, "n": "i32", "peer": "i32"}
    options = {"num_warps": 8}
    compiled = compile_for("sm_90", kernel, signature, [*POINTERS, "n"], options, B=8192)
    text = machine_text(compiled)
    # Five iterations ahead: 6 times 8192 halves by 256 threads, 16 bytes each.
    copies = [match.start() for match in re.finditer(r"cp\.async\.cg\S* .*?(?:0x10|16)", text)]
    assert len(copies) == 6 * 4, text
    assert 5 * 16 << 10 <= compiled.metadata.shared < 6 * 16 << 10
    if kernel is loop_after_a_wait:
        assert re.search(r"ld\.acquire\.sys.*bar\.sync", text[: copies[0]], re.S), text


@triton.jit
def waiting_loop(table, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    for start in range(0, n, B):
        ctx.wait(table + 16, start)
        tl.store(q + start + at, ctx.load(p + start + at, peer))


def test_a_loop_that_waits_is_not_pipelined():
    signature = {**POINTERS, "n": "i32", "peer": "i32"}
    text = machine_text(compile_for("sm_90", waiting_loop, signature, [*POINTERS, "n"], {"num_warps": 8}, B=8192))
    assert "cp.async" not in text
    assert re.search(r"ld\.acquire\.sys.*bar\.sync.*ld\.global\.v4", text, re.S), text


@triton.jit
def matmul(table, a, b, c, K, peer, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    ctx = st.DeviceContext(table)
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a, at_b = a + m[:, None] * K + k[None, :], b + k[:, None] * BN + n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in tl.range(0, K, BK, num_stages=3):
        total = tl.dot(ctx.load(at_a, peer), tl.load(at_b), total)
        at_a += BK
        at_b += BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], total.to(tl.float16))


def test_remote_operands_of_a_product_are_pipelined():
    signature = {"table": "*i64", **dict.fromkeys(("a", "b", "c"), "*fp16"), "K": "i32", "peer": "i32"}
    aligned = ["table", "a", "b", "c", "K"]
    text = machine_text(compile_for("sm_90", matmul, signature, aligned, BM=128, BN=128, BK=64))
    loops = re.findall(r"^(\$L__BB\d+_\d+):(.*?)bra\S*\s+\1;", text, re.M | re.S)
    label, body = max(loops, key=lambda loop: len(loop[1]))
    copies = re.findall(r"cp\.async\.cg\S* .*?(0x10|16)", body)
    # 128 × 64 and 64 × 128 halves by 128 threads, 16 bytes each.
    assert len(copies) == 16, (label, body)
    assert "wgmma.mma_async" in body
    assert not re.findall(r"\bld\.global\S*", body)
