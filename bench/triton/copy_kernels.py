"""A grid-stride loop that copies blocks between ranks, in the ways that are compared."""

import symm.triton as st
import triton
import triton.language as tl


@triton.jit
def symm_load(table, heap_bases, p, q, n, me, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        tl.store(q + at, ctx.load(p + at, peer))


@triton.jit
def symm_store(table, heap_bases, p, q, n, me, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        ctx.store(q + at, tl.load(p + at), peer)


@triton.jit
def symm_get(table, heap_bases, p, q, n, me, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        ctx.get(p + at, q + at, peer)


@triton.jit
def symm_put(table, heap_bases, p, q, n, me, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        ctx.put(p + at, q + at, peer)


@triton.jit
def direct(table, heap_bases, p, q, n, me, peer, B: tl.constexpr, STAGES: tl.constexpr = None):
    """`p` or `q` leads to the peer already."""
    for start in tl.range(tl.program_id(0) * B, n, tl.num_programs(0) * B, num_stages=STAGES):
        at = start + tl.arange(0, B)
        tl.store(q + at, tl.load(p + at))


@triton.jit
def translated(ptr, me, peer, heap_bases):
    """Iris's way: both bases loaded each time, and through integers."""
    mine = tl.load(heap_bases + me)
    theirs = tl.load(heap_bases + peer)
    offset = tl.cast(ptr, tl.uint64) - mine
    return tl.cast(tl.cast(theirs, tl.pointer_type(tl.int8)) + offset, ptr.dtype)


@triton.jit
def iris_load(table, heap_bases, p, q, n, me, peer, B: tl.constexpr):
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        tl.store(q + at, tl.load(translated(p + at, me, peer, heap_bases)))


@triton.jit
def iris_store(table, heap_bases, p, q, n, me, peer, B: tl.constexpr):
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        tl.store(translated(q + at, me, peer, heap_bases), tl.load(p + at))
