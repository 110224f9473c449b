"""Communicators with domains: sums in a hierarchy, and nothing but puts, signals and waits between domains.

With an argument: ranks that do not come.
"""

import contextlib
import itertools
import sys
import time
import zlib

import symm
import torch
from comm_values import check, expected, values
from symm import _interpreter, errors
from symm.comm import Communicator, _hierarchy, _plan
from triton.runtime.interpreter import GridExecutor

WORLD = symm.init(heap_size=96 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
LAST = RANKS - 1
# With two ranks, each is alone in its domain.
DOMAIN = RANKS // 2
MINE = ME // DOMAIN
# Messages between domains cost so much that the model takes a hierarchy for a single element.
SLOW = _hierarchy.FAR._replace(gap=1.0)
DOMAIN_OPS = set()
# Long enough for ranks of a busy machine to come.
SECONDS = 6.0


def communicator(**settings):
    return Communicator(WORLD, **{"blocks": 2, "staging": 4 << 20, "domain": DOMAIN, **settings})


def watch_ops():
    """Keeps which ops name a rank of another domain."""
    call = _interpreter.Interpreter.call

    def watched(self, name, operands, attributes=None, result=None):
        if "rank" in operands:
            given = self.present(operands)
            # Counts are stored one by one.
            is_count = name == "remote_store" and given["value"].handle.data.size == 1
            if any(int(rank) // DOMAIN != MINE for rank in given["rank"].handle.data.ravel()) and not is_count:
                DOMAIN_OPS.add(name)
        return call(self, name, operands, attributes, result)

    _interpreter.Interpreter.call = watched


def same_everywhere(tensor, what):
    mine = zlib.crc32(bytes(tensor.view(torch.uint8).tolist()))
    for rank in range(RANKS):
        assert WORLD.broadcast(mine, rank) == mine, what


def in_domains(given, op):
    """The sum of each domain, rounded, and then the sum of these."""
    def summed(tensors):
        exact = expected(tensors, op)
        return (exact.to(torch.float32) if exact.is_floating_point() else exact).to(tensors[0].dtype)

    return summed([summed(given[first : first + DOMAIN]) for first in range(0, RANKS, DOMAIN)])


def sums(comm):
    """All types and counts; sums of two floats have no order, so they are exact to the last bit."""
    calls = itertools.count()
    types = (torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int8, torch.bool)
    cases = [(dtype, op, 77) for dtype, op in zip(types, itertools.cycle(("sum", "min", "max", "prod")))]
    cases += [(torch.bfloat16, "avg", 77)] + [(torch.bfloat16, "sum", count) for count in (0, 1, 2, 3, 2501)]
    for dtype, op, count in cases:
        given = [values(rank, next(calls), count, dtype) for rank in range(RANKS)]
        mine, out, what = given[ME].clone(), torch.empty(count, dtype=dtype), (dtype, op, count)
        assert comm.all_reduce(mine, op, out=out) is out
        assert torch.equal(mine.view(torch.uint8), given[ME].view(torch.uint8)), what
        whole = count // DOMAIN * DOMAIN
        wanted = in_domains(given, op)
        assert torch.equal(out[:whole].view(torch.uint8), wanted[:whole].view(torch.uint8)), what
        # What is no multiple of a domain is summed at once.
        check(out[whole:], expected(given, op)[whole:], what)
        same_everywhere(out, what)
        assert comm.all_reduce(mine, op) is mine
        assert torch.equal(mine.view(torch.uint8), out.view(torch.uint8)), what
    strided = torch.arange(24.0).view(4, 6)[:, ::2] + ME
    comm.all_reduce(strided)
    assert strided.tolist() == (RANKS * torch.arange(24.0).view(4, 6)[:, ::2] + sum(range(RANKS))).tolist()


def all_calls(comm):
    """With messages of sizes that each have a way."""
    for count in (3, 700):
        part = torch.full((count,), float(ME))
        parts = torch.arange(RANKS).repeat_interleave(count).to(torch.float32) + 10 * ME
        ranks = torch.arange(RANKS).repeat_interleave(count).to(torch.float32)
        assert torch.equal(comm.all_gather(part), ranks)
        assert torch.equal(comm.all_to_all(parts), 10 * ranks + ME)
        assert torch.equal(comm.reduce_scatter(parts), torch.full((count,), ME * RANKS + 10.0 * sum(range(RANKS))))
        assert torch.equal(comm.broadcast(part.clone(), LAST), torch.full((count,), float(LAST)))
        gathered, reduced = comm.gather(part, LAST), comm.reduce(part.clone(), LAST)
        assert (gathered is None) == (reduced is None) == (ME != LAST)
        assert ME != LAST or (torch.equal(gathered, ranks) and reduced.tolist() == [sum(range(RANKS))] * count)
        scattered = comm.scatter(ranks if ME == 0 else None, 0, out=torch.empty(count))
        assert torch.equal(scattered, torch.full((count,), float(ME)))
        out = torch.zeros(RANKS * count)
        assert comm.all_to_all_v(parts, torch.full((RANKS,), count), out).tolist() == [count] * RANKS
        assert torch.equal(out, 10 * ranks + ME)
    comm.barrier()
    comm.check()


# What waits for the device, so that no graph can capture it.
WAITS = [(type(WORLD), name) for name in ("_synchronize", "barrier", "broadcast")]
WAITS += [(torch.Tensor, name) for name in ("item", "tolist", "cpu", "__bool__", "__int__")]


@contextlib.contextmanager
def only_launches():
    """Has everything fail that waits for the device, but for what interprets kernels."""
    launch, kernels = GridExecutor.__call__, []

    def launched(self, *arguments, **keywords):
        kernels.append(self)
        try:
            return launch(self, *arguments, **keywords)
        finally:
            kernels.pop()

    def refused(name, theirs):
        def called(*arguments, **keywords):
            assert kernels, f"a call waits for the device: {name}"
            return theirs(*arguments, **keywords)

        return called

    before = [(where, name, getattr(where, name)) for where, name in WAITS]
    GridExecutor.__call__ = launched
    for where, name, theirs in before:
        setattr(where, name, refused(name, theirs))
    try:
        yield
    finally:
        GridExecutor.__call__ = launch
        for where, name, theirs in before:
            setattr(where, name, theirs)


def as_a_graph_captures_them(comm):
    """Calls are kernels and copies in the order of a stream."""
    part, parts = torch.full((700,), ME + 1.0), torch.arange(RANKS).repeat_interleave(700).to(torch.float32)
    for launched in (contextlib.nullcontext, only_launches):
        # The first time there may be something to allocate.
        with launched():
            summed, gathered = comm.all_reduce(part.clone()), comm.all_gather(part)
            exchanged, scattered = comm.all_to_all(parts), comm.reduce_scatter(parts)
            told, reduced = comm.broadcast(part.clone(), LAST), comm.reduce(part.clone(), LAST)
            comm.barrier()
    total = sum(range(RANKS + 1))
    assert summed.tolist() == [total] * 700 and told.tolist() == [RANKS] * 700
    assert gathered.tolist() == (parts + 1).tolist() and exchanged.tolist() == [ME] * len(parts)
    assert scattered.tolist() == [RANKS * ME] * 700 and (ME != LAST or reduced.tolist() == [total] * 700)


def on_the_heap(comm):
    """Tensors that peers could load from: those of other domains do not."""
    heap = WORLD.zeros(1000, dtype=torch.float32)
    heap.copy_(torch.arange(1000.0) + ME)
    comm.all_reduce(heap)
    assert torch.equal(heap.cpu(), RANKS * torch.arange(1000.0) + sum(range(RANKS)))
    wide = WORLD.zeros(1000 * RANKS, dtype=torch.float32)
    comm.all_gather(heap, out=wide)
    assert torch.equal(wide.view(RANKS, -1)[LAST], heap)


def model():
    """Small messages go to all at once, large ones through the hierarchy; one of all ranks or of each has none."""
    comm = communicator()
    if RANKS == 4:
        assert [comm._hierarchy.takes("all_reduce", nbytes) for nbytes in (8, 1 << 20)] == [False, True]
    for domain in (1, RANKS, None):
        other = communicator(domain=domain)
        assert other._hierarchy is None
        assert other.all_reduce(torch.ones(5)).tolist() == [RANKS] * 5
        other.close()
    for nbytes in (8, 130_000):
        given = [values(rank, nbytes, nbytes // 4, torch.float32) for rank in range(RANKS)]
        got = comm.all_reduce(given[ME].clone())
        check(got, expected(given, "sum"), nbytes)
        same_everywhere(got, nbytes)
    comm.check()
    halves = comm.split(ME % 2)
    assert halves._hierarchy is None and halves.all_reduce(torch.ones(3)).tolist() == [RANKS // 2] * 3
    comm.close()
    try:
        comm.all_reduce(torch.ones(5))
    except errors.ClosedError:
        pass
    else:
        raise AssertionError("a closed communicator has done a call")


def wrong():
    for domain in (0, -2, RANKS + 1, 2 * RANKS, True, 2.0, "2"):
        try:
            communicator(domain=domain)
        except errors.ArgumentError as error:
            said = f"domain must be a number of ranks that divides {RANKS}, the number of all, not {domain!r}"
            assert str(error) == f"Communicator: {said}", error
        else:
            raise AssertionError(f"taken: {domain!r}")


def different_domains():
    for mine, others in ((1, None), (None, DOMAIN), (RANKS, 1)):
        try:
            communicator(domain=mine if ME == LAST else others)
        except errors.MismatchError as error:
            assert f"ranks {LAST} have another domain than rank 0: give all the same one" in str(error), error
        else:
            raise AssertionError(f"taken: {mine} and {others}")


def different_calls():
    comm = communicator(check=True)
    try:
        comm.all_reduce(torch.ones(3 + (ME == LAST)))
    except errors.CallMismatchError as error:
        assert f"rank {LAST}: call 1: all_reduce (sum), 4 elements" in str(error)
    else:
        raise AssertionError("ranks called different things")
    assert comm.all_reduce(torch.ones(3)).tolist() == [RANKS] * 3


def never_comes():
    """The last rank makes no call: all others are told, also those that have nothing to do with it."""
    comm = communicator(timeout=SECONDS)
    works(comm)
    WORLD.barrier()
    if ME != LAST:
        # Whoever has received from a rank that had given up is told when that one looks.
        error = timed_out(comm)
        assert error.op == "all_reduce" and error.rank != LAST and error.peer != error.rank, error
        assert f"all_reduce: rank {error.rank} has waited {SECONDS:g} s for rank {error.peer}:" in str(error)
        assert str(timed_out(comm)) == str(error)
    WORLD.barrier()
    if ME == LAST:
        timed_out(comm)
    while True:
        try:
            comm.recover()
            break
        except errors.CollectiveTimeoutError as error:
            # A rank of a busy machine comes too late now and then.
            assert error.op == "recover"
    works(comm)


def timed_out(comm):
    start = time.monotonic()
    try:
        comm.all_reduce(torch.ones(10))
        comm.check()
    except errors.CollectiveTimeoutError as error:
        assert time.monotonic() - start < 20 * SECONDS
        return error
    raise AssertionError("no CollectiveTimeoutError")


def works(comm):
    for count in (1, 1001):
        assert comm.all_reduce(torch.full((count,), ME + 1.0)).tolist() == [sum(range(RANKS + 1))] * count
    comm.barrier()
    comm.check()


if sys.argv[1:]:
    _hierarchy.FAR = SLOW
    never_comes()
else:
    wrong()
    different_domains()
    model()
    _hierarchy.FAR = SLOW
    # All that may go from tensor to tensor would.
    _plan.DIRECT_BYTES, _plan.PARTED_BROADCAST_BYTES = 2000, 2000
    watch_ops()
    COMM = communicator()
    assert (COMM._hierarchy is None) == (RANKS == 2)
    for part in (sums, all_calls, as_a_graph_captures_them, on_the_heap) if RANKS == 4 else (all_calls, on_the_heap):
        part(COMM)
    assert DOMAIN_OPS == {"put", "signal"}, DOMAIN_OPS
    different_calls()
WORLD.close()
