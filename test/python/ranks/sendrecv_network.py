"""Messages to ranks of other domains, which are only put to, signalled and waited for; near ones as everywhere.

The argument is the number of ranks of a domain.
"""

import itertools
import sys

import symm
import torch
import triton
import triton.language as tl
from message_hooks import plus_one, twice
from symm import _interpreter, errors
from symm.comm import LinkKind, MeshTransport, NetworkTransport, NodeTransport, all_to_all, check_transfer, sendrecv
from symm.comm.device import NETWORK, Lane, Message
from symm.comm.device import sendrecv as both
from symm.comm.kernels_ring import PUSHED, TAKEN

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS, DOMAIN = WORLD.get_rank(), WORLD.get_num_ranks(), int(sys.argv[1])
AFTER, BEFORE = (ME + 1) % RANKS, (ME - 1) % RANKS
FAR_OPS = set()


def transport(kind, blocks=2, ring=16 << 10, **settings):
    """Rings of four slots of 4 KiB, or more; staging has two of them."""
    made = kind(WORLD, blocks=blocks, channels=2, staging=2 * RANKS * blocks * ((66 << 10) + ring), **settings)
    assert made.memory.ring == ring
    return made


def mesh(**settings):
    near, far = (transport(kind, **settings) for kind in (NodeTransport, NetworkTransport))
    return MeshTransport(near, far, DOMAIN)


def is_far(rank):
    return rank // DOMAIN != ME // DOMAIN


def watch_ops():
    """Keeps which ops name a rank of another domain."""
    call = _interpreter.Interpreter.call

    def watched(self, name, operands, attributes=None, result=None):
        if "rank" in operands and any(is_far(int(rank)) for rank in operands["rank"].handle.data.ravel()):
            FAR_OPS.add(name)
        return call(self, name, operands, attributes, result)

    _interpreter.Interpreter.call = watched


def data(rank, number, count, dtype=torch.int32):
    return ((torch.arange(count) * 7 + 13 * rank + 29 * number) % 101).to(dtype)


def routes(link):
    for rank in range(RANKS):
        assert link.link_kind(rank) is (LinkKind.NETWORK if is_far(rank) else LinkKind.NODE)
        staging = link.endpoint(rank, torch.float32).staging
        assert (staging is not None) == is_far(rank)
    check_transfer(link, 1 << 40, torch.float16, 2)


def messages(link):
    """Around the rings of all shifts: some go far and come near, or the other way round, within one call."""
    types = itertools.cycle((torch.int32, torch.uint8, torch.bfloat16, torch.float64, torch.bool, torch.float16))
    numbers = itertools.count()
    for count in (0, 1, 77, 1024, 5000, 40_001):
        for shift in range(1, RANKS):
            to, source, dtype, number = (ME + shift) % RANKS, (ME - shift) % RANKS, next(types), next(numbers)
            out = torch.zeros(count, dtype=dtype)
            got = sendrecv(link, data(ME, number, count, dtype), to, out, source, channel=number % 2)
            assert torch.equal(got, data(source, number, count, dtype)), (count, shift, dtype)


def hooks(link):
    for number, count in enumerate((9, 6001)):
        out = torch.zeros(count)
        sendrecv(link, data(ME, number, count, torch.float32), AFTER, out, BEFORE, produce=twice, consume=plus_one,
                 wire=torch.float16)  # fmt: skip
        assert torch.equal(out, 2 * data(BEFORE, number, count, torch.float32) + 1)
    rows, cols = 65, 43
    given = [data(rank, 5, rows * cols).view(rows, cols) for rank in range(RANKS)]
    out = torch.zeros(cols, rows, dtype=torch.int32)
    sendrecv(link, given[ME], AFTER, out.t(), BEFORE, rows=rows)
    assert torch.equal(out, given[BEFORE].t())


@triton.jit
def plus_part(c, value):
    tl.store(c.outputs(), value + c.shard_idx, c.mask())


