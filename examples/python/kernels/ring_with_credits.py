"""All-gather around a ring: two slots between neighbours, and credits that say which of them are free."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl

SLOTS = 2


@triton.jit
def ring_with_credits(table, mine, slots, arrived, credits, gathered, step, SLOTS: tl.constexpr, BLOCK: tl.constexpr):
    """`step` counts all blocks that have gone through the slots; it lets the flags grow from call to call."""
    ctx = st.DeviceContext(table)
    me, ranks = ctx.rank(), ctx.num_ranks()
    right, left = (me + 1) % ranks, (me + ranks - 1) % ranks
    at = tl.arange(0, BLOCK)
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
        source = (me + ranks - 1 - (i - step)) % ranks
        tl.store(gathered + source * BLOCK + at, block)


def check(world):
    block, me, ranks = 128, world.get_rank(), world.get_num_ranks()
    slots = world.zeros((SLOTS, block), dtype=torch.int32)
    arrived, credits = (world.zeros(1, dtype=torch.int32) for _ in range(2))
    mine, gathered = (world.zeros(size, dtype=torch.int32) for size in (block, (ranks, block)))
    world.barrier()
    for call in range(3):
        mine.copy_(torch.from_numpy(np.arange(block, dtype=np.int32) + 1000 * me + call))
        ring_with_credits[(1,)](
            world.get_device_context(), mine, slots, arrived, credits, gathered, call * (ranks - 1),
            SLOTS=SLOTS, BLOCK=block,
        )  # fmt: skip
        wanted = [np.arange(block) + 1000 * rank + call for rank in range(ranks)]
        assert np.array_equal(gathered.cpu().numpy(), wanted), (call, gathered)
    world.barrier()
