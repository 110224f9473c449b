"""All-gather and matrix product as one Gluon kernel, whose warps have different work.

Two warps of each program pull the peers' rows of `a`; one brings tiles into shared memory as soon as their part of the
rows is there, by TMA; eight multiply. So the product stops for nothing but data that is not here yet.
"""

import symm.gluon as sg
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

# Newer versions have other names for them.
OLD = triton.__version__ < "3.7"
load_tile = tma.async_copy_global_to_shared if OLD else tma.async_load
store_tile = tma.async_copy_shared_to_global if OLD else tma.async_store


@gluon.jit
def place(tile, me, ROWS: gl.constexpr, N: gl.constexpr, RANKS: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr,
          GROUP: gl.constexpr):  # fmt: skip
    """Which shard a tile is of, and its row and column: own rows first, by `GROUP` tiles down."""
    ACROSS: gl.constexpr = N // BN
    DOWN: gl.constexpr = ROWS // BM
    shard = tile // (DOWN * ACROSS)
    inside = tile % (DOWN * ACROSS)
    band = inside // (GROUP * ACROSS)
    high = gl.minimum(DOWN - band * GROUP, GROUP)
    m = band * GROUP + inside % (GROUP * ACROSS) % high
    n = inside % (GROUP * ACROSS) // high
    return shard, (me + shard) % RANKS * ROWS + m * BM, n * BN


