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
