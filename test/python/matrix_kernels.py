"""One op in a kernel: Triton's and Gluon's, with and without mask, of one element (BLOCK = 0) and of a block.

What both front ends compile alike is written once, with Triton's functions, which Gluon knows too.
"""

import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


def move(ctx, p, q, peer, mask, OP: tl.constexpr):
    if OP == "load":
        tl.store(q, ctx.load(p, peer, mask=mask, other=None if mask is None else 0), mask=mask)
    elif OP == "store":
        ctx.store(q, tl.load(p, mask=mask), peer, mask=mask)
    elif OP == "get":
        ctx.get(p, q, peer, mask=mask)
    elif OP == "put":
        ctx.put(p, q, peer, mask=mask)
    elif OP == "copy":
        ctx.copy(p, q, peer, ctx.rank(), mask=mask)
    else:
        tl.store(q, tl.load(ctx.as_remote(p, peer), mask=mask), mask=mask)


def update(ctx, p, old, peer, mask, OP: tl.constexpr, SEM: tl.constexpr):
    """`OP` is an atomic that takes one value, or None for a compare-and-swap."""
    value = tl.load(old)
    if OP is None:
        x = ctx.atomic_cas(p, value, value + value, peer, sem=SEM)
    else:
        x = OP(ctx, p, value, peer, mask=mask, sem=SEM)
    tl.store(old, x, mask=mask)


triton_move, triton_update = triton.jit(move), triton.jit(update)
gluon_move, gluon_update = gluon.jit(move), gluon.jit(update)


@triton.jit
def triton_data(table, p, q, n, peer, OP: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr, THREADS: tl.constexpr):
    ctx = st.DeviceContext(table)
    if BLOCK == 0:
        triton_move(ctx, p, q, peer, n > 0 if MASK else None, OP)
    else:
        at = tl.arange(0, BLOCK)
        triton_move(ctx, p + at, q + at, peer, at < n if MASK else None, OP)


@gluon.jit
def gluon_data(table, p, q, n, peer, OP: gl.constexpr, MASK: gl.constexpr, BLOCK: gl.constexpr, THREADS: gl.constexpr):
    ctx = sg.DeviceContext(table)
    if BLOCK == 0:
        gluon_move(ctx, p, q, peer, n > 0 if MASK else None, OP)
    else:
        width: gl.constexpr = 128 // p.dtype.element_ty.primitive_bitwidth
        at = gl.arange(0, BLOCK, layout=gl.BlockedLayout([width], [THREADS], [4], [0]))
        gluon_move(ctx, p + at, q + at, peer, at < n if MASK else None, OP)


@triton.jit
def triton_atomic(
    table, p, old, n, peer, OP: tl.constexpr, SEM: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr,
    THREADS: tl.constexpr,
):  # fmt: skip
    ctx = st.DeviceContext(table)
    if BLOCK == 0:
        triton_update(ctx, p, old, peer, n > 0 if MASK else None, OP, SEM)
    else:
        at = tl.arange(0, BLOCK)
        triton_update(ctx, p + at, old + at, peer, at < n if MASK else None, OP, SEM)


@gluon.jit
def gluon_atomic(
    table, p, old, n, peer, OP: gl.constexpr, SEM: gl.constexpr, MASK: gl.constexpr, BLOCK: gl.constexpr,
    THREADS: gl.constexpr,
):  # fmt: skip
    ctx = sg.DeviceContext(table)
    if BLOCK == 0:
        gluon_update(ctx, p, old, peer, n > 0 if MASK else None, OP, SEM)
    else:
        at = gl.arange(0, BLOCK, layout=gl.BlockedLayout([2], [THREADS], [4], [0]))
        gluon_update(ctx, p + at, old + at, peer, at < n if MASK else None, OP, SEM)
