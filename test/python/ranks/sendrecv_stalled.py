"""One rank sends, call after call, and the other comes late. Nothing is overwritten before it has been taken, and that
is because senders wait for HEAD: without it the same program goes wrong. Counters go on beyond any limit.
"""

import time

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from symm.comm import NodeTransport, recv, send, sendrecv
from symm.comm.device import NODE
from symm.comm.kernels_ring import FETCHED, MAILED, PUSHED, TAKEN

CALLS = 12
WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
torch.set_default_device(WORLD.device)
AFTER, BEFORE = (ME + 1) % RANKS, (ME - 1) % RANKS


@triton.jit
def waits_for_nothing(ctx, flag, value):
    # Only that the rank is there.
    tl.device_assert(st.rank(ctx) >= 0)


class Careless(NodeTransport):
    ops = NODE._replace(wait=waits_for_nothing)


def transport(kind=NodeTransport, ring=16 << 10):
    """One program, and a ring of four slots of 4 KiB, or more."""
    made = kind(WORLD, blocks=1, staging=(72 << 10) * RANKS + ring * RANKS)
    assert made.memory.ring == ring
    return made


def data(number, count, rank=0):
    return torch.arange(count, dtype=torch.int32) + 10_000 * number + 1000 * rank


def stalled(link, count, waits=True):
    """How many of the late calls are wrong. A sender that waits for nothing sends all before the first is received."""
    WORLD.barrier()
    wrong = 0
    if ME == 0:
        for number in range(CALLS):
            send(link, data(number, count), 1)
    elif ME == 1 and waits:
        time.sleep(0.4)
    if not waits:
        WORLD.barrier()
    if ME == 1:
        for number in range(CALLS):
            wrong += not torch.equal(recv(link, torch.zeros(count, dtype=torch.int32), 0), data(number, count))
    WORLD.barrier()
    return wrong


def receivers_come_late():
    link = transport()
    for count in (100, 1500, 6000):
        assert stalled(link, count) == 0, count


def without_head_it_goes_wrong():
    wrong = stalled(transport(Careless if ME == 0 else NodeTransport), 1500, waits=False)
    assert (wrong > 0) == (ME == 1), wrong


def senders_have_flags_of_their_own():
    """Of two senders one comes late: what the other has sent is not taken for it."""
    link = transport()
    WORLD.barrier()
    if ME == 2:
        time.sleep(0.4)
    if ME in (0, 2):
        for number in range(3):
            send(link, data(number, 3000, ME), 1)
    elif ME == 1:
        for number in range(3):
            for source in (2, 0):
                out = recv(link, torch.zeros(3000, dtype=torch.int32), source)
                assert torch.equal(out, data(number, 3000, source)), (number, source)


def counters_have_no_limit():
    """Tiles of several sizes in turn, from counters below zero and near 2^32, and of packets that wrap."""
    link = transport(ring=64 << 10)
    flags = link.memory.heap[link.memory.first_flag : link.memory.first_recovery].view(torch.int64)
    cursors = link.memory.cursors.view(-1, 5)
    for start in (0, -12 << 10, (1 << 32) - (4 << 10), 1 << 62):
        WORLD.barrier()
        flags.fill_(start)
        for kind in (PUSHED, TAKEN):
            cursors[:, kind.value] = start
        steps = 0 if start <= 0 else start + (4 << 10) - 4
        if steps:
            flags.view(-1, 4, 1, 16)[:, 2] = steps
            for kind in (MAILED, FETCHED):
                cursors[:, kind.value] = steps
        else:
            flags.view(-1, 4, 1, 16)[:, 2] = cursors[AFTER, MAILED.value] // 4 * 4
        WORLD.barrier()
        for number, count in enumerate((50, 1100, 20_000, 60, 5000, 70, 1100, 80, 17_000)):
            out = sendrecv(link, data(number, count, ME), AFTER, torch.zeros(count, dtype=torch.int32), BEFORE)
            assert torch.equal(out, data(number, count, BEFORE)), (start, number)


counters_have_no_limit()
if RANKS > 1:
    receivers_come_late()
    without_head_it_goes_wrong()
if RANKS > 2:
    senders_have_flags_of_their_own()
WORLD.close()
