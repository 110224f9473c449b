"""A work queue of all ranks: one counter on rank 0 hands out tasks, and whoever is free takes the next one."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def work_queue(world, head, results, owners, tasks, BLOCK: tl.constexpr):
    """Every result goes to all ranks; tasks take different times."""
    ctx = st.DeviceContext(world)
    at = tl.arange(0, BLOCK)
    task = ctx.atomic_add(head, 1, 0, sem="relaxed")
    while task < tasks:
        value = task + at
        for _ in range(task % 7):
            value = (3 * value + 1) % 1009
        for peer in range(ctx.num_ranks()):
            ctx.store(results + task * BLOCK + at, value, peer)
            ctx.store(owners + task, ctx.rank() + 1, peer)
        task = ctx.atomic_add(head, 1, 0, sem="relaxed")


def check(world, tasks=40, block=64):
    head, owners = (world.zeros(count, dtype=torch.int32) for count in (1, tasks))
    results = world.zeros(tasks, block, dtype=torch.int32)
    work_queue[(2,)](world, head, results, owners, tasks, block)
    world.barrier()
    wanted = np.arange(tasks)[:, None] + np.arange(block)[None, :]
    for task in range(tasks):
        for _ in range(task % 7):
            wanted[task] = (3 * wanted[task] + 1) % 1009
    assert np.array_equal(results.cpu().numpy(), wanted), results
    assert all(1 <= owner <= world.get_num_ranks() for owner in owners.tolist()), owners
    # Each program took one number too many, at the end.
    assert world.get_rank() != 0 or head.tolist() == [tasks + 2 * world.get_num_ranks()], head
