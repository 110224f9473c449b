"""Kernels that the host launches for itself: flags in the order of a stream, and the barrier of a team."""

import contextlib

import triton
import triton.language as tl
from triton.runtime.errors import InterpreterError

# `triton` installs the compiler of the ops.
from . import _host_call
from . import triton as st
from ._memory import Memory, torch
from ._streams import on
from .errors import SymmError


@triton.jit
def team_barrier(team, words):
    """`words`: how often this rank has been here, then a flag of each rank."""
    ctx = st.DeviceContext(team)
    epoch = tl.atomic_add(words, 1) + 1
    ctx.signal_all(words + 1 + ctx.rank(), epoch)
    for rank in range(ctx.num_ranks()):
        ctx.wait(words + 1 + rank, epoch)


@triton.jit
def _is_in(low, high, rank):
    """Whether a rank's bit is set in a group: 64 ranks in each word."""
    return (tl.where(rank < 64, low, high).to(tl.int64) >> (rank % 64)) & 1 == 1


@triton.jit(do_not_specialize=["low", "high"])
def group_barrier(world, words, low, high):
    """`words`: of each rank, how often it has met this one in a group; then how often this one has met each.

    Two ranks meet in all groups that both are in, in the same order, so that no group has flags of its own.
    """
    ctx = st.DeviceContext(world)
    mine = words + ctx.num_ranks()
    for rank in range(ctx.num_ranks()):
        if _is_in(low, high, rank):
            ctx.signal(words + ctx.rank(), tl.atomic_add(mine + rank, 1) + 1, rank)
    for rank in range(ctx.num_ranks()):
        if _is_in(low, high, rank):
            ctx.wait(words + rank, tl.load(mine + rank))


@triton.jit(do_not_specialize=["value", "rank"])
def stream_signal(world, flag, value, rank, OP: tl.constexpr):
    st.signal(world, flag, value.to(flag.dtype.element_ty), rank, op=OP)


@triton.jit(do_not_specialize=["value"])
def stream_wait(world, flag, value, COMPARE: tl.constexpr):
    st.wait(world, flag, value.to(flag.dtype.element_ty), compare=COMPARE)


@triton.jit(do_not_specialize=["rank"])
def far_copy(world, src, dst, size, rank, PUT: tl.constexpr, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, size, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK).to(tl.int64)
        if PUT:
            st.put(world, src + at, dst + at, rank, mask=at < size)
        else:
            st.get(world, src + at, dst + at, rank, mask=at < size)


@triton.jit(do_not_specialize=["rank", "count"])
def far_words(world, src, dst, count, rank, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(dst + at, st.load(world, src + at, rank, mask=at < count, other=0), mask=at < count)


def words_of(world, words, rank):
    """What a rank has in the place of words on the heap, int64, as a list; the rank may be far.

    They come by loads, for which no memory here has to be known to the engine.
    """
    if rank == world.get_rank():
        return words.tolist()
    if world.is_near(rank):
        return world.as_remote(words, rank).tolist()
    count = words.numel()
    found = torch().zeros(count, dtype=torch().int64, device=world.device)
    launch("World.check", far_words, None, world, words, found, count, rank, triton.next_power_of_2(count))
    return found.tolist()


def set_word(world, words, index, value, rank):
    """Sets one of them on a rank, which may be far."""
    if world.is_near(rank):
        world.as_remote(words, rank)[index] = value
    else:
        launch("World.check", stream_signal, None, world, words[index : index + 1], value, rank, "set")


def copy_far(world, src, dst, rank, is_put, stream):
    """Copies bytes to or from a far rank, in the order of a stream."""
    block, size = 16384, src.numel()
    with launching(f"{type(world).__name__}.{'put' if is_put else 'get'}", stream):
        grid = (min(16, -(-size // block)),)
        far_copy[grid](world, src, dst, size, rank, is_put, block, num_warps=8)


@contextlib.contextmanager
def launching(call, stream):
    """Around launches in the order of a stream, torch's current one without it."""
    with on(stream), called(call):
        yield


@contextlib.contextmanager
def called(call):
    """Around launches for a call of this name. Interpreted kernels are no concern of the caller's: what they raise is
    an error of its call.
    """
    try:
        with _host_call.made(call):
            yield
    except InterpreterError as error:
        if isinstance(error.__cause__, SymmError):
            raise error.__cause__ from None
        raise


def launch(call, kernel, stream, *arguments):
    """Launches a kernel of one program, in the order of a stream, for a call of this name."""
    with launching(call, stream):
        kernel[(1,)](*arguments, num_warps=1)


def meet_group(call, world, words, ranks):
    """Lets torch's current stream wait for those of some ranks of a World, mine among them."""
    bits = sum(1 << rank for rank in ranks)
    low, high = ((bits >> shift & (1 << 64) - 1) for shift in (0, 64))
    launch(call, group_barrier, None, world, words, *(word - (word >> 63 << 64) for word in (low, high)))


def meet(call, team, address, stream):
    """Lets a stream wait for those of the team's other ranks, by words at an address of its heap."""
    count = team.get_num_ranks() + 1
    words = Memory(address, 8 * count, team._rank.hold()).tensor(team.device, torch().int64, (count,))
    launch(call, team_barrier, stream, team, words)
