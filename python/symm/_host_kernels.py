"""Kernels that the host launches for itself: flags in the order of a stream, and the barrier of a team."""

import triton
import triton.language as tl

# `triton` installs the compiler of the ops.
from . import triton as st
from ._memory import Memory, torch
from ._streams import on


@triton.jit
def team_barrier(team, words):
    """`words`: how often this rank has been here, then a flag of each rank."""
    ctx = st.DeviceContext(team)
    epoch = tl.atomic_add(words, 1) + 1
    ctx.signal_all(words + 1 + ctx.rank(), epoch)
    for rank in range(ctx.num_ranks()):
        ctx.wait(words + 1 + rank, epoch)


@triton.jit(do_not_specialize=["value", "rank"])
def stream_signal(world, flag, value, rank, OP: tl.constexpr):
    st.signal(world, flag, value.to(flag.dtype.element_ty), rank, op=OP)


@triton.jit(do_not_specialize=["value"])
def stream_wait(world, flag, value, COMPARE: tl.constexpr):
    st.wait(world, flag, value.to(flag.dtype.element_ty), compare=COMPARE)


def launch(kernel, stream, *arguments):
    """Launches a kernel of one program, in the order of a stream: torch's current one without it."""
    with on(stream):
        kernel[(1,)](*arguments, num_warps=1)


def meet(team, address, stream):
    """Lets a stream wait for those of the team's other ranks, by words at an address of its heap."""
    count = team.get_num_ranks() + 1
    words = Memory(address, 8 * count, team.rank.hold()).tensor(team.device, torch().int64, (count,))
    launch(team_barrier, stream, team, words)
