"""What large messages take, at sizes that the interpreter can do: shards in two steps, and tensors on the heap."""

import os

import symm
import torch
from symm.comm import Communicator, _plan

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
_plan.ONE_SHOT_BYTES, _plan.USUAL_ONE_SHOT_BYTES, _plan.DIRECT_BYTES = {}, 100, 100
_plan.PACKET_BYTES, _plan.USUAL_PACKET_BYTES = {}, 0
_plan.PARTED_BROADCAST_BYTES = 400


def calls(comm, count, on_heap):
    """Every collective that has a form for large messages, between tensors on the heap of some ranks or of all."""
    given = [torch.randn(count * RANKS, generator=torch.Generator().manual_seed(7 * rank)) for rank in range(RANKS)]
    exact = sum(each.double() for each in given)
    part = slice(ME * count, (ME + 1) * count)

    def empty(size):
        there = WORLD.zeros(size, dtype=torch.float32)
        return there if on_heap else torch.zeros(size)

    inp, out, small, everybody = empty(count * RANKS), empty(count * RANKS), empty(count), empty(count * RANKS**2)
    for turn in range(1 if BRIEF else 2):
        inp.copy_(given[ME])
        what = count, on_heap, turn
        comm.all_reduce(inp, out=out)
        assert (out.double() - exact).abs().max() < 1e-5, what
        comm.all_gather(inp, out=everybody)
        assert torch.equal(everybody, torch.cat(given)), what
        comm.all_to_all(inp, out=out)
        assert torch.equal(out, torch.cat([each[part] for each in given])), what
        comm.reduce_scatter(inp, "avg", out=small)
        assert (small.double() - exact[part] / RANKS).abs().max() < 1e-5, what
        comm.scatter(inp if turn == ME else None, turn, out=small) if turn < RANKS else None
        assert turn >= RANKS or torch.equal(small, given[turn][part]), what
        # In place.
        comm.all_to_all(inp, out=inp)
        assert torch.equal(inp, torch.cat([each[part] for each in given])), what
        inp.copy_(given[ME])
        comm.reduce_scatter(inp, out=inp[part])
        assert (inp[part].double() - exact[part]).abs().max() < 1e-5, what
        inp.copy_(given[ME])
        comm.all_reduce(inp)
        assert (inp.double() - exact).abs().max() < 1e-5, what
        inp.copy_(given[ME])
        comm.broadcast(inp, RANKS - 1)
        assert torch.equal(inp, given[-1]), what


# In the interpreter they take the longer the more they are: three and four make the calls of one size of each form.
BRIEF = RANKS > 2 and not os.environ.get("LONG")
COMM = Communicator(WORLD, blocks=2, staging=4 << 20)
for count in (9001,) if BRIEF else (33, 9001):
    calls(COMM, count, on_heap=True)
# All ranks but one.
calls(COMM, 3001, on_heap=ME != RANKS - 1)
_plan.DIRECT_BYTES = 1 << 40
COMM = Communicator(WORLD, blocks=2, staging=4 << 20)
for count in (20_001,) if BRIEF else (1, 20_001):
    calls(COMM, count, on_heap=False)
# Several blocks with one signal: the last of them are not there, or not whole.
_plan.TILES_BYTES, _plan.LARGE_TILES = 0, 4
COMM = Communicator(WORLD, blocks=2, staging=4 << 20)
calls(COMM, 9001, on_heap=False)
WORLD.close()
