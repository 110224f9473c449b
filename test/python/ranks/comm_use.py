"""Communicators: of some ranks, several at once, closed ones, checked ones, and what they do not take."""

import numpy as np
import symm
import torch
from raising import raises
from symm import errors
from symm.comm import Communicator

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
COMM = Communicator(WORLD, blocks=2, staging=4 << 20)


def splits():
    for color, key in ((ME % 2, None), (0, -ME), (None if ME else 5, None), (ME, 3)):
        some = COMM.split(color, key)
        if color is None:
            assert some is None
            for _ in range(3):
                COMM.all_gather(torch.tensor([float(ME)]))
            continue
        told = [WORLD_COLORS(rank, color, key) for rank in range(RANKS)]
        members = [rank for rank in range(RANKS) if told[rank]]
        if key is not None and color == 0:
            members.reverse()
        assert (some.get_num_ranks(), some.get_rank()) == (len(members), members.index(ME)), members
        both = torch.tensor([float(ME)]), torch.tensor([float(ME)])
        # Two communicators in turn.
        for _ in range(3):
            assert some.all_gather(both[0]).tolist() == members
            assert COMM.all_gather(both[1]).tolist() == list(range(RANKS))
        assert some.all_reduce(torch.ones(300)).tolist() == [len(members)] * 300
        some.barrier()
    raises(errors.ArgumentError, "color must be an integer", COMM.split, "red")


