"""Rank 1's program ends as HOW says, while rank 0 waits as WHERE says."""

import os
import time

import symm
import symm.triton as st
import torch
import triton

world = symm.init(heap_size=8 << 20, timeout=60)
flags = world.zeros(4, dtype=torch.int32)


@triton.jit
def wait_for(world, flags):
    st.wait(world, flags, 1)


def busy():
    """A wait that takes too long: rank 0 comes later to its own, so that it is no deadlock."""
    with world.timeout(0.3):
        wait_for[(1,)](world, flags)


def waits():
    if os.environ["WHERE"] == "kernel":
        wait_for[(1,)](world, flags)
    elif os.environ["WHERE"] == "stream":
        world.wait(flags[:1], 1)
    elif os.environ["WHERE"] == "zeros":
        world.zeros(4)
    elif os.environ["WHERE"] == "leave":
        ends()
    else:
        world.barrier()


def ends():
    exec(os.environ["HOW"])


if world.get_rank() == 1:
    ends()
else:
    time.sleep(2 if "busy" in os.environ["HOW"] else 0)
    waits()
