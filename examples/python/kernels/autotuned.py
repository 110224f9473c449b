"""A kernel that waits for other ranks, under triton.autotune: each config is timed as often on every rank."""

import time

import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def shift(world, source, target, steps, arrived, n, BLOCK: tl.constexpr):
    """Puts `source` into `target` of the next rank; each program counts its steps in memory, so runs may repeat."""
    ctx = st.DeviceContext(world)
    program, after = tl.program_id(0), (ctx.rank() + 1) % ctx.num_ranks()
    step = tl.load(steps + program) + 1
    at = program * BLOCK + tl.arange(0, BLOCK)
    ctx.put(source + at, target + at, after, mask=at < n)
    ctx.signal(arrived + program, step, after)
    ctx.wait(arrived + program, step)
    tl.store(steps + program, step)


def check(world, n=1000):
    def agreed(call, quantiles):  # Milliseconds, of the slowest rank.
        call()
        world.barrier()
        start = time.perf_counter()
        call()
        world.barrier()
        mine = 1000 * (time.perf_counter() - start)
        return [max(world.broadcast(mine, rank) for rank in range(world.get_num_ranks()))] * len(quantiles)

    source, target = world.full((n,), float(world.get_rank())), world.zeros(n)
    steps, arrived = (world.zeros(triton.cdiv(n, 128), dtype=torch.int32) for _ in range(2))
    tuned = triton.autotune([triton.Config({"BLOCK": size}) for size in (128, 256)], key=["n"], do_bench=agreed)(shift)
    tuned[lambda config: (triton.cdiv(n, config["BLOCK"]),)](world, source, target, steps, arrived, n)
    assert target.tolist() == [(world.get_rank() - 1) % world.get_num_ranks()] * n, target
    assert len({str(world.broadcast(tuned.best_config, rank)) for rank in range(world.get_num_ranks())}) == 1
