"""Gluon kernels without symm ops."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def transpose(out, inp, N: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    columns: gl.constexpr = gl.BlockedLayout([4, 1], [4, 8], [1, 4], [0, 1])
    r = gl.arange(0, N, layout=gl.SliceLayout(1, rows))
    c = gl.arange(0, N, layout=gl.SliceLayout(0, rows))
    values = gl.load(inp + r[:, None] * N + c[None, :])
    r = gl.arange(0, N, layout=gl.SliceLayout(1, columns))
    c = gl.arange(0, N, layout=gl.SliceLayout(0, columns))
    gl.store(out + c[None, :] * N + r[:, None], gl.convert_layout(values, columns))


@gluon.jit
def add_one(p, shared, layout: gl.constexpr):
    at = gl.arange(0, 256, layout=layout)
    shared.store(gl.load(p + at) + 1)


@gluon.jit
def add_two(out, q, layout: gl.constexpr):
    at = gl.arange(0, 256, layout=layout)
    gl.store(out + at, gl.load(q + at) + 2)


@gluon.jit
def warp_specialized(out, p, q):
    layout: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    flat: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[0])
    shared = gl.allocate_shared_memory(gl.float32, [256], flat)
    gl.warp_specialize([(add_one, (p, shared, layout)), (add_two, (out, q, layout))], [4], [80])
    at = gl.arange(0, 256, layout=layout)
    gl.store(p + at, shared.load(layout))
