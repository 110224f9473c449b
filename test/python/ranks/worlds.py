"""Several runs at once in one process, what is left of one that is closed, and what ends one."""

import atexit
import os

import symm
import symm.iris as iris
import symm.triton as st
import torch
import triton
import triton.language as tl

ONE = (4 << 20) - (2 << 20)


@triton.jit
def give(table, to, value):
    ctx = st.DeviceContext(table)
    ctx.store(to, value, (ctx.rank() + 1) % ctx.num_ranks())
    ctx.barrier()


@triton.jit
def put(source, target, me, to, heap_bases):
    iris.put(source, target, me, to, heap_bases)


def raised(kind, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


late = []


@atexit.register
def read_late():
    # All runs have been left by now.
    if [tensor.tolist() for tensor, _ in late] != [values for _, values in late]:
        os._exit(9)


# Each has its own heaps.
first, second = symm.init(heap_size=4 << 20), symm.init(heap_size=8 << 20)
me, ranks = first.get_rank(), first.get_num_ranks()
neighbour, before = (me + 1) % ranks, (me - 1) % ranks
mine, other = first.zeros(1, dtype=torch.int32), second.zeros(1, dtype=torch.int32)
assert first.is_symmetric(mine) and not first.is_symmetric(other) and second.is_symmetric(other)
said = "a tensor of torch.int32, (1,), on another World's heap"
assert said in raised(symm.NotSymmetricError, second.as_remote, mine, 0)
assert said in raised(symm.NotSymmetricError, first.put, mine, other, 0)
first.barrier()
second.barrier()
give[(1,)](first.get_device_context(), mine, 1 + me)
give[(1,)](second.get_device_context(), other, 101 + me)
first.barrier()
assert (mine.tolist(), other.tolist()) == ([1 + before], [101 + before])

# What is closed keeps its tensors; the others go on.
there = first.as_remote(mine, neighbour)
first.barrier()
first.close()
first.close()
assert (mine.tolist(), there.tolist()) == ([1 + before], [1 + me])
second.barrier()
there.fill_(5)
second.barrier()
assert mine.tolist() == [5]
CLOSED = "this World is closed: this rank has left the run"
assert raised(symm.ClosedError, first.zeros, 1) == raised(symm.ClosedError, first.get_rank) == CLOSED
assert not second.is_symmetric(mine)
second.barrier()

# Iris, too: one that something keeps, as the traceback of a test that failed, is in nobody's way.
kept = iris.iris(ONE)
block = kept.ones(4, dtype=torch.int32)


def fails():
    here = kept
    raise ValueError(here)


try:
    fails()
except ValueError as error:
    failed = error
del kept
shmem = iris.iris(ONE)
source, target = shmem.full((1,), me, dtype=torch.int32), shmem.zeros(1, dtype=torch.int32)
shmem.barrier()
put[(1,)](source, target, me, neighbour, shmem.get_heap_bases())
shmem.barrier()
assert (target.tolist(), block.tolist()) == ([before], [1] * 4)
# Only where it is gone on all ranks does it go.
if me == 0:
    del failed
worlds = [world for _, world in iris.Iris._made]
third = iris.iris(ONE)
assert [world.is_open() for world in worlds] == [ranks > 1, True]
failed = None
fourth = iris.iris(ONE)
assert [world.is_open() for world in worlds] == [False, True]
assert block.tolist() == [1] * 4
# On different ranks, programs for Iris may fill tensors in different ways.
getattr(third, "zeros" if me else "ones")(3)

# Ranks that make different tensors are told, and are out of step from there on.
HOST_BARRIERS = [(lambda run: run.device_barrier() if me else run.barrier(), "World.device_barrier at ")]
if second.get_device().type != "cpu":
    # There the device waits, for other ranks' devices.
    HOST_BARRIERS = []
if ranks > 1:
    for make, words in (
        (lambda run: run.zeros(4, dtype=torch.float32 if me else torch.int32), "World.zeros: torch.float32, (4,) at "),
        (lambda run: run.zeros((2, 6) if me else (3, 4)), "World.zeros: torch.float32, (2, 6) at "),
        (lambda run: run.ones(4) if me else run.zeros(4), "World.ones: torch.float32, (4,) at "),
        (lambda run: run.barrier() if me else run.zeros(4), "World.barrier at "),
        (lambda run: run.broadcast(1, min(me, 1)), "World.broadcast from rank 1 at "),
        (lambda run: run.close() if me else run.barrier(), "World.close at "),
        *HOST_BARRIERS,
    ):
        run = symm.init(heap_size=4 << 20)
        message = raised(symm.MismatchError, make, run)
        assert "ranks disagree on a collective operation" in message and f"\n  rank 1: {words}" in message, message
        assert "worlds.py" in message and "barrier_all" not in message and "alloc" not in message, message
        # Rank 0 alone goes on, and does not wait for the others.
        if me == 0:
            message = raised(symm.RankFailedError, run.barrier)
            assert "the ranks had called different things (MismatchError), and are out of step" in message, message
        if run.is_open():
            raised(symm.RankFailedError, run.close)
second.barrier()
late += [(mine, [5]), (there, [5]), (target, [before]), (block, [1] * 4), (other, [101 + before])]
