"""What the kernels of collectives are made of: signals between the programs of one number, slots, sums.

A kernel goes in *steps*. In a step a program writes to slots of its peers, signals all of them with the number of the
step, and waits for their signals; only programs of one number meet. Steps are counted in device memory, so that a
CUDA graph that is replayed goes on where the call before it has stopped. A slot has `BUFFERS` buffers, used in turn by
the steps. A program sends step s + 1 before it takes what came in step s: a peer that has sent step s - 2 has taken
what came in step s - 4, and its buffer is free. So no barrier trails a call.
"""

import triton
import triton.language as tl
from triton import knobs

from .._symm import TABLE_HEADER_WORDS

BUFFERS = tl.constexpr(4)
# From flag to flag, in words of 8 bytes: each has a cache line of its own.
FLAG_WORDS = tl.constexpr(16)

# The words of the context table before the heap bases.
TABLE_HEADER = tl.constexpr(TABLE_HEADER_WORDS)

INTERPRETED = tl.constexpr(knobs.runtime.interpret)


@triton.jit
def epoch_of(step):
    """The number of a step's packets: never 0, which lines have that were never written."""
    return ((step << 1) | 1).to(tl.int32)


@triton.jit
def rank_of(members, index, SUBSET: tl.constexpr):
    """The rank of the world that is a number in the communicator."""
    if SUBSET:
        return tl.load(members + index)
    else:
        return index


@triton.jit
def tell_all(ctx, members, flags, value, me, WORLD: tl.constexpr, SUBSET: tl.constexpr):
    """Signals the flag that I have at each peer."""
    if WORLD == 2:
        ctx.signal(flags + me * FLAG_WORDS, value, rank_of(members, 1 - me, SUBSET))
    else:
        ranks = ()
        for i in tl.static_range(1, WORLD):
            ranks = ranks + (rank_of(members, (me + i) % WORLD, SUBSET),)
        # One wait for what has been written, not one for each peer.
        ctx.fence("release")
        for i in tl.static_range(1, WORLD):
            ctx.signal(flags + me * FLAG_WORDS, value, ranks[i - 1], sem="relaxed")


@triton.jit
def await_all(ctx, flags, value, me, WORLD: tl.constexpr):
    """Waits until each peer has signalled a value, or a later one."""
    for i in tl.static_range(1, WORLD):
        ctx.wait(flags + (me + i) % WORLD * FLAG_WORDS, value)


@triton.jit
def slot_of(slots, step, source, WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr):
    """Where a source's data of a step lie, for this program."""
    return slots + ((step % BUFFERS * WORLD + source) * PROGRAMS + tl.program_id(0)) * SLOT


@triton.jit
def send(ctx, slot, value, rank, mask, FAR: tl.constexpr):
    """Puts a value in the slot that I have at a peer.

    Over a network it goes in one piece, from memory of the heap: my own slot for what I send, which nobody else uses.
    """
    if FAR:
        # What another thread sends from there has been sent, and what it sends next is there.
        tl.debug_barrier()
        tl.store(slot, value, mask)
        tl.debug_barrier()
        ctx.put(slot, slot, rank, mask)
    else:
        ctx.store(slot, value, rank, mask)


@triton.jit
def combine(a, b, OP: tl.constexpr):
    if OP == "min":
        return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "max":
        return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "prod":
        return a * b
    else:
        return a + b


@triton.jit
def summed(own, first, apart, mask, me, WORLD: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr):
    """My values and those of the peers, of which source s's lie at `first + s * apart`, in the order of the ranks."""
    if WORLD == 2:
        # The order of two does not matter.
        total = combine(own.to(ACC), tl.load(first + (1 - me) * apart, mask).to(ACC), OP)
    else:
        for source in tl.static_range(WORLD):
            from_slot = source != me
            if mask is not None:
                from_slot = mask & from_slot
            theirs = tl.load(first + source * apart, from_slot)
            value = tl.where(source == me, own, theirs).to(ACC)
            if source == 0:
                total = value
            else:
                total = combine(total, value, OP)
    if OP == "avg":
        total = total / WORLD
    return total


@triton.jit
def narrowed(value, TYPE: tl.constexpr):
    """A sum as the elements that it is stored in."""
    if INTERPRETED and (TYPE == tl.bfloat16 or TYPE == tl.float8e4nv or TYPE == tl.float8e5):
        # Triton's interpreter cuts bfloat16 off, and loses what rounding carries over in float8.
        BITS: tl.constexpr = 7 if TYPE == tl.bfloat16 else (3 if TYPE == tl.float8e4nv else 2)
        LEAST: tl.constexpr = 2.0 ** (-126 if TYPE == tl.bfloat16 else (-6 if TYPE == tl.float8e4nv else -14))
        SHIFT: tl.constexpr = 1.5 * 2.0 ** (23 - BITS) * LEAST
        # Infinities and NaNs stay what they are, and what is large is not scaled beyond the largest number.
        is_finite, is_large = tl.abs(value) < float("inf"), tl.abs(value) > 2.0**100
        number = tl.where(is_finite, tl.where(is_large, value * 2.0**-32, value), 0.0)
        scaled = number * (2.0 ** (23 - BITS) + 1.0)
        rounded = tl.where(tl.abs(number) < LEAST, (number + SHIFT) - SHIFT, scaled - (scaled - number))
        value = tl.where(is_finite, tl.where(is_large, rounded * 2.0**32, rounded), value)
    narrow = value.to(TYPE)
    if TYPE == tl.float8e4nv or TYPE == tl.float8e5:
        # Where a GPU takes the largest number for what is beyond, torch has infinity, and NaN in the type without one.
        # A tie with the first number that there is not goes to the even one.
        is_beyond = tl.abs(value) >= 61440.0 if TYPE == tl.float8e5 else tl.abs(value) > 464.0
        BEYOND: tl.constexpr = 0x7C if TYPE == tl.float8e5 else 0x7F
        bits = tl.where(is_beyond, tl.where(value < 0, 0x80 | BEYOND, BEYOND), narrow.to(tl.uint8, bitcast=True))
        narrow = bits.to(tl.uint8).to(TYPE, bitcast=True)
    return narrow
