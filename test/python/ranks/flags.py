"""Looks that do not wait, the value that a wait returns, signals to all ranks, and waits for several flags."""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
context = world.get_device_context()


@triton.jit
def meet(table, flags, found, RANKS: tl.constexpr):
    """Each rank tells all of them its number and 10; each flag is of one sender."""
    ctx = st.DeviceContext(table)
    mine = ctx.rank()
    ctx.signal_all(flags + mine, mine + 10)
    at = tl.arange(0, RANKS)
    tl.store(found + at, ctx.wait_all(flags + at, 10))
    tl.store(found + RANKS + at, ctx.wait_all(flags + at, at + 10, "eq", mask=at > 0), mask=at > 0)
    seen = ctx.wait_any(flags + at, 9 + ctx.num_ranks())
    tl.store(found + 2 * RANKS + at, (seen >= 9 + ctx.num_ranks()).to(tl.int32))


for dtype in (torch.int32, torch.int64):
    flags, found = world.zeros(ranks, dtype=dtype), world.zeros(3 * ranks, dtype=torch.int32)
    world.barrier()
    meet[(1,)](context, flags, found, RANKS=ranks)
    numbers = [10 + rank for rank in range(ranks)]
    assert found.tolist() == [*numbers, 0, *numbers[1:], *[0] * (ranks - 1), 1], found.tolist()
    world.barrier()


@triton.jit
def count(table, counter, found):
    """Adds to all counters; a look tells whether all have come, and a wait returns what is there."""
    ctx = st.DeviceContext(table)
    tl.store(found, ctx.test(counter, 1).to(tl.int32))
    ctx.barrier()
    ctx.signal_all(counter, 2, op="add")
    seen = ctx.wait(counter, 2 * ctx.num_ranks())
    tl.store(found + 1, seen)
    tl.store(found + 2, ctx.test(counter, 2 * ctx.num_ranks()).to(tl.int32))
    tl.store(found + 3, ctx.test(counter, seen, "ne").to(tl.int32))
    if ctx.test(counter, -1, compare="lt"):
        tl.store(found + 4, 1)


counter, found = world.zeros(1, dtype=torch.int64), world.zeros(5, dtype=torch.int32)
world.barrier()
count[(1,)](context, counter, found)
assert found.tolist() == [0, 2 * ranks, 1, 0, 0], found.tolist()
world.barrier()


@triton.jit
def first_of(table, flags, data, found, N: tl.constexpr):
    """Takes what comes as it comes: whoever is there, until all are."""
    ctx = st.DeviceContext(table)
    ctx.store(data + ctx.rank(), ctx.rank() + 1, 0)
    ctx.signal(flags + ctx.rank(), 1, 0)
    if ctx.rank() == 0:
        at = tl.arange(0, N)
        open = at < ctx.num_ranks()
        total = 0
        while tl.max(open.to(tl.int32)) > 0:
            came = open & (ctx.wait_any(flags + at, 1, mask=open) >= 1)
            total += tl.sum(tl.load(data + at, mask=came, other=0))
            open = open & ~came
        tl.store(found, total)


flags, data, found = (world.zeros(8, dtype=torch.int32) for _ in range(3))
world.barrier()
first_of[(1,)](context, flags, data, found, N=8)
assert found.tolist()[0] == (ranks * (ranks + 1) // 2 if me == 0 else 0)
world.barrier()
world.close()
