"""Every collective, operation, element type and kind of size, against torch on the tensors of all ranks."""

import itertools
import os
import zlib

import symm
import torch
from comm_values import FLOATS, INTEGERS, check, expected, values
from symm.comm import Communicator, _plan

WORLD = symm.init(heap_size=64 << 20)
COMM = Communicator(WORLD, blocks=3, staging=4 << 20)
PACKETS = os.environ.get("PACKETS") != "0"
if not PACKETS:
    _plan.PACKET_BYTES, _plan.USUAL_PACKET_BYTES = {}, 0
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
SIZES = (0, 1, 7, 256, 5000)
OPS = ("sum", "min", "max", "prod")
CASES = [(dtype, op, 77) for dtype in FLOATS + INTEGERS for op in OPS]
# Two ranks take all types of elements, with every operation; more of them take longer, and what they do does not depend
# on the type. Nor does it where messages go through slots, or where bounds are checked.
BRIEF = (RANKS > 2 or not PACKETS or "SYMM_BOUNDS_CHECKS" in os.environ) and not os.environ.get("LONG")
if BRIEF:
    FLOATS, INTEGERS = FLOATS[1::2], INTEGERS[1::2]
    CASES = [(dtype, op, 77) for dtype, op in zip(FLOATS + INTEGERS, itertools.cycle(OPS))]
# More than all programs take at once.
LONG = 40_001 if BRIEF else 100_001


def same_everywhere(tensor, what):
    mine = zlib.crc32(bytes(tensor.view(torch.uint8).tolist()))
    for rank in range(RANKS):
        assert WORLD.broadcast(mine, rank) == mine, what


def same(got, bits):
    return torch.equal(got.view(torch.uint8), bits)


def all_reduces():
    calls = itertools.count()
    cases = [*CASES, *((dtype, "avg", 77) for dtype in FLOATS)]
    sized = (torch.bfloat16,) if BRIEF else (torch.float64, torch.bfloat16, torch.int8)
    for dtype, op, count in cases + [(dtype, "sum", count) for dtype in sized for count in SIZES]:
        call, what = next(calls), (dtype, op, count)
        given = [values(rank, call, count, dtype) for rank in range(RANKS)]
        mine, out = given[ME].clone(), torch.empty(count, dtype=dtype)
        assert COMM.all_reduce(mine, op, out=out) is out
        check(out, expected(given, op), what)
        assert same(mine, given[ME].view(torch.uint8)), what
        if op == "sum" and count == 77:
            assert COMM.all_reduce(mine) is mine
            assert same(mine, out.view(torch.uint8)), what
            same_everywhere(out, what)


def reductions():
    calls = itertools.count(300)
    for dtype, count in [(dtype, 77) for dtype in FLOATS + INTEGERS] + [(torch.float16, count) for count in SIZES]:
        call = next(calls)
        op, root = ("sum", "min", "max", "prod")[call % 4], call % RANKS
        what = dtype, op, count
        given = [values(rank, call, count * RANKS, dtype) for rank in range(RANKS)]
        mine = given[ME].clone()
        part = slice(ME * count, (ME + 1) * count)
        check(COMM.reduce_scatter(mine, op), expected(given, op)[part], what)
        result = COMM.reduce(mine, root, op)
        assert (result is None) == (ME != root), what
        if ME == root:
            assert result is mine
            check(mine, expected(given, op), what)


def moves():
    calls = itertools.count(500)
    for dtype, count in [(dtype, 77) for dtype in FLOATS + INTEGERS] + [(torch.int8, count) for count in SIZES]:
        call, what = next(calls), (dtype, count)
        given = [values(rank, call, count * RANKS, dtype) for rank in range(RANKS)]
        bits = [each.view(torch.uint8) for each in given]
        root, each = call % RANKS, bits[0].numel() // RANKS
        part = [slice(rank * each, (rank + 1) * each) for rank in range(RANKS)]
        mine = given[ME].clone()
        assert same(COMM.all_gather(mine), torch.cat(bits)), what
        assert same(COMM.all_to_all(mine), torch.cat([other[part[ME]] for other in bits])), what
        gathered = COMM.gather(mine, root)
        assert gathered is None if ME != root else same(gathered, torch.cat(bits)), what
        out = torch.empty(count, dtype=dtype)
        COMM.scatter(mine if ME == root else None, root, out=out)
        assert same(out, bits[root][part[ME]]), what
        assert COMM.broadcast(mine, root) is mine
        assert same(mine, bits[root]), what


def long_ones():
    """Messages that take several rounds; in place where that is meant to work."""
    for call in range(900, 901 if BRIEF else 902):
        given = [values(rank, call, LONG, torch.bfloat16) for rank in range(RANKS)]
        mine = given[ME].clone()
        COMM.all_reduce(mine)
        check(mine, expected(given, "sum"), call)
        given = [values(rank, call, LONG * RANKS, torch.int32) for rank in range(RANKS)]
        mine = given[ME].clone()
        part = [slice(rank * LONG, (rank + 1) * LONG) for rank in range(RANKS)]
        COMM.all_to_all(mine, out=mine)
        assert torch.equal(mine, torch.cat([each[part[ME]] for each in given])), call
        everybody = torch.zeros(LONG * RANKS, dtype=torch.int32)
        everybody[part[ME]] = given[ME][part[ME]]
        COMM.all_gather(everybody[part[ME]], out=everybody)
        assert torch.equal(everybody, torch.cat([each[part[rank]] for rank, each in enumerate(given)])), call
        COMM.broadcast(everybody, RANKS - 1)
        mine = given[ME].clone()
        COMM.reduce_scatter(mine, out=mine[part[ME]])
        assert torch.equal(mine[part[ME]], sum(given)[part[ME]]), call


