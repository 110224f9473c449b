"""Small messages as packets: every word carries the number of its call, so that no signal and no barrier is needed.

A message is words of 8 bytes, each in a line of 16. Lines have two buffers, used in turn by the calls: who has what a
peer sent in call e - 1 knows that it has taken what came in call e - 2. Where a rank may send without receiving, every
rank tells the others in call e that it has taken what came, and call e + 1 ends when all have told so: the lines of
call e are free before call e + 2.
"""

import triton
import triton.language as tl

from ._deadline import watched
from .kernels_parts import FLAG_WORDS, INTERPRETED, combine, epoch_of, narrowed, rank_of

# Of the lines of a program.
PACKET_BUFFERS = tl.constexpr(2)


@triton.jit
def element_of(words, which: tl.constexpr, TYPE: tl.constexpr):
    """An element of each word."""
    BITS: tl.constexpr = TYPE.primitive_bitwidth
    if BITS == 64:
        return words.to(TYPE, bitcast=True)
    elif BITS == 32:
        return (words >> (32 * which)).to(tl.int32).to(TYPE, bitcast=True)
    elif BITS == 16:
        return (words >> (16 * which)).to(tl.int16).to(TYPE, bitcast=True)
    else:
        return (words >> (8 * which)).to(tl.int8).to(TYPE, bitcast=True)


@triton.jit
def word_of(element, which: tl.constexpr):
    """A word that is an element at its place, and zero elsewhere."""
    BITS: tl.constexpr = element.dtype.primitive_bitwidth
    if BITS == 64:
        return element.to(tl.int64, bitcast=True)
    elif BITS == 32:
        return (element.to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF) << (32 * which)
    elif BITS == 16:
        return (element.to(tl.int16, bitcast=True).to(tl.int64) & 0xFFFF) << (16 * which)
    else:
        return (element.to(tl.int8, bitcast=True).to(tl.int64) & 0xFF) << (8 * which)


