"""`triton.autotune` of interpreted kernels: each config runs once, equally often on all ranks, which take the first."""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
configs = [triton.Config({"BLOCK": size}) for size in (32, 16, 64)]


@triton.autotune(configs, key=["n"])
@triton.heuristics({"EVEN": lambda arguments: arguments["n"] % 64 == 0})
@triton.jit
def shift(world, data, target, steps, arrived, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    """Rows go to the next rank, by flags that grow with a step that the kernel keeps in memory."""
    ctx = st.DeviceContext(world)
    after = (ctx.rank() + 1) % ctx.num_ranks()
    step = tl.load(steps) + 1
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        ctx.store(target + at, tl.load(data + at, mask=at < n) * step, after, mask=at < n)
    ctx.signal(arrived, step, after)
    ctx.wait(arrived, step)
    tl.store(steps, step)
    ctx.barrier()


def tuned_by(**keywords):
    """Its configs with a benchmark of Triton's, however that is asked for."""
    return triton.autotune(configs, key=["n"], **keywords)(shift.fn)


data, target = world.full((128,), me + 1.0), world.zeros(128)
steps, arrived = (world.zeros(1, dtype=torch.int32) for _ in range(2))
before = (me - 1) % ranks + 1.0
shift[(1,)](world, data, target, steps, arrived, 64)
# Three configs, and the launch itself.
assert steps.tolist() == [4] and target.tolist() == [4 * before] * 64 + [0] * 64, (steps, target)
assert shift.best_config.kwargs == {"BLOCK": 32}, shift.best_config
# Nobody sends the next rows before all have looked at these.
world.barrier()
shift[(1,)](world, data, target, steps, arrived, 64)
assert steps.tolist() == [5]
shift[(1,)](world, data, target, steps, arrived, 100)
assert steps.tolist() == [9] and target.tolist() == [9 * before] * 100 + [0] * 28
world.barrier()
# A benchmark of the user's stays.
called = []
tuned_by(do_bench=lambda call, quantiles: called.append(call()) or [1.0] * len(quantiles))[(1,)](
    world, data, target, steps, arrived, 64
)
assert len(called) == 3 and steps.tolist() == [13], (called, steps)
world.barrier()
