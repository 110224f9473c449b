"""What is said where ranks do not come to a team's barrier in time, or to several flags, as CASE says."""

import os
import time

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
flags = world.arange(8, dtype=torch.int32)
told = world.zeros(1, dtype=torch.int32)
team = world.team(range(ranks - 1, -1, -1))


@triton.jit
def one_of(world, flags):
    at = tl.arange(0, 8)
    st.wait_any(world, flags + at, 9, mask=(at == 3) | (at == 4))


@triton.jit
def all_of(world, flags):
    at = tl.arange(0, 8)
    st.wait_all(world, flags + at, 4, mask=(at == 3) | (at == 4))


def late():
    """The last rank, which is the team's first, is busy while the others wait for it."""
    last = ranks - 1
    if me == last:
        while told.item() < ranks - 1:
            world.check()
            time.sleep(0.02)
    else:
        with pytest.raises(symm.WaitTimeoutError) as raised, team.timeout(0.5):
            team.barrier()
        error = raised.value
        who = f"rank {last - me} of the team (rank {me} of the World)"
        start = f"{error.file}:{error.line}: Team.barrier: {who} has waited 0.5 s"
        assert str(error).startswith(start), error
        text = f" for rank 0 of the team (rank {last} of the World) to come to its barrier number 1: it has come to 0"
        assert text in str(error) and (error.file, error.kernel) == (__file__, "Team.barrier"), error
        world.signal(told, 1, last, op="add")
    world.barrier()


CASES = {
    "late": late,
    "one_of": lambda: one_of[(1,)](world, flags),
    "all_of": lambda: all_of[(1,)](world, flags),
    "meets": lambda: world.barrier() if me == 0 else team.barrier(),
}
CASES[os.environ["CASE"]]()