@triton.jit
def load_words(source, first, count, WHOLE: tl.constexpr, BLOCK: tl.constexpr, FULL: tl.constexpr = False):
    """Words `first` and on of a message of `count` elements at `source`, which has them all if `FULL`."""
    TYPE: tl.constexpr = source.dtype.element_ty
    EACH: tl.constexpr = 64 // TYPE.primitive_bitwidth
    at = first + tl.arange(0, BLOCK)
    if FULL:
        return tl.load(source.to(tl.pointer_type(tl.int64), bitcast=True) + at)
    elif WHOLE:
        return tl.load(source.to(tl.pointer_type(tl.int64), bitcast=True) + at, at < count // EACH, other=0)
    else:
        words = tl.zeros((BLOCK,), tl.int64)
        for which in tl.static_range(EACH):
            elements = tl.load(source + at * EACH + which, at * EACH + which < count)
            words |= word_of(elements, which)
        return words


@triton.jit
def store_words(
    target, first, count, words, WHOLE: tl.constexpr, BLOCK: tl.constexpr, FULL: tl.constexpr = False
):  # fmt: skip
    TYPE: tl.constexpr = target.dtype.element_ty
    EACH: tl.constexpr = 64 // TYPE.primitive_bitwidth
    at = first + tl.arange(0, BLOCK)
    if FULL:
        tl.store(target.to(tl.pointer_type(tl.int64), bitcast=True) + at, words)
    elif WHOLE:
        tl.store(target.to(tl.pointer_type(tl.int64), bitcast=True) + at, words, at < count // EACH)
    else:
        for which in tl.static_range(EACH):
            tl.store(target + at * EACH + which, element_of(words, which, TYPE), at * EACH + which < count)


@triton.jit
def take_sum(
    ctx, lines, apart, epoch, own, out, first, count, mask, me,
    WORLD: tl.constexpr, BLOCK: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Sums my words and the peers', in the order of the ranks, element by element of a word."""
    everyone = ()
    for source in tl.static_range(WORLD):
        if WORLD == 2 and not INTERPRETED:
            # The order of two does not matter: a GPU's sums of NaNs and its extrema of zeros are the same.
            theirs = own if source == 0 else ctx.wait_packet(lines + (1 - me) * apart, epoch, mask=mask)
        else:
            theirs = ctx.wait_packet(lines + source * apart, epoch, mask=mask & (source != me))
            theirs = tl.where(source == me, own, theirs)
        everyone = everyone + (theirs,)
    store_sum(everyone, out, first, count, WORLD, BLOCK, OP, ACC, WHOLE)


@triton.jit
def store_sum(
    everyone, out, first, count, WORLD: tl.constexpr, BLOCK: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr,
    WHOLE: tl.constexpr, FULL: tl.constexpr = False,
):  # fmt: skip
    """Sums the words of all ranks from `first` on, in the order of the ranks, element by element."""
    TYPE: tl.constexpr = out.dtype.element_ty
    EACH: tl.constexpr = 64 // TYPE.primitive_bitwidth
    result = tl.zeros((BLOCK,), tl.int64)
    for which in tl.static_range(EACH):
        total = element_of(everyone[0], which, TYPE).to(ACC)
        for source in tl.static_range(1, WORLD):
            total = combine(total, element_of(everyone[source], which, TYPE).to(ACC), OP)
        if OP == "avg":
            total = total / WORLD
        result |= word_of(narrowed(total, TYPE), which)
    store_words(out, first, count, result, WHOLE, BLOCK, FULL)


@triton.jit
def taken_line(flags, step, rank):
    """Where a rank says that it has taken what came in a step: the 8 lines of its flag take turns."""
    return flags + rank * FLAG_WORDS + step % (FLAG_WORDS // 2) * 2


@triton.jit
def tell_taken(
    ctx, members, flags, step, at, me, WORLD: tl.constexpr, SUBSET: tl.constexpr
):  # fmt: skip
    """Tells the peers that I have what came in a step, with a packet of one thread to each."""
    for i in tl.static_range(1, WORLD):
        to = rank_of(members, (me + i) % WORLD, SUBSET)
        ctx.put_packet(taken_line(flags, step, me), at.to(tl.int64), step.to(tl.int32), to, at == 0)


@triton.jit
def await_taken(ctx, flags, step, me, WORLD: tl.constexpr):
    """Waits until the peers have what came in a step."""
    for i in tl.static_range(1, WORLD):
        ctx.wait_packet(taken_line(flags, step, (me + i) % WORLD), step.to(tl.int32))


@triton.jit(do_not_specialize=["count", "in_apart", "out_apart", "me", "rank_here", "root"])
def send_packets(
    table, members, flags, steps, lines, inp, out,
    count: tl.int64, in_apart: tl.int64, out_apart: tl.int64, me: tl.int32, rank_here: tl.int32, root: tl.int32,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, LINES: tl.constexpr, BLOCK: tl.constexpr, SHAPE: tl.constexpr,
    PARTED: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, WHOLE: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """`exchange` of messages of at most `BLOCK` words a program. `WHOLE` ones are words in memory, too.

    `rank_here` is this rank's number in the world, `me` that in the communicator.
    """
    ctx = watched(table, members, rank_here, WATCH)
    pid = tl.program_id(0)
    step = tl.load(steps + pid) + 1
    epoch = epoch_of(step)
    first, at = pid * BLOCK, tl.arange(0, BLOCK)
    EACH: tl.constexpr = 64 // inp.dtype.element_ty.primitive_bitwidth
    mask = first + at < (count + EACH - 1) // EACH
    # A line has two words.
    APART: tl.constexpr = PROGRAMS * LINES * 2
    lines += step % PACKET_BUFFERS * (WORLD * APART) + pid * (LINES * 2) + at * 2
    own = load_words(inp + me * in_apart, first, count, WHOLE, BLOCK)
    flags += pid * WORLD * FLAG_WORDS
    for i in tl.static_range(1, WORLD):
        to = (me + i) % WORLD
        sends = True
        if SHAPE == "from root":
            sends = me == root
        if SHAPE == "to root":
            sends = to == root
        if sends:
            words = load_words(inp + to * in_apart, first, count, WHOLE, BLOCK) if PARTED else own
            to = rank_of(members, to, SUBSET)
            ctx.put_packet(lines + me * APART, words, epoch, to, mask)
    if SHAPE != "all":
        # While the packets travel.
        await_taken(ctx, flags, step - 1, me, WORLD)
    takes = me == root if SHAPE == "to root" else True
    if OP != "":
        if takes:
            take_sum(ctx, lines, APART, epoch, own, out, first, count, mask, me, WORLD, BLOCK, OP, ACC, WHOLE)
    else:
        for i in tl.static_range(WORLD):
            source = (me + i) % WORLD
            wanted = source == root if SHAPE == "from root" else takes
            if wanted:
                words = own if i == 0 else ctx.wait_packet(lines + source * APART, epoch, mask=mask)
                store_words(out + source * out_apart, first, count, words, WHOLE, BLOCK)
    if SHAPE != "all":
        tell_taken(ctx, members, flags, step, at, me, WORLD, SUBSET)
    # Every thread has read the step.
    tl.debug_barrier()
    tl.store(steps + pid, step)