@gluon.jit
def multiply(a_tiles, b_tiles, c_tile, full, empty, c, me, ROWS: gl.constexpr, N: gl.constexpr, K: gl.constexpr,
             RANKS: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, GROUP: gl.constexpr,
             STAGES: gl.constexpr):  # fmt: skip
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[8, 1], instr_shape=[16, BN, 16])
    step = 0
    for tile in range(gl.program_id(0), RANKS * (ROWS // BM) * (N // BN), gl.num_programs(0)):
        shard, row, column = place(tile, me, ROWS, N, RANKS, BM, BN, GROUP)
        product = gl.zeros((BM, BN), gl.float32, layout=layout)
        for k in range(0, K, BK):
            slot = step % STAGES
            mbarrier.wait(full.index(slot), step // STAGES & 1)
            ahead = warpgroup_mma(a_tiles.index(slot), b_tiles.index(slot).permute((1, 0)), product, is_async=True)
            product = warpgroup_mma_wait(1, deps=(ahead,))
            # The step before this one has been multiplied.
            mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES), pred=k > 0)
            step += 1
        product = warpgroup_mma_wait(0, deps=(product,))
        mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES))
        left, right = product.reshape((BM, 2, BN // 2)).permute((0, 2, 1)).split()
        tma.store_wait(0)
        c_tile.store(left.to(c.dtype))
        fence_async_shared()
        store_tile(c, [row, column], c_tile)
        tma.store_wait(0)
        c_tile.store(right.to(c.dtype))
        fence_async_shared()
        store_tile(c, [row, column + BN // 2], c_tile)
    tma.store_wait(0)


@gluon.jit
def bring(table, a, b, a_tiles, b_tiles, full, empty, flags, target, ROWS: gl.constexpr, N: gl.constexpr,
          K: gl.constexpr, RANKS: gl.constexpr, CHUNKS: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr,
          BK: gl.constexpr, GROUP: gl.constexpr, STAGES: gl.constexpr):  # fmt: skip
    ctx = sg.DeviceContext(table)
    me = ctx.rank()
    step = 0
    for tile in range(gl.program_id(0), RANKS * (ROWS // BM) * (N // BN), gl.num_programs(0)):
        shard, row, column = place(tile, me, ROWS, N, RANKS, BM, BN, GROUP)
        for chunk in range(CHUNKS):
            ctx.wait(flags + shard * CHUNKS + chunk, gl.where(shard > 0, target, 0))
            for k in range(chunk * (K // CHUNKS), (chunk + 1) * (K // CHUNKS), BK):
                slot = step % STAGES
                mbarrier.wait(empty.index(slot), (step // STAGES & 1) ^ 1)
                mbarrier.expect(full.index(slot), (BM + BN) * BK * 2)
                load_tile(a, [row, k], full.index(slot), a_tiles.index(slot))
                load_tile(b, [column, k], full.index(slot), b_tiles.index(slot))
                step += 1


@gluon.jit
def pull(table, heap, flags, ready, done, plan, parts, epoch, ROWS: gl.constexpr, K: gl.constexpr,
         RANKS: gl.constexpr, CHUNKS: gl.constexpr, BLOCK: gl.constexpr, GROUPS: gl.constexpr):  # fmt: skip
    """Pulls what the peers have, part by part in the order of `plan`; each of the `GROUPS` of programs takes its own.

    While one group signals, the others load.
    """
    ctx = sg.DeviceContext(table)
    me = ctx.rank()
    number, programs = gl.program_id(0) // GROUPS, gl.num_programs(0) // GROUPS
    if gl.program_id(0) == 0:
        for other in range(1, RANKS):
            ctx.signal(ready + me, epoch, (me + other) % RANKS)
    WIDTH: gl.constexpr = K // CHUNKS
    STEP_K: gl.constexpr = min(WIDTH, BLOCK)
    STEP: gl.constexpr = BLOCK // STEP_K
    TIMES: gl.constexpr = WIDTH // STEP_K
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [1, 32], [1, 2], [1, 0])
    rows = gl.arange(0, STEP, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, STEP_K, layout=gl.SliceLayout(0, layout))
    at = rows[:, None] * K + columns[None, :]
    for index in range(gl.program_id(0) % GROUPS, parts, GROUPS):
        part = gl.load(plan + index)
        peer = (me + part // CHUNKS) % RANKS
        ctx.wait(ready + peer, epoch)
        here = heap + (peer * ROWS).to(gl.int64) * K + (part % CHUNKS) * WIDTH
        for block in range(number, ROWS // STEP * TIMES, programs):
            there = here + block // TIMES * STEP * K + block % TIMES * STEP_K + at
            ctx.get(there, there, peer)
        ctx.signal(flags + part, 1, me, op="add")
    for other in range(1, RANKS):
        ctx.signal(done, 1, (me + other) % RANKS, op="add")
    if gl.program_id(0) == 0:
        ctx.wait(done, epoch * (RANKS - 1) * gl.num_programs(0))


@gluon.jit
def gather_multiply(table, heap, a, b, c, flags, ready, done, epochs, plan, parts, ROWS: gl.constexpr, N: gl.constexpr,
                    K: gl.constexpr, RANKS: gl.constexpr, CHUNKS: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr,
                    BK: gl.constexpr, GROUP: gl.constexpr, STAGES: gl.constexpr,
                    BLOCK: gl.constexpr, GROUPS: gl.constexpr):  # fmt: skip
    """c = a · bᵀ with the rows of all ranks, of which each has its own in its `heap`, which `a` describes."""
    epoch = gl.load(epochs + gl.program_id(0)) + 1
    me = sg.rank(table)
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES, BM, BK], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES, BN, BK], b.layout)
    c_tile = gl.allocate_shared_memory(c.dtype, [BM, BN // 2], c.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(STAGES):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=1)
    gl.warp_specialize(
        [
            (multiply, (a_tiles, b_tiles, c_tile, full, empty, c, me, ROWS, N, K, RANKS, BM, BN, BK, GROUP, STAGES)),
            (bring, (table, a, b, a_tiles, b_tiles, full, empty, flags, epoch * (gl.num_programs(0) // GROUPS),
                     ROWS, N, K, RANKS, CHUNKS, BM, BN, BK, GROUP, STAGES)),
            (pull, (table, heap, flags, ready, done, plan, parts, epoch, ROWS, K, RANKS, CHUNKS, BLOCK, GROUPS)),
        ],
        [1, 2],
        [88, 88],
    )
    gl.store(epochs + gl.program_id(0), epoch)
