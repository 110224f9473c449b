"""Ranks that do not make the same calls for teams, as CASE says: each gets an error with the line of each, or is told
that the run is over.
"""

import os

import pytest
import symm

world = symm.init(heap_size=64 << 20, timeout=60)
me = world.get_rank()
everyone = list(range(world.get_num_ranks()))


def kinds():
    world.split(0) if me == 0 else world.team(everyone)


def counts():
    world.split(0)
    world.split(0) if me == 0 else world.barrier()


def tensors():
    world.team(everyone) if me == 0 else world.zeros(8)


def values():
    world.split(0) if me == 0 else world.broadcast("a value", 0)


SAID = {
    "kinds": ("World.split", "World.team"),
    "counts": ("World.split", "World.barrier"),
    "tensors": ("World.team", "World.zeros: torch.float32, (8,)"),
    "values": ("World.split", "World.broadcast from rank 0"),
}
case = os.environ["CASE"]
with pytest.raises(symm.MismatchError) as raised:
    globals()[case]()
for rank in everyone:
    assert f"\n  rank {rank}: {SAID[case][rank > 0]} at {__file__}:" in str(raised.value), raised.value
with pytest.raises(symm.RankFailedError, match="the ranks had called different things"):
    world.barrier()
os._exit(0)
