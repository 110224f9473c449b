"""Messages so large that several tiles go with one signal, between smaller ones, whose chunks have another size."""

import symm
import torch
import triton
import triton.language as tl
from message_hooks import plus_one, twice
from symm.comm import NodeTransport, all_to_all, recv, send, sendrecv
from symm.comm._messages import plan

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
LINK = NodeTransport(WORLD, blocks=1, staging=(4 << 20) * RANKS)
AFTER, BEFORE = (ME + 1) % RANKS, (ME - 1) % RANKS
TILE = 64 << 10
# Elements of 4 bytes: chunks of one, two and four tiles, the last of them cut short.
COUNTS = (3_001, 5_001, 600_007, 9)


def values(rank, call, count):
    return torch.arange(count, dtype=torch.int32) * 7 + 1000 * call + rank


def chunks():
    groups = [plan(LINK, (ME,), 4 * count, 4, None, 1, 1).group for count in COUNTS]
    assert groups == [1, 2, 4, 1], groups


def rings():
    for call, count in enumerate(COUNTS):
        out = torch.zeros(count, dtype=torch.int32)
        sendrecv(LINK, values(ME, call, count), AFTER, out, BEFORE, produce=twice, consume=plus_one)
        assert torch.equal(out, 2 * values(BEFORE, call, count) + 1), count


@triton.jit
def dawdles(c, value):
    """Is long over the first tile of a chunk: a sender that were told too early would overwrite the next one."""
    if c.tile_idx % 4 == 0:
        for _ in range(c.extra[0]):
            value = value + 0
    tl.store(c.outputs(), value, c.mask())


def one_way():
    for call, count in enumerate(COUNTS):
        if ME == 0:
            send(LINK, values(0, call, count), 1)
        elif ME == 1:
            out = torch.zeros(count, dtype=torch.int32)
            recv(LINK, out, 0, consume=dawdles, extra=(500,))
            assert torch.equal(out, values(0, call, count)), count


@triton.jit
def marked(c):
    """The tile's number, the program's step, the slot in the ring, and one for each time that it is made."""
    tl.atomic_add(c.extra[0] + c.tile_idx, 1)
    return c.index() * 0 + c.tile_idx + 1000 * c.step + 1000_000 * c.slot


@triton.jit
def checked(c, value):
    """Both sides have the same numbers."""
    tl.atomic_add(c.extra[0] + c.tile_idx, 1)
    tl.store(c.outputs(), value - (c.tile_idx + 1000 * c.step + 1000_000 * c.slot), c.mask())


def numbers():
    count = 600_007
    calls = torch.zeros(40, dtype=torch.int32)
    out = torch.ones(count, dtype=torch.int32)
    sendrecv(LINK, values(ME, 0, count), AFTER, out, BEFORE, produce=marked, consume=checked, extra=(calls,))
    assert not out.any()
    tiles = -(-4 * count // TILE)
    assert calls[:tiles].eq(2).all() and not calls[tiles:].any(), calls


def matrices():
    rows, cols = 801, 1003
    given = [values(rank, 1, rows * cols).view(rows, cols) for rank in range(RANKS)]
    out = torch.zeros(cols, rows, dtype=torch.int32)
    sendrecv(LINK, given[ME], AFTER, out.t(), BEFORE, rows=rows)
    assert torch.equal(out, given[BEFORE].t())


def swaps():
    for call, count in enumerate((300_000, 600_007, 10)):
        given = [torch.stack([values(rank, 10 * call + part, count) for part in range(RANKS)]) for rank in range(RANKS)]
        got = all_to_all(LINK, given[ME], produce=twice)
        assert torch.equal(got, torch.stack([2 * each[ME] for each in given])), count


for part in (chunks, rings, numbers, matrices, swaps, *([one_way] if RANKS > 1 else [])):
    part()
    WORLD.barrier()
LINK.close()
WORLD.close()
