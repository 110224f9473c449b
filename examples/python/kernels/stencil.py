"""Three-point stencil on a vector that is cut over the ranks: each step sends the two edges to the neighbours."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def stencil(world, cells, halo, arrived, steps, BLOCK: tl.constexpr):
    """`halo` has the left and the right neighbour's edge, for odd and for even steps."""
    ctx = st.DeviceContext(world)
    left, right = (ctx.rank() + ctx.num_ranks() - 1) % ctx.num_ranks(), (ctx.rank() + 1) % ctx.num_ranks()
    at = tl.arange(0, BLOCK)
    for step in range(1, steps + 1):
        place = halo + step % 2 * 2
        ctx.put_signal(cells + BLOCK - 1, place, arrived, step, right)
        ctx.put_signal(cells, place + 1, arrived + 1, step, left)
        # Two places are enough: a neighbour that is a step ahead has had this rank's edge of the step before.
        ctx.wait(arrived, step)
        ctx.wait(arrived + 1, step)
        before = tl.load(cells + at - 1, at > 0, 0.0) + tl.where(at == 0, tl.load(place), 0.0)
        after = tl.load(cells + at + 1, at < BLOCK - 1, 0.0) + tl.where(at == BLOCK - 1, tl.load(place + 1), 0.0)
        mean = (before + tl.load(cells + at) + after) / 3
        # Threads load what others store; before put_signal there is a barrier already.
        tl.debug_barrier()
        tl.store(cells + at, mean)


def check(world, block=256, steps=20):
    mine = slice(world.get_rank() * block, (world.get_rank() + 1) * block)
    whole = np.random.default_rng(7).random(block * world.get_num_ranks()).astype(np.float32)
    cells, halo = world.tensor(whole[mine], dtype=torch.float32), world.zeros(2, 2)
    stencil[(1,)](world, cells, halo, world.zeros(2, dtype=torch.int32), steps, block)
    for _ in range(steps):
        whole = (np.roll(whole, 1) + whole + np.roll(whole, -1)) / 3
    assert np.allclose(cells.cpu().numpy(), whole[mine], atol=1e-6), cells
