"""All-reduce of much data: every rank sums a shard of all vectors, and stores the sum to all."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def two_shot_all_reduce(world, vector, total, n, BLOCK: tl.constexpr):
    ctx = st.DeviceContext(world)
    me, ranks = ctx.rank(), ctx.num_ranks()
    shard = tl.cdiv(n, ranks)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mine = me * shard + at
    inside = (at < shard) & (mine < n)
    ctx.barrier()
    result = tl.zeros([BLOCK], tl.float32)
    for peer in range(ranks):
        result += ctx.load(vector + mine, peer, inside, 0.0)
    for i in range(ranks):
        # Each rank begins with the one after it, so that no link is busy twice.
        ctx.store(total + mine, result, (me + 1 + i) % ranks, inside)
    # A barrier releases and acquires: after it, all shards have come.
    ctx.barrier()


def check(world):
    n, me, ranks = 4001, world.get_rank(), world.get_num_ranks()
    vector, total = (world.zeros(n, dtype=torch.float32) for _ in range(2))
    programs = triton.cdiv(triton.cdiv(n, ranks), 512)
    for step in range(2):
        vector.copy_(torch.from_numpy(np.arange(n, dtype=np.float32) * (me + step)))
        two_shot_all_reduce[(programs,)](world, vector, total, n, BLOCK=512)
        wanted = np.arange(n) * sum(rank + step for rank in range(ranks))
        assert np.array_equal(total.cpu().numpy(), wanted), (step, total)