def everybody(link):
    for number, count in enumerate((1, 5000, 70)):
        given = [data(rank, number, RANKS * count).view(RANKS, count) for rank in range(RANKS)]
        parts = torch.stack([each[ME] for each in given])
        assert torch.equal(all_to_all(link, given[ME]), parts)
        wanted = 2 * parts + torch.arange(RANKS)[:, None]
        assert torch.equal(all_to_all(link, given[ME], produce=twice, consume=plus_part, channel=1), wanted)
    assert FAR_OPS == {"put", "signal"}, FAR_OPS
    given = [data(rank, 1, RANKS * 900).view(RANKS, 900) for rank in range(RANKS)]
    landed = all_to_all(link, given[ME], produce=twice, zero_copy=True)
    assert torch.equal(landed, torch.stack([2 * each[ME] for each in given]))
    assert FAR_OPS == {"put", "signal", "remote_store"}, FAR_OPS


def chunks_of_several_tiles():
    """Of four tiles, of two and of one: all go through two chunks' staging."""
    link = mesh(blocks=1, ring=1 << 20)
    for number, count in enumerate((600_007, 20_001, 300_000, 9)):
        out = torch.zeros(count, dtype=torch.int32)
        sendrecv(link, data(ME, number, count), AFTER, out, BEFORE, produce=twice)
        assert torch.equal(out, 2 * data(BEFORE, number, count)), count


def counters_have_no_limit():
    link = mesh(blocks=1, ring=64 << 10)
    memory = link.inter.memory
    flags = memory.heap[memory.first_flag : memory.first_recovery].view(torch.int64).view(-1, 4, 1, 16)
    sent = memory.heap[memory.first_stage :].view(memory.pairs, -1)[:, memory.staged_bytes :].view(torch.int64)
    cursors = memory.cursors.view(-1, 5)
    for start in (-12 << 10, (1 << 32) - (4 << 10), 1 << 62):
        WORLD.barrier()
        flags[:, :2] = start
        sent.fill_(start)
        for kind in (PUSHED, TAKEN):
            cursors[:, kind.value] = start
        WORLD.barrier()
        for number, count in enumerate((50, 1100, 20_000, 60, 5000, 70, 17_000)):
            out = torch.zeros(count, dtype=torch.int32)
            sendrecv(link, data(ME, number, count), AFTER, out, BEFORE)
            assert torch.equal(out, data(BEFORE, number, count)), (start, number)


@triton.jit
def pass_on(
    table, send_dst, recv_src, signal_dst, to_src, from_src, to_cursors, from_cursors, staging, to, source, inp, out,
    count, TILE: tl.constexpr, BLOCKS: tl.constexpr, RING: tl.constexpr, OPS: tl.constexpr,
):  # fmt: skip
    """A kernel of one's own, all of whose peers are far."""
    there = Lane(table, send_dst, signal_dst, to_src, to_cursors, to, BLOCKS, RING, staging)
    here = Lane(table, recv_src, signal_dst, from_src, from_cursors, source, BLOCKS, RING)
    both(there, Message(inp, count, TILE), here, Message(out, count, TILE), tl.program_id(0), tl.num_programs(0), OPS,
         OPS, twice, plus_one)  # fmt: skip


def own_kernels():
    link = transport(NetworkTransport)
    to, source = (link.endpoint(rank, torch.float32, channel=1) for rank in (AFTER, BEFORE))
    for count in (10, 5000, 9001):
        out, geometry = torch.zeros(count), link.get_geometry()
        pass_on[(2,)](
            WORLD.get_device_context(), to.send_dst, source.recv_src, to.signal_dst, to.signal_src, source.signal_src,
            to.cursors, source.cursors, to.staging, AFTER, BEFORE, data(ME, 0, count, torch.float32), out, count,
            TILE=512, **geometry, OPS=NETWORK,
        )  # fmt: skip
        assert torch.equal(out, 2 * data(BEFORE, 0, count, torch.float32) + 1), count


def wrong():
    near, far = transport(NodeTransport), transport(NetworkTransport)
    try:
        MeshTransport(far, near, DOMAIN)
    except errors.ArgumentError as error:
        assert "intra sends from memory, as between hosts: give it a NodeTransport" in str(error), error
    else:
        raise AssertionError("a network within a domain")


watch_ops()
LINK = mesh(landing=4000)
for part in (routes, messages, hooks, everybody):
    part(LINK)
    WORLD.barrier()
for part in (chunks_of_several_tiles, counters_have_no_limit, own_kernels, wrong):
    part()
    WORLD.barrier()
WORLD.close()
