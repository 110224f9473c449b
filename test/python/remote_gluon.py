"""A warp-specialized Gluon kernel, one partition of which loads from another rank."""

import symm.gluon as sg
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def bring(table, p, q, peer, layout: gl.constexpr):
    ctx = sg.DeviceContext(table)
    at = gl.arange(0, 256, layout=layout)
    gl.store(q + at, ctx.load(p + at, peer))


@gluon.jit
def add_two(out, p, layout: gl.constexpr):
    at = gl.arange(0, 256, layout=layout)
    gl.store(out + at, gl.load(p + at) + 2)


@gluon.jit
def warp_specialized(table, p, q, out, peer):
    layout: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    gl.warp_specialize([(add_two, (out, p, layout)), (bring, (table, p, q, peer, layout))], [4], [80])
