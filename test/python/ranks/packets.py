"""Packets on every rank: all element types, scalars, blocks, masks, tails, epochs that wrap, and polls of several
peers.
"""

import numpy as np
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
before, after = (me - 1) % ranks, (me + 1) % ranks
context = world.get_device_context()
B = 64
at = np.arange(B)


def same(tensor, wanted):
    np.testing.assert_array_equal(tensor.cpu().numpy(), wanted)


@triton.jit
def ring(table, p, o, slots, epoch, n, MASKED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    ctx = st.DeviceContext(table)
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    here = row * COLUMNS + column
    peer = (ctx.rank() + 1) % ctx.num_ranks()
    value = tl.load(p + here)
    if MASKED:
        ctx.put_packet(slots, value, epoch, peer, mask=here < n)
        got = ctx.wait_packet(slots, epoch, (ROWS, COLUMNS), p.dtype.element_ty, mask=here < n)
    else:
        ctx.put_packet(slots, value, epoch, peer)
        got = ctx.wait_packet(slots, epoch, (ROWS, COLUMNS), p.dtype.element_ty)
    tl.store(o + here, got)


def data(rank, epoch, kind):
    return (1000 * rank + 7 * (epoch % 1000) + at).astype(kind)


for kind in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"):
    dtype = getattr(torch, kind)
    p, o = world.zeros(B, dtype=dtype), world.zeros(B, dtype=dtype)
    slots = world.zeros(4 * B, dtype=torch.int32)
    world.barrier()
    # Wraps from the largest epoch to 0.
    for epoch in (1, 2, 3, 2**31 - 1, -(2**31), -2, -1, 0, 1):
        p.copy_(torch.from_numpy(data(me, epoch, kind)))
        masked, n = epoch in (3, -2), 27
        ring[(1,)](context, p, o, slots, epoch, n, MASKED=masked, ROWS=4, COLUMNS=B // 4)
        wanted = data(before, epoch, kind)
        same(o, np.where(at < n, wanted, 0) if masked else wanted)
        # The rank before me has its own packets when it goes on, and not yet word that I have mine.
        world.barrier()


@triton.jit
def exchange(table, p, o, slots, epoch, RANKS: tl.constexpr, N: tl.constexpr):
    ctx = st.DeviceContext(table)
    me, at = ctx.rank(), tl.arange(0, N)
    value = tl.load(p + at)
    # Mine lie at row `me` of everybody.
    for peer in range(RANKS):
        ctx.put_packet(slots + me * N * 2, value, epoch, peer)
    all = ctx.wait_packet(slots, epoch, (RANKS, N), tl.float64)
    tl.store(o + at, tl.sum(all, axis=0))


p, o = world.zeros(B, dtype=torch.float64), world.zeros(B, dtype=torch.float64)
slots = world.zeros(ranks * B * 2, dtype=torch.int64)
p.copy_(torch.from_numpy(data(me, 1, "float64")))
world.barrier()
exchange[(1,)](context, p, o, slots, 1, RANKS=ranks, N=B)
same(o, sum(data(rank, 1, "float64") for rank in range(ranks)))


@triton.jit
def scalars(table, o, slots, RANKS: tl.constexpr):
    """A packet each way, polled from all peers at once."""
    ctx = st.DeviceContext(table)
    me = ctx.rank()
    peers = tl.arange(0, RANKS)
    lines = slots + 4 * peers
    for peer in range(RANKS):
        ctx.put_packet(slots + 4 * me, (me * 10 + peer).to(tl.int16), 5, peer)
    found = tl.zeros([RANKS], tl.int16)
    seen = tl.zeros([RANKS], tl.int1)
    while tl.sum(seen.to(tl.int32), axis=0) < RANKS:
        value, valid = ctx.try_packet(lines, 5, dtype=tl.int16)
        found = tl.where(valid, value, found)
        seen = seen | valid
    tl.store(o + peers, found)
    # One, and what no peer has sent yet.
    one = ctx.wait_packet(slots + 4 * me, 5, dtype=tl.int16)
    tl.store(o + RANKS, one)
    value, valid = ctx.try_packet(slots, 6, RANKS, tl.int64)
    tl.store(o + RANKS + 1, tl.sum(valid.to(tl.int16), axis=0))


o = world.zeros(ranks + 2, dtype=torch.int16)
slots = world.zeros(ranks * 4, dtype=torch.int32)
world.barrier()
scalars[(1,)](context, o, slots, RANKS=ranks)
same(o, [*(10 * rank + me for rank in range(ranks)), 11 * me, 0])


@triton.jit
def booleans(table, o, slots, epoch, N: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    peer = (ctx.rank() + 1) % ctx.num_ranks()
    ctx.put_packet(slots, at % 3 == 0, epoch, peer)
    got = ctx.wait_packet(slots, epoch, N, tl.int1)
    tl.store(o + at, got.to(tl.int32))


# Fewer bytes than a packet has, and more.
for n in (2, 4, 32):
    o, slots = world.zeros(n, dtype=torch.int32), world.zeros(4 * n, dtype=torch.int32)
    world.barrier()
    booleans[(1,)](context, o, slots, 1, N=n)
    same(o, np.arange(n) % 3 == 0)
world.barrier()