def nested():
    """Splits of splits, three levels of communicators in use at once."""
    halves = COMM.split(ME // 2)
    turned = halves.split(0, -ME)
    alone = turned.split(turned.get_rank() if ME != 1 else None)
    half = [rank for rank in range(RANKS) if rank // 2 == ME // 2]
    assert (alone is None) == (ME == 1)
    for count in (2, 3000):
        mine = torch.full((count,), ME)
        for _ in range(3):
            assert COMM.all_gather(mine)[::count].tolist() == list(range(RANKS))
            assert halves.all_gather(mine)[::count].tolist() == half
            assert turned.all_gather(mine)[::count].tolist() == half[::-1]
            assert alone is None or alone.all_gather(mine).tolist() == [ME] * count
            assert turned.all_reduce(mine.clone()).tolist() == [sum(half)] * count
    # Ranks in none take part with that of all ranks.
    again = (alone or COMM).split(None if alone is None else 7)
    assert (again is None) == (ME == 1) and (again is None or again.get_num_ranks() == 1)
    color = "red" if ME == RANKS - 1 else 0
    raises(errors.ArgumentError, "color must be an integer or None", halves.split, color)
    pairs = halves.split(5, 0)
    assert pairs.broadcast(torch.tensor([ME]), 0).tolist() == [half[0]]
    for comm in (pairs, turned, halves):
        comm.barrier()
        comm.close()


def WORLD_COLORS(rank, color, key):
    """Whether another rank gave the same color."""
    if key == 3:
        return rank == ME
    if key is not None:
        return True
    return rank == 0 if color == 5 else rank % 2 == color


def wrong():
    good = torch.zeros(6 * RANKS)
    odd = torch.zeros(6 * RANKS + 1)
    raises(errors.ArgumentError, "tensor must be a tensor, not [1]", COMM.all_reduce, [1])
    raises(errors.ArgumentError, "tensor is on meta", COMM.all_reduce, good.to("meta"))
    elsewhere = good.to("meta")
    raises(errors.ArgumentError, "out must be a tensor on cpu, not one on meta", COMM.all_reduce, good, out=elsewhere)
    raises(errors.ArgumentError, "must be strided", COMM.all_reduce, good.to_sparse())
    raises(errors.ArgumentError, "op must be one of 'sum'", COMM.all_reduce, good, "mean")
    raises(errors.ArgumentError, "op must be one of 'sum'", COMM.all_reduce, good, np.array(["sum", "max"]))
    for call in (COMM.all_reduce, COMM.reduce_scatter):
        raises(errors.ArgumentError, "op must be one of 'sum', 'avg', 'min', 'max', 'prod', not None", call, good, None)
    raises(errors.ArgumentError, "elements of out share memory: clone()", COMM.all_reduce, good[:1].expand(4))
    said = "there is no avg of torch.int32: averages are of floats"
    raises(errors.DtypeError, said, COMM.all_reduce, good.int(), "avg")
    raises(errors.DtypeError, "there is no sum of torch.complex64", COMM.reduce, good.to(torch.complex64))
    raises(errors.DtypeError, "there is no avg of torch.bool", COMM.reduce_scatter, good.bool(), "avg")
    if RANKS > 1:
        raises(errors.ArgumentError, f"does not have {RANKS} equal parts", COMM.reduce_scatter, odd)
        raises(errors.ArgumentError, f"does not have {RANKS} equal parts", COMM.all_to_all, torch.tensor(1.0))
        # No row is split between ranks, whether there is an `out` or not.
        rows, said = torch.zeros(RANKS + 1, RANKS), f"does not have {RANKS} equal parts in its first dimension"
        raises(errors.ArgumentError, said, COMM.all_to_all, rows)
        raises(errors.ArgumentError, said, COMM.all_to_all, rows, out=rows.clone())
        raises(errors.ArgumentError, said, COMM.scatter, rows, ME, out=torch.zeros(RANKS + 1))
        assert COMM.reduce_scatter(rows, out=torch.ones(RANKS + 1)).tolist() == [0] * (RANKS + 1)
    said = "out has dtype torch.int32, and the tensor has torch.float32"
    raises(errors.ArgumentError, said, COMM.all_reduce, good, out=good.int())
    raises(errors.ArgumentError, "out has", COMM.all_gather, good, out=torch.zeros(5))
    raises(errors.RankRangeError, f"rank {RANKS} out of range [0, {RANKS})", COMM.broadcast, good, RANKS)
    raises(errors.RankRangeError, "rank -1 out of range", COMM.reduce, good, -1)
    for root in (None, "0", 0.0, False, True, torch.tensor(True)):
        for call in (COMM.broadcast, COMM.reduce, COMM.gather, COMM.scatter):
            raises(errors.ArgumentError, f"root must be an integer, not {root!r}", call, good, root)
        raises(errors.ArgumentError, f"root must be an integer, not {root!r}", COMM.scatter, None, root, out=good)
    raises(errors.ArgumentError, "is the root, and gives the tensor", COMM.scatter, None, ME, out=good)
    if RANKS > 1:
        said = "give `out` on the ranks that are not the root"
        raises(errors.ArgumentError, said, COMM.scatter, None, (ME + 1) % RANKS)
        said = "scatter: out must be a tensor, not [1]"
        raises(errors.ArgumentError, said, COMM.scatter, None, (ME + 1) % RANKS, out=[1])
    raises(errors.ArgumentError, "world must be what symm.init returns", Communicator, 3)
    for blocks in (0, True):
        raises(errors.ArgumentError, "blocks must be a number from 1 to 1024", Communicator, WORLD, blocks=blocks)
    raises(errors.ArgumentError, "staging must be a number of bytes, not True", Communicator, WORLD, staging=True)
    raises(errors.StagingError, "too small", Communicator, WORLD, staging=1000)
    raises(errors.HeapExhaustedError, "", Communicator, WORLD, staging=1 << 40)
    assert issubclass(errors.DtypeError, TypeError) and issubclass(errors.StagingError, ValueError)


def odd_tensors():
    """Tensors that are no plain memory: nested, quantised, zeros without memory."""
    good, rows = torch.zeros(RANKS), torch.ones(RANKS, dtype=torch.int64)
    parts = [torch.ones(2), torch.ones(3)]
    for layout in (torch.strided, torch.jagged):
        nested, said = torch.nested.nested_tensor(parts, layout=layout), "must be strided, not nested"
        for call in (COMM.all_reduce, COMM.all_gather, COMM.broadcast, COMM.scatter):
            raises(errors.ArgumentError, f"tensor {said}", call, nested)
        raises(errors.ArgumentError, f"out {said}", COMM.all_gather, good, out=nested)
        raises(errors.ArgumentError, f"counts {said}", COMM.all_to_all_v, good, nested, good)
        raises(errors.ArgumentError, f"out {said}", COMM.all_to_all_v, good, rows, nested)
    small = torch.quantize_per_tensor(good, 0.1, 0, torch.quint8)
    raises(errors.DtypeError, "tensor is quantised: give its int_repr()", COMM.all_gather, small)
    zeros = torch._efficientzerotensor((RANKS,))
    assert COMM.all_gather(zeros).tolist() == [0] * RANKS * RANKS
    for given in ((zeros,), (good,)):
        raises(errors.ArgumentError, "out is zeros without memory: clone() it", COMM.all_reduce, *given, out=zeros)


def without_gradients():
    """Parameters, and tensors made in inference mode, are written as memory is, on one rank too."""
    weights = torch.nn.Parameter(torch.full((4,), float(ME + 1)))
    assert COMM.broadcast(weights, RANKS - 1).tolist() == [RANKS] * 4
    turned = torch.nn.Parameter(torch.zeros(2, 2))
    assert COMM.all_reduce(weights.detach().view(2, 2), out=turned.t()).tolist() == [[RANKS * RANKS] * 2] * 2
    assert not COMM.all_gather(weights).requires_grad and weights.is_leaf
    with torch.inference_mode():
        made = torch.ones(3)
    assert COMM.all_reduce(made).tolist() == [RANKS] * 3


def rows_of_any_type():
    """Counts of any shape, and rows of elements that torch does not choose between."""
    for dtype in (torch.uint16, torch.uint64, torch.float8_e4m3fn, torch.complex64, torch.bool):
        given = torch.arange(1, 4 * RANKS + 1, dtype=torch.float64).to(dtype).view(RANKS, 4)
        out, counts = torch.zeros(RANKS + 1, 4).to(dtype), torch.ones(RANKS, 1, dtype=torch.int64)
        assert COMM.all_to_all_v(given, counts, out).tolist() == [1] * RANKS, dtype
        assert all(torch.equal(row.double(), given[ME].double()) for row in out[:-1]), dtype
        assert not out[-1].double().any(), dtype
    one, none = torch.zeros(RANKS), torch.zeros(RANKS, 0)
    assert COMM.all_to_all_v(none, torch.ones(RANKS, 1, dtype=torch.int32), none).tolist() == [1] * RANKS
    said = "the rows of out must be like those of the tensor: () of torch.float32"
    raises(errors.ArgumentError, said, COMM.all_to_all_v, one, torch.ones(RANKS, dtype=torch.int64), torch.tensor(1.0))
    if RANKS == 1:
        assert COMM.all_to_all_v(torch.ones(2), torch.tensor(2), torch.zeros(2)).tolist() == [2]


def checked():
    comm = Communicator(WORLD, blocks=2, staging=4 << 20, check=True)
    same, mine = torch.ones(12), torch.ones(12 + ME)
    assert comm.all_reduce(same).tolist() == [RANKS] * 12
    comm.barrier()
    if RANKS == 1:
        return
    told = errors.CallMismatchError
    # No root is told of a call that has none.
    said = "12 elements of torch.float32\n  rank 1: call 3: all_reduce (sum), 13 elements of torch.float32"
    raises(told, said, comm.all_reduce, mine)
    raises(told, "rank 1: call 4: all_reduce (max)", comm.all_reduce, same, "max" if ME == 1 else "sum")
    double = torch.ones(12, dtype=torch.float64 if ME == 1 else torch.float32)
    raises(told, "12 elements of torch.float64", comm.all_gather, double)
    said = "rank 1: call 6: broadcast, 12 elements of torch.float32, root 1"
    raises(told, said, comm.broadcast, same, int(ME == 1))
    raises(told, "rank 0: call 7: barrier", *([comm.all_gather, same] if ME else [comm.barrier]))
    said = f"ranks {RANKS - 1} have another check than rank 0: give all the same one"
    raises(errors.MismatchError, said, Communicator, WORLD, blocks=2, staging=4 << 20, check=ME == RANKS - 1)
    # It goes on.
    assert comm.all_reduce(torch.ones(3)).tolist() == [RANKS] * 3


def wrong_counts():
    """Counts that are negative, and more than there are rows: nothing is read or written that is not there."""
    rows = 2 * RANKS
    checking = Communicator(WORLD, blocks=2, staging=4 << 20, check=True)
    many = 1 << 40
    told, more = "counts[0] is -5", f"counts add up to {many + rows - 2}, but the tensor has {rows} rows"
    # Of the last rank, and of all; with rows of no elements, too.
    for first, who, width, said in (
        (-5, [RANKS - 1], 4, told), (many, range(RANKS), 4, more), (many, [RANKS - 1], 0, more)
    ):  # fmt: skip
        counts = [[first if rank in who else 2] + [2] * (RANKS - 1) for rank in range(RANKS)]
        wanted = [taken(each, rows)[ME] for each in counts]
        given, out = torch.full((rows, width), float(ME)), torch.full((rows * RANKS + 3, width), -1.0)
        assert COMM.all_to_all_v(given, torch.tensor(counts[ME]), out[:-3]).tolist() == wanted, (first, who)
        there = [rank for rank, count in enumerate(wanted) for _ in range(count)]
        assert width == 0 or out[:, -1].tolist() == there + [-1] * (len(out) - len(there)), (first, who)
        kind = errors.ArgumentError if ME in who else errors.CallMismatchError
        raises(kind, said, checking.all_to_all_v, given, torch.tensor(counts[ME]), out)
    assert checking.all_to_all_v(given, torch.full((RANKS,), 2), given.clone()).tolist() == [2] * RANKS


def taken(counts, rows):
    """How many rows are sent to each rank."""
    found = []
    for count in counts:
        found.append(max(0, min(count, rows - sum(found))))
    return found


PARTS = splits, nested, wrong, odd_tensors, without_gradients, rows_of_any_type, checked, wrong_counts
for part in PARTS:
    part()
COMM.close()
COMM.close()
raises(errors.ClosedError, "has been closed", COMM.all_reduce, torch.ones(1))
raises(errors.ClosedError, "has been closed", COMM.barrier)
LATER = Communicator(WORLD, blocks=2, staging=4 << 20)
WORLD.close()
ONE = torch.ones(RANKS)
for call in (LATER.all_reduce, LATER.all_gather, LATER.all_to_all, LATER.broadcast, LATER.reduce, LATER.scatter):
    raises(errors.ClosedError, "World has been closed", call, ONE)
raises(errors.ClosedError, "World has been closed", LATER.scatter, None, 0, out=ONE)
raises(errors.ClosedError, "World has been closed", LATER.all_to_all_v, ONE, ONE.long(), ONE)
for call in (LATER.barrier, LATER.check, LATER.recover):
    raises(errors.ClosedError, "World has been closed", call)
raises(errors.ClosedError, "World has been closed", LATER.split, 0)
raises(errors.ClosedError, "Communicator: this World has been closed", Communicator, WORLD)
