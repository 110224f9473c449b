"""Dispatch of a mixture of experts: every token goes to the rank of its expert, in the order in which they come."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def moe_dispatch(world, tokens, experts, inbox, origin, taken, done, n, EXPERTS: tl.constexpr, WIDTH: tl.constexpr):
    """`inbox` has room for all tokens; `taken` counts those that have a place, `done` the programs that are done."""
    ctx = st.DeviceContext(world)
    at = tl.arange(0, WIDTH)
    for token in range(tl.program_id(0), n, tl.num_programs(0)):
        to = tl.load(experts + token) // EXPERTS
        # The place is the token's alone: the counter orders nothing else.
        place = ctx.atomic_add(taken, 1, to, sem="relaxed")
        ctx.put(tokens + token * WIDTH + at, inbox + place * WIDTH + at, to)
        ctx.store(origin + place, ctx.rank() * n + token, to)
    ctx.signal_all(done, 1, op="add")


def check(world, n=50, width=64, experts=2):
    me, ranks = world.get_rank(), world.get_num_ranks()
    choices = np.random.default_rng(3).integers(0, experts * ranks, n * ranks)
    values = np.random.default_rng(4).random((n * ranks, width)).astype(np.float32)
    tokens = world.tensor(values[me * n : (me + 1) * n], dtype=torch.float32)
    chosen = world.tensor(choices[me * n : (me + 1) * n], dtype=torch.int32)
    inbox, origin = world.zeros(n * ranks, width), world.zeros(n * ranks, dtype=torch.int32)
    taken, done = (world.zeros(1, dtype=torch.int32) for _ in range(2))
    moe_dispatch[(4,)](world, tokens, chosen, inbox, origin, taken, done, n, experts, width)
    world.wait(done, 4 * ranks)
    wanted = np.flatnonzero(choices // experts == me)
    came = origin.cpu().numpy()[: len(wanted)]
    assert taken.tolist() == [len(wanted)] and np.array_equal(np.sort(came), wanted), (came, wanted)
    assert np.array_equal(inbox.cpu().numpy()[: len(wanted)], values[came])
