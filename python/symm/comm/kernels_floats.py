"""Sums of floats that show by themselves that they have come: all 16 bytes of a line are data.

Each word of 4 bytes shows that it has come by a bit that is not set: a NaN of nothing but ones counts as another NaN.
Lines have two buffers, used in turn by the calls. A call clears what it has received. Who has what a peer sent in call
e knows that its call e - 1 has ended, and with it that the lines of that call are clear, which call e + 1 writes.
"""

import triton
import triton.language as tl

from ._deadline import watched
from .kernels_packets import PACKET_BUFFERS, load_words, store_sum
from .kernels_parts import INTERPRETED, rank_of


@triton.jit
def as_received(words):
    """Words of floats as peers receive them: 4 bytes with all bits set lose the highest one."""
    REST: tl.constexpr = 0x7FFFFFFF7FFFFFFF
    others = words ^ -1
    return words & (((others & REST) + REST) | others | REST)


@triton.jit(do_not_specialize=["count", "in_apart", "out_apart", "me", "rank_here", "root"])
def send_floats(
    table, members, flags, steps, lines, inp, out,
    count: tl.int64, in_apart: tl.int64, out_apart: tl.int64, me: tl.int32, rank_here: tl.int32, root: tl.int32,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, LINES: tl.constexpr, BLOCK: tl.constexpr, SHAPE: tl.constexpr,
    PARTED: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, WHOLE: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """A sum of messages of at most `BLOCK` words a program, with the arguments of `send_packets`."""
    ctx = watched(table, members, rank_here, WATCH)
    TYPE: tl.constexpr = inp.dtype.element_ty
    EACH: tl.constexpr = 64 // TYPE.primitive_bitwidth
    pid = tl.program_id(0)
    step = tl.load(steps + pid) + 1
    first = pid * BLOCK
    mask = first + tl.arange(0, BLOCK) < (count + EACH - 1) // EACH
    # A line has two words.
    APART: tl.constexpr = PROGRAMS * LINES * 2
    lines += step % PACKET_BUFFERS * (WORLD * APART) + pid * (LINES * 2)
    own = load_words(inp + me * in_apart, first, count, WHOLE, BLOCK)
    for i in tl.static_range(1, WORLD):
        to = (me + i) % WORLD
        words = load_words(inp + to * in_apart, first, count, WHOLE, BLOCK) if PARTED else own
        ctx.put_floats(lines + me * APART, words, rank_of(members, to, SUBSET), mask, TYPE)
    own = as_received(own)
    everyone = ()
    for source in tl.static_range(WORLD):
        if WORLD == 2 and not INTERPRETED:
            # The order of two does not matter: a GPU's sums of NaNs and its extrema of zeros are the same.
            theirs = own
            if source == 1:
                theirs = ctx.wait_floats(lines + (1 - me) * APART, BLOCK, TYPE, mask, words=True)
        else:
            theirs = ctx.wait_floats(lines + source * APART, BLOCK, TYPE, mask & (source != me), words=True)
            theirs = tl.where(source == me, own, theirs)
        everyone = everyone + (theirs,)
    store_sum(everyone, out, count, WORLD, BLOCK, OP, ACC, WHOLE)
    for i in tl.static_range(1, WORLD):
        ctx.clear_floats(lines + (me + i) % WORLD * APART, BLOCK, TYPE, mask, words=True)
    # Every thread has read the step.
    tl.debug_barrier()
    tl.store(steps + pid, step)
