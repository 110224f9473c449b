"""Dispatch of a mixture of experts: every token goes to the rank of its expert, in the order in which they come."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def moe_dispatch(table, tokens, experts, inbox, origin, taken, done, n, EXPERTS: tl.constexpr, WIDTH: tl.constexpr):
    """`inbox` has room for all tokens; `taken` counts those that have a place, `done` the programs that are done."""
    ctx = st.DeviceContext(table)
    at = tl.arange(0, WIDTH)
    for token in range(tl.program_id(0), n, tl.num_programs(0)):
        to = tl.load(experts + token) // EXPERTS
        # The place is the token's alone: the counter orders nothing else.
        place = ctx.atomic_add(taken, 1, to, sem="relaxed")
        ctx.put(tokens + token * WIDTH + at, inbox + place * WIDTH + at, to)
        ctx.store(origin + place, ctx.rank() * n + token, to)
    for peer in range(ctx.num_ranks()):
        ctx.signal(done, 1, peer, op="add")


@triton.jit
def await_tokens(table, done, senders):
    st.DeviceContext(table).wait(done, senders)


def check(world):
    n, width, experts, programs = 50, 64, 2, 4
    me, ranks = world.get_rank(), world.get_num_ranks()
    tokens, chosen = world.zeros((n, width), dtype=torch.float32), world.zeros(n, dtype=torch.int32)
    inbox = world.zeros((n * ranks, width), dtype=torch.float32)
    origin = world.zeros(n * ranks, dtype=torch.int32)
    taken, done = (world.zeros(1, dtype=torch.int32) for _ in range(2))
    choices = np.random.default_rng(3).integers(0, experts * ranks, n * ranks).astype(np.int32)
    values = np.random.default_rng(4).random((n * ranks, width)).astype(np.float32)
    tokens.copy_(torch.from_numpy(values[me * n : (me + 1) * n]))
    chosen.copy_(torch.from_numpy(choices[me * n : (me + 1) * n]))
    world.barrier()
    table = world.get_device_context()
    moe_dispatch[(programs,)](table, tokens, chosen, inbox, origin, taken, done, n, EXPERTS=experts, WIDTH=width)
    await_tokens[(1,)](table, done, programs * ranks)
    wanted = np.flatnonzero(choices // experts == me)
    came = origin.cpu().numpy()[: len(wanted)]
    assert taken.cpu().numpy()[0] == len(wanted) and np.array_equal(np.sort(came), wanted), (came, wanted)
    assert np.array_equal(inbox.cpu().numpy()[: len(wanted)], values[came])
    world.barrier()
