"""Sums of floats that show by themselves that they have come: all 16 bytes of a line are data.

Each word of 4 bytes shows that it has come by a bit that is not set: a NaN of nothing but ones counts as another NaN.
Lines have two buffers or more, used in turn, and a call uses at most half of them. It clears what it has received. Who
has what a peer sent in call e knows that its call e - 1 has ended, and with it that the lines of that call are clear,
which call e + 1 may write.
"""

import triton
import triton.language as tl

from ._deadline import watched
from .kernels_packets import load_words, store_sum
from .kernels_parts import INTERPRETED, rank_of


@triton.jit
def as_received(words):
    """Words of floats as peers receive them: 4 bytes with all bits set lose the highest one."""
    REST: tl.constexpr = 0x7FFFFFFF7FFFFFFF
    others = words ^ -1
    return words & (((others & REST) + REST) | others | REST)


@triton.jit
def put_block(
    ctx, members, lines, inp, in_apart, first, count, me,
    WORLD: tl.constexpr, APART: tl.constexpr, BLOCK: tl.constexpr, PARTED: tl.constexpr, WHOLE: tl.constexpr,
    SUBSET: tl.constexpr, FULL: tl.constexpr = False,
):  # fmt: skip
    """Sends the words from `first` on to all peers, and returns those that this rank keeps; all are there if `FULL`."""
    TYPE: tl.constexpr = inp.dtype.element_ty
    mask = None if FULL else first + tl.arange(0, BLOCK) < words_of(inp, count)
    own = load_words(inp + me * in_apart if PARTED else inp, first, count, WHOLE, BLOCK, FULL)
    for i in tl.static_range(1, WORLD):
        to = (me + i) % WORLD
        words = load_words(inp + to * in_apart, first, count, WHOLE, BLOCK, FULL) if PARTED else own
        ctx.put_floats(lines + me * APART, words, rank_of(members, to, SUBSET), mask, TYPE)
    return own


@triton.jit
def take_block(
    ctx, lines, own, out, first, count, me,
    WORLD: tl.constexpr, APART: tl.constexpr, BLOCK: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr,
    WHOLE: tl.constexpr, FULL: tl.constexpr = False,
):  # fmt: skip
    """Sums this rank's words from `first` on and the peers', and clears their lines."""
    TYPE: tl.constexpr = out.dtype.element_ty
    mask = None if FULL else first + tl.arange(0, BLOCK) < words_of(out, count)
    own = as_received(own)
    everyone = ()
    for source in tl.static_range(WORLD):
        if WORLD == 2 and not INTERPRETED:
            # The order of two does not matter: a GPU's sums of NaNs and its extrema of zeros are the same.
            theirs = own
            if source == 1:
                theirs = ctx.wait_floats(lines + (1 - me) * APART, BLOCK, TYPE, mask, words=True)
        else:
            wanted = source != me if FULL else mask & (source != me)
            theirs = ctx.wait_floats(lines + source * APART, BLOCK, TYPE, wanted, words=True)
            theirs = tl.where(source == me, own, theirs)
        everyone = everyone + (theirs,)
    store_sum(everyone, out, first, count, WORLD, BLOCK, OP, ACC, WHOLE, FULL)
    for i in tl.static_range(1, WORLD):
        ctx.clear_floats(lines + (me + i) % WORLD * APART, BLOCK, TYPE, mask, words=True)


@triton.jit
def words_of(pointer, count):
    """How many words of 8 bytes `count` elements take."""
    EACH: tl.constexpr = 64 // pointer.dtype.element_ty.primitive_bitwidth
    return (count + EACH - 1) // EACH


@triton.jit(do_not_specialize=["count", "in_apart", "out_apart", "me", "rank_here", "root"])
def send_floats(
    table, members, flags, steps, lines, inp, out,
    count: tl.int64, in_apart: tl.int64, out_apart: tl.int64, me: tl.int32, rank_here: tl.int32, root: tl.int32,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, LINES: tl.constexpr, BLOCK: tl.constexpr, SHAPE: tl.constexpr,
    PARTED: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, WHOLE: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0, BUFFERS: tl.constexpr = 2, AHEAD: tl.constexpr = 0,
):  # fmt: skip
    """A sum of messages with the arguments of `send_packets`, and two more.

    A program has one block of `BLOCK` words if `AHEAD` is 0; else as many as it takes, half of `BUFFERS` at most, and
    sends `AHEAD` of them before it sums the first one.
    """
    ctx = watched(table, members, rank_here, WATCH)
    pid, programs = tl.program_id(0), tl.num_programs(0)
    step = tl.load(steps + pid) + 1
    # A line has two words.
    APART: tl.constexpr = PROGRAMS * LINES * 2
    lines += pid * (LINES * 2)
    if AHEAD == 0:
        first = pid * BLOCK
        lines += step % BUFFERS * (WORLD * APART)
        own = put_block(ctx, members, lines, inp, in_apart, first, count, me, WORLD, APART, BLOCK, PARTED, WHOLE,
                        SUBSET)  # fmt: skip
        take_block(ctx, lines, own, out, first, count, me, WORLD, APART, BLOCK, OP, ACC, WHOLE)
    else:
        whole, mine = words_of(inp, count), inp + me * in_apart if PARTED else inp
        turns = (whole + programs * BLOCK - 1) // (programs * BLOCK)
        for turn in range(turns + AHEAD):
            first = (turn * programs + pid) * BLOCK
            if turn < turns:
                there = lines + (step + turn) % BUFFERS * (WORLD * APART)
                if WHOLE and first + BLOCK <= whole:
                    put_block(ctx, members, there, inp, in_apart, first, count, me, WORLD, APART, BLOCK, PARTED, WHOLE,
                              SUBSET, True)  # fmt: skip
                else:
                    put_block(ctx, members, there, inp, in_apart, first, count, me, WORLD, APART, BLOCK, PARTED, WHOLE,
                              SUBSET)  # fmt: skip
            if turn >= AHEAD:
                first -= AHEAD * programs * BLOCK
                here = lines + (step + turn - AHEAD) % BUFFERS * (WORLD * APART)
                if WHOLE and first + BLOCK <= whole:
                    own = load_words(mine, first, count, WHOLE, BLOCK, True)
                    take_block(ctx, here, own, out, first, count, me, WORLD, APART, BLOCK, OP, ACC, WHOLE, True)
                else:
                    own = load_words(mine, first, count, WHOLE, BLOCK)
                    take_block(ctx, here, own, out, first, count, me, WORLD, APART, BLOCK, OP, ACC, WHOLE)
        step += turns - 1
    # Every thread has read the step.
    tl.debug_barrier()
    tl.store(steps + pid, step)
