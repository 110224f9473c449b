"""C = Σ A · B over the ranks, a shard of the rows for each: every tile goes to its owner as soon as it is there."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_reduce_scatter(
    table, a, b, parts, arrived, c, step, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """A program for each tile of C, on every rank; `parts` has [ranks, M / ranks, N] and is the owner's."""
    ctx = st.DeviceContext(table)
    me, ranks, tiles, tile = ctx.rank(), ctx.num_ranks(), tl.num_programs(0), tl.program_id(0)
    # Rows of other ranks first, so that their owners do not wait.
    tile = (tile + (me + 1) * (tiles // ranks)) % tiles
    row, column, rows = tile // (N // BN) * BM, tile % (N // BN) * BN, M // ranks
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        left = tl.load(a + (row + m)[:, None] * K + (i + k)[None, :])
        total = tl.dot(left, tl.load(b + (i + k)[:, None] * N + (column + n)[None, :]), total)
    owner, inside = row // rows, (row % rows + m)[:, None] * N + (column + n)[None, :]
    ctx.store(parts + me * rows * N + inside, total, owner)
    place = arrived + row % rows // BM * (N // BN) + column // BN
    ctx.signal(place, 1, owner, op="add")
    if owner == me:
        ctx.wait(place, ranks * step)
        total = tl.zeros((BM, BN), tl.float32)
        for rank in range(ranks):
            total += tl.load(parts + rank * rows * N + inside)
        tl.store(c + inside, total)


def check(world):
    me, ranks, tile = world.get_rank(), world.get_num_ranks(), 16
    M, N, K = 2 * tile * ranks, 2 * tile, 32
    a, b = world.zeros((M, K), dtype=torch.float16), world.zeros((K, N), dtype=torch.float16)
    parts, c = (world.zeros((count * M // ranks, N), dtype=torch.float32) for count in (ranks, 1))
    arrived = world.zeros((M // ranks // tile, N // tile), dtype=torch.int32)
    values = [np.random.default_rng(rank).integers(-3, 4, (M + N, K)).astype(np.float16) for rank in range(ranks)]
    a.copy_(torch.from_numpy(values[me][:M]))
    b.copy_(torch.from_numpy(np.ascontiguousarray(values[me][M:].T)))
    world.barrier()
    matmul_reduce_scatter[(M // tile * (N // tile),)](
        world.get_device_context(), a, b, parts, arrived, c, 1, M, N, K, BM=tile, BN=tile, BK=16
    )
    wanted = sum(each[:M].astype(np.float32) @ each[M:].T.astype(np.float32) for each in values)
    assert np.array_equal(c.cpu().numpy(), wanted[me * M // ranks : (me + 1) * M // ranks]), c
    world.barrier()
