"""A kernel that waits for other ranks, under triton.autotune: each config is timed as often on every rank.

Triton's own benchmark runs a config until some time has passed: ranks would run it differently often, wait for each
other in vain, and choose different configs. Here they time a fixed number of runs, and agree on the slowest rank's
time.
"""

import time

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((128, 2), (256, 4), (512, 4))]


@triton.jit
def shift(table, source, target, steps, arrived, n, BLOCK: tl.constexpr):
    """Puts `source` into `target` of the next rank; each program counts its steps in memory, so runs may repeat."""
    ctx = st.DeviceContext(table)
    program, after = tl.program_id(0), (ctx.rank() + 1) % ctx.num_ranks()
    step = tl.load(steps + program) + 1
    at = program * BLOCK + tl.arange(0, BLOCK)
    ctx.put(source + at, target + at, after, mask=at < n)
    ctx.signal(arrived + program, step, after)
    ctx.wait(arrived + program, step)
    tl.store(steps + program, step)


def agreed(world, runs=3):
    """A benchmark for triton.autotune whose result is the same on all ranks, in milliseconds."""

    def bench(call, quantiles):
        call()
        world.barrier()
        start = time.perf_counter()
        for _ in range(runs):
            call()
        world.barrier()
        mine = 1000 * (time.perf_counter() - start) / runs
        return [max(world.broadcast(mine, rank) for rank in range(world.get_num_ranks()))] * len(quantiles)

    return bench


def check(world):
    n, me, ranks = 1000, world.get_rank(), world.get_num_ranks()
    tuned = triton.autotune(CONFIGS, key=["n"], do_bench=agreed(world))(shift)
    source, target = (world.zeros(n, dtype=torch.float32) for _ in range(2))
    # As many programs as the smallest block needs.
    steps, arrived = (world.zeros(triton.cdiv(n, 128), dtype=torch.int32) for _ in range(2))
    source.copy_(torch.from_numpy(np.arange(n, dtype=np.float32) + me))
    world.barrier()
    tuned[lambda config: (triton.cdiv(n, config["BLOCK"]),)](
        world.get_device_context(), source, target, steps, arrived, n
    )
    assert np.array_equal(target.cpu().numpy(), np.arange(n) + (me + ranks - 1) % ranks), target
    assert len({str(world.broadcast(tuned.best_config, rank)) for rank in range(ranks)}) == 1
    world.barrier()