def views():
    """Tensors at odd addresses, with strides, of several dimensions, without dimensions, and on the heap."""
    for offset in (0, 1, 3, 8):
        given = [values(rank, 700 + offset, 1000, torch.bfloat16) for rank in range(RANKS)]
        # Each rank has another alignment.
        at = (offset + ME) % 9
        mine, out = torch.zeros(1100, dtype=torch.bfloat16), torch.zeros(1100, dtype=torch.bfloat16)
        mine[at : at + 1000] = given[ME]
        COMM.all_reduce(mine[at : at + 1000], out=out[9 - at : 1009 - at])
        check(out[9 - at : 1009 - at], expected(given, "sum"), offset)
        assert not out[: 9 - at].any() and not out[1009 - at :].any(), offset
        gathered = torch.zeros(RANKS * 1000 + 9, dtype=torch.bfloat16)
        COMM.all_gather(mine[at : at + 1000], out=gathered[at : at + 1000 * RANKS])
        assert torch.equal(gathered[at : at + 1000 * RANKS], torch.cat(given)), offset
    given = [values(rank, 800, 6000, torch.float32).view(60, 100) for rank in range(RANKS)]
    mine = given[ME].clone()
    turned = mine.t()
    assert COMM.all_reduce(turned) is turned
    check(mine, expected(given, "sum"), "transposed")
    mine = given[ME].clone()
    COMM.broadcast(mine[:, ::2], RANKS - 1)
    assert torch.equal(mine[:, ::2], given[-1][:, ::2])
    assert torch.equal(mine[:, 1::2], given[ME][:, 1::2])
    one = torch.tensor(float(ME))
    assert COMM.all_reduce(one).item() == sum(range(RANKS))
    assert COMM.all_gather(torch.tensor(ME)).tolist() == list(range(RANKS))
    rows = COMM.all_gather(given[ME])
    assert rows.shape == (60 * RANKS, 100) and torch.equal(rows, torch.cat(given))
    heap = WORLD.zeros(6000, dtype=torch.float32)
    heap.copy_(given[ME].view(-1))
    COMM.all_reduce(heap)
    check(heap, expected(given, "sum").view(-1), "on the heap")


def ragged():
    """Numbers of rows that the device alone knows, none among them, and more than there is room for."""
    for call, width, dtype, most in ((1, 3, torch.float32, 9), (2, 8, torch.bfloat16, 700), (3, 1, torch.int8, 20_000)):
        generator = torch.Generator().manual_seed(call)
        counts = torch.randint(0, most, (RANKS, RANKS), generator=generator)
        counts[0, -1] = 0
        given = [values(rank, call, width * int(counts[rank].sum()), dtype).view(-1, width) for rank in range(RANKS)]
        begin = counts.cumsum(1) - counts
        rows = [given[rank][begin[rank, ME] : begin[rank, ME] + counts[rank, ME]] for rank in range(RANKS)]
        wanted, out = torch.cat(rows), torch.zeros(int(counts[:, ME].sum()) + 5, width, dtype=dtype)
        came = COMM.all_to_all_v(given[ME], counts[ME].to(torch.int32 if call == 1 else torch.int64), out)
        assert came.tolist() == counts[:, ME].tolist(), call
        assert torch.equal(out[:-5], wanted) and not out[-5:].any(), call
        # The same with less room on one rank.
        room = len(wanted) // (2 if ME == 0 else 1)
        out = torch.zeros(room + 5, width, dtype=dtype)
        came = COMM.all_to_all_v(given[ME], counts[ME], out[:room])
        assert came.tolist() == counts[:, ME].tolist(), call
        assert torch.equal(out[:room], wanted[:room]) and not out[room:].any(), call


def no_rows():
    """A rank that sends nothing, to ranks of which one takes nothing: tensors without memory."""
    for quiet in range(RANKS):
        counts = torch.full((RANKS,), 0 if ME == quiet else 2)
        given = torch.full((int(counts.sum()), 3), float(ME))
        rows = 0 if ME == quiet else 2 * (RANKS - 1)
        out = torch.zeros(rows, 3)
        came = COMM.all_to_all_v(given, counts, out)
        senders = [rank for rank in range(RANKS) if rank != quiet]
        assert came.tolist() == [0 if rank == quiet else 2 for rank in range(RANKS)], quiet
        assert out[:, 0].tolist() == [rank for rank in senders for _ in range(2)] * (ME != quiet), quiet


def barriers():
    for _ in range(5):
        COMM.barrier()


for part in (all_reduces, reductions, moves, long_ones, views, ragged, no_rows, barriers):
    part()
COMM.close()
WORLD.close()
