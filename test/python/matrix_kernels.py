"""One op in a kernel: Triton's and Gluon's, with and without mask, of one element (BLOCK = 0) and of a block."""

import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.jit
def move(ctx, p, q, peer, mask, OP: tl.constexpr):
    if OP == "load":
        tl.store(q, st.load(ctx, p, peer, mask=mask, other=None if mask is None else 0), mask=mask)
    elif OP == "store":
        st.store(ctx, q, tl.load(p, mask=mask), peer, mask=mask)
    elif OP == "get":
        ctx.get(p, q, peer, mask=mask)
    elif OP == "put":
        ctx.put(p, q, peer, mask=mask)
    elif OP == "copy":
        ctx.copy(p, q, peer, ctx.rank(), mask=mask)
    else:
        tl.store(q, tl.load(st.as_remote(ctx, p, peer), mask=mask), mask=mask)


@triton.jit
def triton_data(table, p, q, n, peer, OP: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr, THREADS: tl.constexpr):
    ctx = st.DeviceContext(table)
    if BLOCK == 0:
        move(ctx, p, q, peer, n > 0 if MASK else None, OP)
    else:
        at = tl.arange(0, BLOCK)
        move(ctx, p + at, q + at, peer, at < n if MASK else None, OP)


@gluon.jit
def gluon_move(ctx, p, q, peer, mask, OP: gl.constexpr):
    if OP == "load":
        gl.store(q, sg.load(ctx, p, peer, mask=mask, other=None if mask is None else 0), mask=mask)
    elif OP == "store":
        sg.store(ctx, q, gl.load(p, mask=mask), peer, mask=mask)
    elif OP == "get":
        ctx.get(p, q, peer, mask=mask)
    elif OP == "put":
        ctx.put(p, q, peer, mask=mask)
    elif OP == "copy":
        ctx.copy(p, q, peer, ctx.rank(), mask=mask)
    else:
        gl.store(q, gl.load(sg.as_remote(ctx, p, peer), mask=mask), mask=mask)


@gluon.jit
def gluon_data(table, p, q, n, peer, OP: gl.constexpr, MASK: gl.constexpr, BLOCK: gl.constexpr, THREADS: gl.constexpr):
    ctx = sg.DeviceCtx(table)
    if BLOCK == 0:
        gluon_move(ctx, p, q, peer, n > 0 if MASK else None, OP)
    else:
        width: gl.constexpr = 128 // p.dtype.element_ty.primitive_bitwidth
        at = gl.arange(0, BLOCK, layout=gl.BlockedLayout([width], [THREADS], [4], [0]))
        gluon_move(ctx, p + at, q + at, peer, at < n if MASK else None, OP)


@triton.jit
def update(ctx, p, value, old, peer, mask, OP: tl.constexpr, SEM: tl.constexpr):
    if OP == "add":
        x = st.atomic_add(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "sub":
        x = st.atomic_sub(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "and":
        x = st.atomic_and(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "or":
        x = st.atomic_or(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "xor":
        x = ctx.atomic_xor(p, value, peer, mask=mask, sem=SEM)
    elif OP == "min":
        x = ctx.atomic_min(p, value, peer, mask=mask, sem=SEM)
    elif OP == "max":
        x = ctx.atomic_max(p, value, peer, mask=mask, sem=SEM)
    elif OP == "xchg":
        x = ctx.atomic_xchg(p, value, peer, mask=mask, sem=SEM)
    else:
        x = ctx.atomic_cas(p, value, value + value, peer, sem=SEM)
    tl.store(old, x, mask=mask)


@triton.jit
def triton_atomic(
    table, p, old, n, peer, OP: tl.constexpr, SEM: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr,
    THREADS: tl.constexpr,
):  # fmt: skip
    ctx = st.DeviceContext(table)
    if BLOCK == 0:
        update(ctx, p, tl.load(old), old, peer, n > 0 if MASK else None, OP, SEM)
    else:
        at = tl.arange(0, BLOCK)
        update(ctx, p + at, tl.load(old + at), old + at, peer, at < n if MASK else None, OP, SEM)


@gluon.jit
def gluon_update(ctx, p, value, old, peer, mask, OP: gl.constexpr, SEM: gl.constexpr):
    if OP == "add":
        x = sg.atomic_add(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "sub":
        x = sg.atomic_sub(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "and":
        x = sg.atomic_and(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "or":
        x = sg.atomic_or(ctx, p, value, peer, mask=mask, sem=SEM)
    elif OP == "xor":
        x = ctx.atomic_xor(p, value, peer, mask=mask, sem=SEM)
    elif OP == "min":
        x = ctx.atomic_min(p, value, peer, mask=mask, sem=SEM)
    elif OP == "max":
        x = ctx.atomic_max(p, value, peer, mask=mask, sem=SEM)
    elif OP == "xchg":
        x = ctx.atomic_xchg(p, value, peer, mask=mask, sem=SEM)
    else:
        x = ctx.atomic_cas(p, value, value + value, peer, sem=SEM)
    gl.store(old, x, mask=mask)


@gluon.jit
def gluon_atomic(
    table, p, old, n, peer, OP: gl.constexpr, SEM: gl.constexpr, MASK: gl.constexpr, BLOCK: gl.constexpr,
    THREADS: gl.constexpr,
):  # fmt: skip
    ctx = sg.DeviceCtx(table)
    if BLOCK == 0:
        gluon_update(ctx, p, gl.load(old), old, peer, n > 0 if MASK else None, OP, SEM)
    else:
        at = gl.arange(0, BLOCK, layout=gl.BlockedLayout([2], [THREADS], [4], [0]))
        gluon_update(ctx, p + at, gl.load(old + at), old + at, peer, at < n if MASK else None, OP, SEM)
