"""C = Σ A · B over the ranks, a shard of the rows for each: every tile goes to its owner as soon as it is there."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_reduce_scatter(world, a, b, parts, arrived, c, step, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr):
    """A program for BM rows of C, on every rank; `parts` has [ranks, rows of a rank, N] and is the owner's."""
    ctx = st.DeviceContext(world)
    me, ranks, each = ctx.rank(), ctx.num_ranks(), tl.num_programs(0) // ctx.num_ranks()
    # Rows of other ranks first, so that their owners do not wait.
    tile = (tl.program_id(0) + (me + 1) * each) % tl.num_programs(0)
    m, n, k = tl.arange(0, BM)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.dot(tl.load(a + (tile * BM + m) * K + k[None, :]), tl.load(b + k[:, None] * N + n))
    owner, inside = tile // each, (tile % each * BM + m) * N + n
    ctx.store(parts + me * each * BM * N + inside, total, owner)
    ctx.signal(arrived + tile % each, 1, owner, op="add")
    if owner == me:
        ctx.wait(arrived + tile % each, ranks * step)
        total = tl.zeros((BM, N), tl.float32)
        for rank in range(ranks):
            total += tl.load(parts + rank * each * BM * N + inside)
        tl.store(c + inside, total)


def check(world, N=32, K=32, BM=16):
    me, ranks, rows = world.get_rank(), world.get_num_ranks(), 2 * BM
    values = [np.random.default_rng(rank).integers(-3, 4, (rows * ranks + N, K)) for rank in range(ranks)]
    a = world.tensor(values[me][:-N], dtype=torch.float16)
    b = world.tensor(values[me][-N:].T.copy(), dtype=torch.float16)
    parts, c, arrived = world.zeros(ranks, rows, N), world.zeros(rows, N), world.zeros(2, dtype=torch.int32)
    matmul_reduce_scatter[(2 * ranks,)](world, a, b, parts, arrived, c, 1, N, K, BM)
    wanted = sum(each[:-N] @ each[-N:].T for each in values)[me * rows : (me + 1) * rows]
    assert np.array_equal(c.cpu().numpy(), wanted), c
