"""Interpreted kernels that wait for each other for ever, as CASE says: each rank is told at once,
and who waits where.
"""

import os
import time

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20, timeout=300)
me, ranks = world.get_rank(), world.get_num_ranks()
flags = world.zeros(8, dtype=torch.int32)
case = os.environ["CASE"]


@triton.jit
def nobody_signals(world, flags):
    st.wait(world, flags + 2, 3)  # wait


@triton.jit
def later_program(world, flags):
    if tl.program_id(0) == 0:
        st.wait(world, flags, 1, "eq")  # wait
    else:
        st.signal_all(world, flags, 1)


@triton.jit
def another_flag(world, flags):
    st.signal_all(world, flags + st.rank(world), 1)
    st.wait_all(world, flags + tl.arange(0, 8), 1)  # wait


@triton.jit
def no_packets(world, flags):
    st.wait_packet(world, flags, 7)  # wait


@triton.jit
def no_floats(world, flags):
    st.clear_floats(world, flags)
    st.wait_floats(world, flags)  # wait


@triton.jit
def device_barrier_of_the_host(world, flags):
    if st.rank(world) == 0:
        st.wait(world, flags, 1)  # wait


@triton.jit
def one_in_a_barrier(world, flags):
    if st.rank(world) == st.num_ranks(world) - 1:
        st.barrier(world)
    else:
        st.wait(world, flags, 1)  # wait


@triton.jit
def barrier_of_a_team(world, flags):
    st.barrier(world)  # wait


@triton.jit
def one_has_ended(world, flags):
    if st.rank(world) == 0:
        st.wait(world, flags, 1)  # wait


@triton.jit
def barrier_of_the_host(world, flags):
    if st.rank(world) == 0:
        st.barrier(world)  # wait


@triton.jit
def barriers_of_two_programs(world, flags):
    if tl.program_id(0) == st.rank(world):
        st.barrier(world)  # wait


@triton.jit
def slow(world, flags):
    """No deadlock: the last rank takes its time."""
    st.wait(world, flags, 1)


def stream_of_the_host():
    world.wait(flags[:1], 1)  # wait


team = world.split(0)
lines = open(__file__).read().splitlines()
world.barrier()
start = time.monotonic()
if case == "slow":
    if me == ranks - 1:
        time.sleep(2)
        for rank in range(ranks):
            world.as_remote(flags, rank).fill_(1)
    slow[(1,)](world, flags)
    world.close()
    os._exit(0)
kernel = globals()[case]
first = next(n for n, line in enumerate(lines) if line.startswith(f"def {case}("))
number = next(n for n in range(first, len(lines)) if "# wait" in lines[n]) + 1
if case == "stream_of_the_host":
    try:
        stream_of_the_host()
    except symm.DeadlockError as error:
        print(f"rank {me} found it\n{error}")
        assert (error.file, error.line) == (__file__, number)
        raise
try:
    kernel[(2,)](team if case == "barrier_of_a_team" and me == 0 else world, flags)
    if case.startswith("device"):
        world.device_barrier()
    world.barrier()
except triton.runtime.errors.InterpreterError as error:
    cause = error.__cause__
    # Another rank may have been first.
    assert isinstance(cause, (symm.DeadlockError, symm.RankFailedError)), error
    if isinstance(cause, symm.DeadlockError):
        print(f"rank {me} found it\n{cause}")
        assert (cause.file, cause.line) == (__file__, number)
        assert str(cause).count("\n  rank ") == ranks, cause
    assert time.monotonic() - start < 30
    raise
