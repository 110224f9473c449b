"""Loops whose arguments may overlap: each gives what its iterations give one after the other."""

import os

import numpy as np
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
context, after = world.get_device_context(), (me + 1) % ranks
B, BLOCKS = 1024, 40
SIZE = B * (BLOCKS + 8)


def data(rank):
    return np.arange(SIZE, dtype=np.float32) % 1000 + 1000 * rank


@triton.jit
def move(table, x, y, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        tl.store(y + at, ctx.load(x + at, peer, mask=at < n) + 1, mask=at < n)


@triton.jit
def move_carried(table, x, y, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    theirs, mine = x + tl.arange(0, B), y + tl.arange(0, B)
    for _ in range(0, n, B):
        tl.store(mine, ctx.load(theirs, peer) + 1)
        theirs += B
        mine += B


@triton.jit
def move_rows(table, x, y, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    rows: tl.constexpr = 4
    row, column = tl.arange(0, rows), tl.arange(0, B // rows)
    for first in range(0, n // (B // rows), rows):
        at = (first + row)[:, None] * (B // rows) + column[None, :]
        ctx.get(x + at, y + at, peer)
        tl.store(y + at, tl.load(y + at) + 1)


@triton.jit
def move_remote(table, x, y, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    theirs = ctx.as_remote(x, peer)
    for block in range(n // B):
        at = tl.arange(0, B).to(tl.int64) + block * B
        tl.store(y + at, tl.load(theirs + at) + 1)


@triton.jit
def move_remote_block(table, x, y, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    theirs, mine = ctx.as_remote(x + tl.arange(0, B), peer), y + tl.arange(0, B)
    for _ in range(n // B):
        tl.store(mine, tl.load(theirs) + 1)
        theirs += B
        mine += B


@triton.jit
def accumulate(table, x, total, same, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    for block in range(n // B):
        tl.store(same + at, tl.load(total + at) + ctx.load(x + block * B + at, peer))


def moved(x, shift):
    """What is at y after x has been moved there, block after block, with one added."""
    x = x.copy()
    for start in range(0, B * BLOCKS, B):
        to = 4 * B + shift + start
        x[to : to + B] = x[4 * B + start : 4 * B + start + B] + 1
    return x


world.barrier()
for kernel in (move, move_carried, move_rows, move_remote, move_remote_block):
    for blocks in (-4, -1, 0, 1, 2, 3, 4):
        # From myself, to a place that overlaps, or to the very same.
        x = world.zeros(SIZE, dtype=torch.float32)
        x.copy_(torch.from_numpy(data(me)))
        world.barrier()
        kernel[(1,)](context, x[4 * B :], x[4 * B + blocks * B :], B * BLOCKS, me, B=B)
        np.testing.assert_array_equal(x.cpu().numpy(), moved(data(me), blocks * B), f"{kernel.__name__} {blocks}")
        world.barrier()
    # From the next rank to another tensor, which lies beside the first.
    x, y = world.zeros(SIZE, dtype=torch.float32), world.zeros(SIZE, dtype=torch.float32)
    x.copy_(torch.from_numpy(data(me)))
    world.barrier()
    kernel[(1,)](context, x, y, B * BLOCKS, after, B=B)
    wanted = np.where(np.arange(SIZE) < B * BLOCKS, data(after) + 1, 0)
    np.testing.assert_array_equal(y.cpu().numpy(), wanted, kernel.__name__)
    world.barrier()

# Ten rows of ones, summed up in place, and with one of two tensors.
x, total = world.zeros(10 * B, dtype=torch.float32), world.zeros(2 * B, dtype=torch.float32)
x.fill_(1)
world.barrier()
repeats = int(os.environ.get("REPEATS", "2"))  # Their sums are exact to the last.
for _ in range(repeats):
    accumulate[(1,)](context, x, total, total, 10 * B, after, B=B)
np.testing.assert_array_equal(total.cpu().numpy()[:B], np.full(B, 10 * repeats, np.float32))
accumulate[(1,)](context, x, total, total[B:], 10 * B, after, B=B)
np.testing.assert_array_equal(total.cpu().numpy()[B:], np.full(B, 10 * repeats + 1, np.float32))
world.barrier()
world.close()
