"""All-gather around a ring: two slots between neighbours, and credits that say which of them are free."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def ring_with_credits(world, mine, slots, arrived, credits, gathered, step, SLOTS: tl.constexpr, BLOCK: tl.constexpr):
    """`step` counts all blocks that have gone through the slots; it lets the flags grow from call to call."""
    ctx = st.DeviceContext(world)
    me, ranks, at = ctx.rank(), ctx.num_ranks(), tl.arange(0, BLOCK)
    right, left = (me + 1) % ranks, (me + ranks - 1) % ranks
    block = tl.load(mine + at)
    tl.store(gathered + me * BLOCK + at, block)
    for i in range(step, step + ranks - 1):
        # The block before the last SLOTS has been read: its slot is free.
        ctx.wait(credits, i + 1 - SLOTS)
        ctx.store(slots + i % SLOTS * BLOCK + at, block, right)
        ctx.signal(arrived, i + 1, right)
        ctx.wait(arrived, i + 1)
        block = tl.load(slots + i % SLOTS * BLOCK + at)
        ctx.signal(credits, i + 1, left)
        tl.store(gathered + (me + ranks - 1 - (i - step)) % ranks * BLOCK + at, block)


def check(world, slots=2, block=128):
    me, ranks = world.get_rank(), world.get_num_ranks()
    arrived, credits = (world.zeros(1, dtype=torch.int32) for _ in range(2))
    room, gathered = (world.zeros(count, block, dtype=torch.int32) for count in (slots, ranks))
    for call in range(3):
        blocks = [np.arange(block) + 1000 * rank + call for rank in range(ranks)]
        mine, step = world.tensor(blocks[me], dtype=torch.int32), call * (ranks - 1)
        ring_with_credits[(1,)](world, mine, room, arrived, credits, gathered, step, slots, block)
        assert np.array_equal(gathered.cpu().numpy(), blocks), (call, gathered)
