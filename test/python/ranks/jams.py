"""Ranks of two Worlds that wait for each other for ever, in kernels and in calls of the host, as CASE says: each rank
is told at once, and where each of them waits. In some cases they do not.
"""

import os
import sys
import time

import symm
import symm.triton as st
import torch
import triton

first = symm.init(heap_size=16 << 20, timeout=300)
second = symm.init(heap_size=16 << 20, timeout=300)
me, ranks = first.get_rank(), first.get_num_ranks()
flags, others = (world.zeros(8, dtype=torch.int32) for world in (first, second))
team = second.team(range(ranks))
case = os.environ["CASE"]


@triton.jit
def waits(world, flags):
    st.wait(world, flags, 1)


@triton.jit
def signals(world, flags, rank):
    st.signal(world, flags, 1, rank)


# What rank 0 does, and what the others.
JAMS = {
    "kernels": (lambda: waits[(1,)](first, flags), lambda: waits[(1,)](second, others)),
    "kernel_and_barrier": (lambda: waits[(1,)](first, flags), lambda: second.barrier()),
    "kernel_and_zeros": (lambda: second.zeros(4), lambda: waits[(1,)](first, flags)),
    "wait_and_barrier": (lambda: first.wait(flags[:1], 1), lambda: second.barrier()),
    "barriers": (lambda: first.barrier(), lambda: second.barrier()),
    "broadcast": (lambda: first.broadcast(1), lambda: second.device_barrier()),
    "team_and_wait": (lambda: team.barrier(), lambda: first.wait(flags[1:2], 1)),
    "team_and_barrier": (lambda: team.barrier(), lambda: first.barrier()),
    "one_world": (lambda: first.barrier(), lambda: first.wait(flags[:1], 1)),
    "ends": (lambda: waits[(1,)](first, flags), lambda: sys.exit(0)),
    "ends_first": (lambda: second.wait(others[:1], 1), lambda: exit(0)),
    "raises": (lambda: waits[(1,)](first, flags), lambda: 1 / 0),
}


def slow():
    """The last rank takes its time, while the others wait for it in two Worlds."""
    if me == ranks - 1:
        time.sleep(1.5)
        for rank in range(ranks):
            signals[(1,)](first, flags, rank)
        second.barrier()
    elif me == 0:
        waits[(1,)](first, flags)
        second.barrier()
    else:
        second.barrier()


def closes():
    """A rank that others wait for in one World leaves the other one, and then signals."""
    if me == 0:
        waits[(1,)](first, flags)
        second.close()
    else:
        second.close()
        signals[(1,)](first, flags, 0)
    first.barrier()


first.barrier()
begun = time.monotonic()
try:
    JAMS[case][me > 0]() if case in JAMS else globals()[case]()
finally:
    print(f"rank {me} went on after {time.monotonic() - begun:.1f} s", file=sys.stderr)
