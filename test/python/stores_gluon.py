"""Warp-specialized Gluon kernels, one partition of which stores through a tensor descriptor."""

import symm.gluon as sg
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

# Newer versions have another name for it.
store_tile = tma.async_copy_shared_to_global if triton.__version__ < "3.7" else tma.async_store


@gluon.jit
def store(tile, shared, done, WAIT: gl.constexpr):
    fence_async_shared()
    store_tile(tile, [0, 0], shared)
    if WAIT:
        tma.store_wait(0)
    mbarrier.arrive(done, count=1)


@gluon.jit
def hand_over(table, flag, done, SIGNAL: gl.constexpr):
    mbarrier.wait(done, 0)
    if SIGNAL:
        sg.DeviceContext(table).signal(flag, 1, 1)


@gluon.jit
def stores_in_a_partition(table, flag, tile, WAIT: gl.constexpr, WITHIN: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    shared = gl.allocate_shared_memory(gl.float32, [64, 64], tile.layout)
    shared.store(gl.full([64, 64], 1.0, gl.float32, layout))
    done = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(done, count=1)
    gl.warp_specialize([(hand_over, (table, flag, done, WITHIN)), (store, (tile, shared, done, WAIT))], [4], [80])
    if not WITHIN:
        sg.DeviceContext(table).signal(flag, 1, 1)
