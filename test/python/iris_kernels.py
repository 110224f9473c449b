"""Iris' ops in kernels: as functions with the heap bases, as methods of the context, and in Gluon."""

import symm.iris as iris
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.jit
def functions_data(heap_bases, p, q, n, peer, rank: tl.constexpr, OP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    if OP == "load":
        tl.store(q + at, iris.load(p + at, rank, peer, heap_bases, mask=mask, other=0), mask=mask)
    elif OP == "store":
        iris.store(q + at, tl.load(p + at, mask=mask), rank, peer, heap_bases, mask=mask, hint=8)
    elif OP == "get":
        iris.get(p + at, q + at, rank, peer, heap_bases, mask=mask)
    elif OP == "put":
        iris.put(p + at, q + at, rank, peer, heap_bases, mask)
    else:
        iris.copy(p + at, q + at, peer, rank, rank, heap_bases, mask)


@triton.jit
def methods_data(table, p, q, n, peer, rank: tl.constexpr, OP: tl.constexpr, BLOCK: tl.constexpr):
    ctx = iris.DeviceContext.initialize(table, rank, 8)
    at = tl.arange(0, BLOCK)
    mask = at < n
    if OP == "load":
        tl.store(q + at, ctx.load(p + at, from_rank=peer, mask=mask, other=0), mask=mask)
    elif OP == "store":
        ctx.store(q + at, tl.load(p + at, mask=mask), to_rank=peer, mask=mask, hint=8)
    elif OP == "get":
        ctx.get(p + at, q + at, from_rank=peer, mask=mask)
    elif OP == "put":
        ctx.put(p + at, q + at, to_rank=peer, mask=mask)
    elif OP == "copy":
        ctx.copy(p + at, q + at, from_rank=peer, to_rank=ctx.rank, mask=mask)
    else:
        tl.store(q + at, tl.load(ctx.as_remote(p + at, peer), mask=mask), mask=mask)


@gluon.jit
def gluon_data(
    IrisDeviceCtx: gl.constexpr,
    table,
    p,
    q,
    n,
    peer,
    OP: gl.constexpr,
    BLOCK: gl.constexpr,
    LAYOUT: gl.constexpr,
):
    ctx = IrisDeviceCtx.initialize(table)
    at = gl.arange(0, BLOCK, layout=LAYOUT)
    mask = at < n
    if OP == "load":
        gl.store(q + at, ctx.load(p + at, peer, mask=mask, other=0), mask=mask)
    elif OP == "store":
        ctx.store(q + at, gl.load(p + at, mask=mask), peer, mask=mask)
    elif OP == "get":
        ctx.get(p + at, q + at, peer, mask=mask)
    elif OP == "put":
        ctx.put(p + at, q + at, peer, mask=mask)
    elif OP == "copy":
        ctx.copy(p + at, q + at, peer, ctx.cur_rank, mask=mask)
    else:
        gl.store(q + at, gl.load(ctx.as_remote(p + at, peer), mask=mask), mask=mask)


@triton.jit
def functions_atomics(heap_bases, p, q, n, peer, rank: tl.constexpr, CAS: tl.constexpr):
    if CAS:
        x = iris.atomic_cas(p, n, 1, rank, peer, heap_bases, sem="release", scope="sys")
    else:
        x = iris.atomic_add(p, n, rank, peer, heap_bases, sem="release", scope="sys")
        x = iris.atomic_sub(p, x, rank, peer, heap_bases, sem="release", scope="sys")
        x = iris.atomic_and(p, x, rank, peer, heap_bases, sem="release", scope="sys")
        x = iris.atomic_or(p, x, rank, peer, heap_bases, sem="release", scope="sys")
        x = iris.atomic_xor(p, x, rank, peer, heap_bases, sem="release", scope="sys")
        x = iris.atomic_min(p, x, rank, peer, heap_bases, sem="release", scope="sys")
        x = iris.atomic_max(p, x, rank, peer, heap_bases, sem="release", scope="sys")
        x = iris.atomic_xchg(p, x, rank, peer, heap_bases, sem="release", scope="sys")
    tl.store(q, x)


@triton.jit
def all_atomics(ctx, p, n, peer, CAS: tl.constexpr):
    if CAS:
        return ctx.atomic_cas(p, n, 1, peer, sem="release", scope="sys")
    x = ctx.atomic_add(p, n, peer, sem="release", scope="sys")
    x = ctx.atomic_sub(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_and(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_or(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_xor(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_min(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_max(p, x, peer, sem="release", scope="sys")
    return ctx.atomic_xchg(p, x, peer, sem="release", scope="sys")


@triton.jit
def methods_atomics(table, p, q, n, peer, rank: tl.constexpr, CAS: tl.constexpr):
    tl.store(q, all_atomics(iris.DeviceContext.initialize(table, rank, 8), p, n, peer, CAS))


@gluon.jit
def gluon_all_atomics(ctx, p, n, peer, CAS: gl.constexpr):
    if CAS:
        return ctx.atomic_cas(p, n, 1, peer, sem="release", scope="sys")
    x = ctx.atomic_add(p, n, peer, sem="release", scope="sys")
    x = ctx.atomic_sub(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_and(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_or(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_xor(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_min(p, x, peer, sem="release", scope="sys")
    x = ctx.atomic_max(p, x, peer, sem="release", scope="sys")
    return ctx.atomic_xchg(p, x, peer, sem="release", scope="sys")


@gluon.jit
def gluon_atomics(IrisDeviceCtx: gl.constexpr, table, p, q, n, peer, CAS: gl.constexpr):
    gl.store(q, gluon_all_atomics(IrisDeviceCtx.initialize(table), p, n, peer, CAS))
