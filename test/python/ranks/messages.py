"""Messages around a ring of ranks, in four slots, each acknowledged: ROUNDS of them in one kernel, all checked."""

import os

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

SLOTS = 4
world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()


@triton.jit
def ring(table, mail, arrived, taken, wrong, rounds, SLOTS: tl.constexpr, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    me, ranks = ctx.rank(), ctx.num_ranks()
    after, before = (me + 1) % ranks, (me + ranks - 1) % ranks
    at = tl.arange(0, B)
    errors = 0
    for i in range(rounds):
        slot = mail + i % SLOTS * B + at
        ctx.wait(taken, i - SLOTS + 1)
        ctx.store(slot, i * 8 + me + at, after)
        ctx.signal(arrived, i + 1, after)
        ctx.wait(arrived, i + 1)
        errors += tl.sum((tl.load(slot) != i * 8 + before + at).to(tl.int32))
        ctx.signal(taken, 1, before, op="add")
    tl.store(wrong, errors)


rounds, block = int(os.environ.get("ROUNDS", 100)), 256
mail = world.zeros((SLOTS, block), dtype=torch.int32)
arrived, taken, wrong = (world.zeros(1, dtype=torch.int32) for _ in range(3))
world.barrier()
ring[(1,)](world.get_device_context(), mail, arrived, taken, wrong, rounds, SLOTS=SLOTS, B=block)
world.barrier()
assert (arrived.tolist(), taken.tolist(), wrong.tolist()) == ([rounds], [rounds], [0]), (arrived, taken, wrong)
world.close()
