"""Messages between ranks: sizes, element types, views, directions, hooks and streams of calls, against torch."""

import symm
import torch
import triton
import triton.language as tl
from message_hooks import plus_one, twice
from symm.comm import NodeTransport, recv, send, sendrecv

WORLD = symm.init(heap_size=128 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
LINK = NodeTransport(WORLD, blocks=3, channels=2, staging=(3 << 20) * RANKS)
AFTER, BEFORE = (ME + 1) % RANKS, (ME - 1) % RANKS
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2,
          torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]  # fmt: skip
# One element, packets of one program and of several, and rings that wrap.
SIZES = (0, 1, 7, 500, 3001, 20_000, 300_001)


def values(rank, call, count, dtype):
    generator = torch.Generator().manual_seed(1000 * call + rank)
    numbers = torch.randint(0, 2 if dtype == torch.bool else 100, (count,), generator=generator)
    return numbers.to(torch.float32).to(dtype) if dtype.is_floating_point else numbers.to(dtype)


def same(one, other):
    return torch.equal(one.reshape(-1).view(torch.uint8), other.reshape(-1).view(torch.uint8))


def rings():
    """Every rank sends to the next one, and receives from the one before."""
    call = 0
    for dtype in DTYPES:
        for count in SIZES[:4] if dtype not in (torch.bfloat16, torch.uint8) else SIZES:
            call += 1
            mine, out = values(ME, call, count, dtype), torch.zeros(count, dtype=dtype)
            assert sendrecv(LINK, mine, AFTER, out, BEFORE) is out
            assert same(out, values(BEFORE, call, count, dtype)), (dtype, count)


def pairs():
    """Each pair of ranks, one direction at a time; the others have nothing to do with it."""
    call = 100
    for source in range(RANKS):
        for target in range(RANKS):
            for count in (1, 1000, 100_003):
                call += 1
                wanted = values(source, call, count, torch.int16)
                if source != target and ME == source:
                    send(LINK, wanted, target)
                if source != target and ME == target:
                    out = torch.zeros(count, dtype=torch.int16)
                    assert recv(LINK, out, source) is out
                    assert same(out, wanted), (source, target, count)


def views():
    """Tensors at odd addresses, with strides, of several dimensions, and on the heap."""
    for number, offset in enumerate((0, 1, 3, 8)):
        for count in (1000, 50_000):
            given = [values(rank, 200 + number, count, torch.bfloat16) for rank in range(RANKS)]
            # Each rank has another alignment.
            at = (offset + ME) % 9
            mine, out = torch.zeros(count + 9, dtype=torch.bfloat16), torch.zeros(count + 9, dtype=torch.bfloat16)
            mine[at : at + count] = given[ME]
            sendrecv(LINK, mine[at : at + count], AFTER, out[9 - at : 9 - at + count], BEFORE)
            assert same(out[9 - at : 9 - at + count], given[BEFORE]), (offset, count)
            assert not out[: 9 - at].any() and not out[9 - at + count :].any(), offset
    given = [values(rank, 300, 6000, torch.float32).view(60, 100) for rank in range(RANKS)]
    out = torch.zeros(100, 60)
    sendrecv(LINK, given[ME].t(), AFTER, out.t(), BEFORE)
    assert same(out.t().contiguous(), given[BEFORE].t().contiguous().view(60, 100))
    heap = WORLD.zeros(6000)
    sendrecv(LINK, given[ME], AFTER, heap, BEFORE)
    assert same(heap, given[BEFORE])
    heap.zero_()


def uneven():
    """What is sent and what is received have different sizes, and so go in different ways."""
    sizes = (5, 40_000, 300, 150_000)
    for shift in range(4):
        count, other = sizes[(ME + shift) % 4], sizes[(BEFORE + shift) % 4]
        out = torch.zeros(other, dtype=torch.int32)
        sendrecv(LINK, values(ME, 400 + shift, count, torch.int32), AFTER, out, BEFORE)
        assert same(out, values(BEFORE, 400 + shift, other, torch.int32)), shift


@triton.jit
def scaled(c):
    return tl.load(c.inputs(), c.mask()) * tl.load(c.extra[0]) + c.extra[1]


@triton.jit
def numbered(c, value):
    tl.store(c.outputs(), value.to(tl.float32) + c.index(), c.mask())


def hooks():
    for call, count in enumerate((1, 77, 5000, 123_457)):
        for dtype in (torch.float32, torch.int16):
            out = torch.zeros(count, dtype=dtype)
            given = [values(rank, 500 + call, count, dtype) for rank in range(RANKS)]
            sendrecv(LINK, given[ME], AFTER, out, BEFORE, produce=twice, consume=plus_one)
            assert same(out, 2 * given[BEFORE] + 1), (count, dtype)
        # What travels may be smaller, and hooks take tensors and numbers.
        out = torch.zeros(count)
        factor = torch.full((1,), 3.0)
        given = [values(rank, 600 + call, count, torch.float32) for rank in range(RANKS)]
        sendrecv(LINK, given[ME], AFTER, out, BEFORE, produce=scaled, consume=numbered, extra=(factor, 2),
                 wire=torch.float16)  # fmt: skip
        assert same(out, (given[BEFORE] * 3 + 2) + torch.arange(count)), count


def matrices():
    """Matrices with strides, transposed on the way or not, in tiles that they do not divide into."""
    for call, (rows, cols) in enumerate(((1, 1), (3, 700), (130, 40), (257, 129))):
        given = [values(rank, 700 + call, rows * cols, torch.float16).view(rows, cols) for rank in range(RANKS)]
        wide = torch.zeros(rows, 2 * cols + 1, dtype=torch.float16)
        wide[:, ::2][:, :cols] = given[ME]
        out = torch.zeros(cols, rows, dtype=torch.float16)
        sendrecv(LINK, wide[:, ::2][:, :cols], AFTER, out.t(), BEFORE, rows=rows, produce=twice)
        assert same(out, (2 * given[BEFORE]).t().contiguous()), (rows, cols)


def channels():
    """Two channels at once: what is sent on one is taken before what was sent earlier on the other."""
    if RANKS == 1:
        return
    first, second = values(ME, 800, 100, torch.int32), values(ME, 801, 30_000, torch.int32)
    send(LINK, first, AFTER, channel=0)
    # A large message waits for its receiver.
    out, later = torch.zeros(30_000, dtype=torch.int32), torch.zeros(100, dtype=torch.int32)
    sendrecv(LINK, second, AFTER, out, BEFORE, channel=1)
    recv(LINK, later, BEFORE, channel=0)
    assert same(out, values(BEFORE, 801, 30_000, torch.int32)) and same(later, values(BEFORE, 800, 100, torch.int32))


for part in (rings, pairs, views, uneven, hooks, matrices, channels):
    if part is pairs or RANKS > 0:
        part()
        WORLD.barrier()
LINK.close()
WORLD.close()
