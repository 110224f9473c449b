"""All-reduce of little data: every rank loads everyone's vector and sums it, in the order of the ranks."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def one_shot_all_reduce(world, vector, total, n, BLOCK: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # Programs of one number meet: what all ranks wrote before the launch is there.
    ctx.barrier()
    result = tl.zeros([BLOCK], tl.float32)
    for peer in range(ctx.num_ranks()):
        result += ctx.load(vector + at, peer, at < n, 0.0)
    tl.store(total + at, result, at < n)
    # Nobody writes its vector again while others read it.
    ctx.barrier()


def check(world):
    n, me, ranks = 1000, world.get_rank(), world.get_num_ranks()
    vector, total = (world.zeros(n, dtype=torch.float32) for _ in range(2))
    for step in range(2):
        vector.copy_(torch.from_numpy(np.arange(n, dtype=np.float32) * (me + step)))
        one_shot_all_reduce[(4,)](world, vector, total, n, BLOCK=256)
        wanted = np.arange(n) * sum(rank + step for rank in range(ranks))
        assert np.array_equal(total.cpu().numpy(), wanted), (step, total)
