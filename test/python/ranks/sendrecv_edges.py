"""Tensors and calls at the edges: memory that is sent from and received into, strides, types, and calls in flight."""

import time

import symm
import torch
import triton
import triton.language as tl
from message_hooks import plus_one, twice
from symm import errors
from symm.comm import Communicator, MeshTransport, NodeTransport, all_to_all, recv, send, sendrecv

WORLD = symm.init(heap_size=96 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
LINK = NodeTransport(WORLD, blocks=3, staging=(1 << 20) * RANKS, landing=8192)
AFTER, BEFORE = (ME + 1) % RANKS, (ME - 1) % RANKS


@triton.jit
def added(c, value):
    tl.store(c.outputs(), tl.load(c.outputs(), c.mask()) + value, c.mask())


@triton.jit
def odd_ones(c, value):
    tl.store(c.outputs(), value, c.mask() & (c.index() % 2 == 1) if c.mask() is not None else c.index() % 2 == 1)


def refused(kind, text, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except errors.SymmError as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError(f"taken: {text}")


def what_is_there():
    """A hook finds in a tensor with strides what is there, and what it leaves out stays."""
    for count in (50, 5000):
        mine = torch.arange(count, dtype=torch.float32) + ME
        room = torch.full((count, 3), 100.0)
        out = room[:, 1]
        assert sendrecv(LINK, mine, AFTER, out, BEFORE, consume=added) is out
        assert torch.equal(room[:, 1], 100 + torch.arange(count) + BEFORE), count
        sendrecv(LINK, mine, AFTER, out.fill_(7), BEFORE, consume=odd_ones)
        assert (out[::2] == 7).all() and torch.equal(out[1::2], (torch.arange(count) + BEFORE)[1::2]), count
        assert (room[:, ::2] == 100).all()
    parts = torch.full((4, RANKS * 10), 5.0).t()
    all_to_all(LINK, torch.ones(RANKS * 10, 4), out=parts, consume=added)
    assert (parts == 6).all()


def in_place():
    """What is received into is what is sent, or overlaps it."""
    for side in (8, 70):
        mine = torch.arange(side * side, dtype=torch.int32).view(side, side)
        square = mine + 10_000 * ME
        sendrecv(LINK, square, AFTER, square.t(), BEFORE, rows=side)
        assert torch.equal(square, mine.t() + 10_000 * BEFORE), side
        room = torch.cat([mine.view(-1) + 10_000 * ME, torch.zeros(5, dtype=torch.int32)])
        sendrecv(LINK, room[:-5], AFTER, room[5:], BEFORE)
        assert torch.equal(room[5:], mine.view(-1) + 10_000 * BEFORE), side
        parts = torch.stack([mine + 10_000 * ME + rank for rank in range(RANKS)])
        all_to_all(LINK, parts, out=parts.transpose(1, 2), rows=side)
        assert torch.equal(parts, torch.stack([mine.t() + 10_000 * rank + ME for rank in range(RANKS)])), side
    both = torch.zeros(40, 20)
    both[:, :10] = ME
    sendrecv(LINK, both[:, :10], AFTER, both[:, 10:], BEFORE, rows=40)
    assert (both[:, :10] == ME).all() and (both[:, 10:] == BEFORE).all()


def negative_views():
    """A view that torch negates when it is read is written as such."""
    for rows in (None, 6):
        memory = torch.zeros(6, 4, dtype=torch.complex64)
        out = memory.conj().imag
        assert out.is_neg()
        sendrecv(LINK, torch.full((6, 4), ME + 1.0), AFTER, out, BEFORE, rows=rows)
        assert (memory.imag == -(BEFORE + 1.0)).all(), rows


def types():
    flags = torch.arange(RANKS * 6) % 3 == 0
    landed = all_to_all(LINK, flags, zero_copy=True)
    assert landed.dtype == torch.bool and torch.equal(landed[0], flags[ME * 6 : ME * 6 + 6])
    for name in ("float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"):
        kind = getattr(torch, name)
        mine = torch.full((40,), ME + 1, dtype=torch.uint8).view(kind)
        out = sendrecv(LINK, mine, AFTER, torch.zeros(40, dtype=torch.uint8).view(kind), BEFORE)
        assert (out.view(torch.uint8) == BEFORE + 1).all(), name
    kind, said = torch.float8_e8m0fnu, "kernels have no elements of torch.float8_e8m0fnu"
    mine = torch.zeros(4 * RANKS, dtype=torch.uint8).view(kind)
    refused(errors.DtypeError, said, sendrecv, LINK, mine, AFTER, mine.clone(), BEFORE, produce=twice, consume=plus_one)
    refused(errors.DtypeError, said, sendrecv, LINK, torch.ones(4), AFTER, torch.ones(4), BEFORE, wire=kind)
    refused(errors.DtypeError, said, all_to_all, LINK, mine, produce=twice)


def far_strides():
    """Rows and columns may be further apart than 32 bits hold of elements."""
    apart = 1 << 30
    wide = torch.empty(3 * apart + 8, dtype=torch.int8).as_strided((4, 5), (apart, 1))
    wide.copy_(torch.arange(20, dtype=torch.int8).view(4, 5) + ME)
    out = sendrecv(LINK, wide, AFTER, torch.zeros(4, 5, dtype=torch.int8), BEFORE, rows=4)
    assert torch.equal(out, torch.arange(20, dtype=torch.int8).view(4, 5) + BEFORE)
    sendrecv(LINK, out, AFTER, wide.zero_(), BEFORE, rows=4)
    assert torch.equal(wide, torch.arange(20, dtype=torch.int8).view(4, 5) + (ME - 2) % RANKS)


def in_flight():
    """Packets and tiles of a channel are under way at once, of other sizes, blocks and types from call to call."""
    if RANKS == 1:
        return
    messages = []
    for number, count in enumerate((1, 0, 600, 3000, 20, 9000, 7, 2500)):
        kind = (torch.int8, torch.int64, torch.float32, torch.int16)[number % 4]
        messages.append((torch.arange(count).to(kind), 1 + number % 3))
    for first in (0, 1):
        if ME == first:
            for data, blocks in messages:
                send(LINK, data, 1 - first, blocks=blocks)
        elif ME == 1 - first:
            for data, blocks in messages:
                assert torch.equal(recv(LINK, torch.zeros_like(data), first, blocks=blocks), data), len(data)


def expanded():
    """What is received into has a place for each element."""
    one = torch.zeros(1)
    mine, out = torch.ones(4, 6), one.expand(4, 6)
    said = "out of shape (4, 6) has several elements at one place"
    for rows in (None, 4):
        refused(errors.ArgumentError, said, sendrecv, LINK, mine, AFTER, out, BEFORE, rows=rows)
    sendrecv(LINK, one.expand(24) + ME, AFTER, torch.zeros(24), BEFORE)


def sent_back():
    """What has come without a copy is sent on as it lies there."""
    for number in range(20):
        given = torch.arange(RANKS * 1000, dtype=torch.int32).view(RANKS, 1000) + 10_000 * ME + number
        landed = all_to_all(LINK, given, zero_copy=True)
        assert torch.equal(all_to_all(LINK, landed, zero_copy=True), given), number


def numbers_of_packets():
    """Lines that have never been written carry no number that a call waits for, whatever their count has come to."""
    link = NodeTransport(WORLD, blocks=1, staging=(200 << 10) * RANKS)
    comm = Communicator(WORLD, blocks=1, staging=2 << 20)
    for steps in ((1 << 31) - 3, (1 << 32) - 3):
        WORLD.barrier()
        comm._calls.geometry.reset()
        link.memory.reset()
        link.memory.heap[link.memory.first_flag : link.memory.first_recovery].view(torch.int64).fill_(steps // 4 * 4)
        link.memory.cursors.fill_(steps)
        comm._calls.geometry.counted.fill_(steps)
        WORLD.barrier()
        for number in range(6):
            if ME == 0:
                time.sleep(0.05)
            out = sendrecv(link, torch.full((1 << number,), ME + 1), AFTER, torch.zeros(1 << number).long(), BEFORE)
            assert (out == BEFORE + 1).all(), (steps, number)
            total = comm.all_reduce(torch.full((1 << number,), ME + 1.0))
            assert (total == RANKS * (RANKS + 1) / 2).all(), (steps, number)


def meshes_of_meshes():
    near, far = (NodeTransport(WORLD, blocks=1, staging=(200 << 10) * RANKS) for _ in range(2))
    mesh = MeshTransport(near, far, 1)
    refused(errors.ArgumentError, "is a mesh itself", MeshTransport, mesh, near, 1)
    refused(errors.ArgumentError, "is a mesh itself", MeshTransport, near, mesh, 1)


for part in (what_is_there, in_place, negative_views, types, far_strides, in_flight, expanded, sent_back,
             numbers_of_packets, meshes_of_meshes):  # fmt: skip
    part()
    WORLD.barrier()
WORLD.close()
