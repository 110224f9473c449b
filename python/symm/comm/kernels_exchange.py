"""Data from rank to rank through slots: all but all-reduce in two steps.

Every program takes the pieces of its number, `BLOCK` elements each, of every message.
"""

import triton
import triton.language as tl

from ._deadline import watched, watched_by
from .kernels_parts import BUFFERS, FLAG_WORDS, await_all, narrowed, rank_of, send, slot_of, summed, tell_all


@triton.jit
def send_piece(
    ctx, members, slot, source, apart, mask, me, root,
    WORLD: tl.constexpr, SHAPE: tl.constexpr, SUBSET: tl.constexpr, FAR: tl.constexpr,
):  # fmt: skip
    """Stores a piece in the slots of the peers that get one: peer p's lies at `source + p * apart`."""
    for i in tl.static_range(1, WORLD):
        to = (me + i) % WORLD
        if SHAPE == "from root":
            sends = me == root
        elif SHAPE == "to root":
            sends = to == root
        else:
            sends = True
        if sends:
            send(ctx, slot, tl.load(source + to * apart, mask), rank_of(members, to, SUBSET), mask, FAR)


@triton.jit
def take_piece(
    first, source, apart, target, out_apart, mask, me, root,
    WORLD: tl.constexpr, SHAPE: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, SLOTS_APART: tl.constexpr,
):  # fmt: skip
    """Takes a piece from my slots: their sum, or each of them."""
    takes = me == root if SHAPE == "to root" else True
    if OP != "":
        if takes:
            own = tl.load(source + me * apart, mask)
            total = summed(own, first, SLOTS_APART, mask, me, WORLD, OP, ACC)
            tl.store(target, narrowed(total, target.dtype.element_ty), mask)
    else:
        for i in tl.static_range(WORLD):
            come_from = (me + i) % WORLD
            if SHAPE == "from root":
                wanted = come_from == root
            else:
                wanted = takes
            if wanted:
                if i == 0:
                    value = tl.load(source + me * apart, mask)
                else:
                    value = tl.load(first + come_from * SLOTS_APART, mask)
                tl.store(target + come_from * out_apart, value, mask)


@triton.jit
def await_senders(ctx, flags, value, me, root, WORLD: tl.constexpr, SHAPE: tl.constexpr):
    """Waits for those that send to me."""
    if SHAPE == "from root":
        if me != root:
            ctx.wait(flags + root * FLAG_WORDS, value)
    elif SHAPE == "to root":
        if me == root:
            await_all(ctx, flags, value, me, WORLD)
    else:
        await_all(ctx, flags, value, me, WORLD)


@triton.jit
def exchange_rounds(
    ctx, members, flags, steps, slots, inp, out, count, in_apart, out_apart, me, root,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, TILES: tl.constexpr,
    SHAPE: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, SUBSET: tl.constexpr, FAR: tl.constexpr = 0,
):  # fmt: skip
    """Rounds of one step each, of which two are under way at once; a program does `TILES` blocks in each."""
    pid, programs = tl.program_id(0), tl.num_programs(0)
    flags += pid * WORLD * FLAG_WORDS
    step = tl.load(steps + pid)
    CHUNK: tl.constexpr = BLOCK * TILES
    rounds = ((count + CHUNK - 1) // CHUNK + programs - 1) // programs
    at = tl.arange(0, BLOCK)
    for i in range(rounds + 1):
        if i < rounds:
            if SHAPE != "all":
                # Who sends need not have received anything: is there room?
                await_all(ctx, flags, step + i - 1, me, WORLD)
            slot = slot_of(slots, step + i, me, WORLD, PROGRAMS, SLOT) + at
            for tile in range(TILES):
                first = (i * programs + pid) * CHUNK + tile * BLOCK
                here = inp + first + at
                if first + BLOCK <= count:
                    send_piece(ctx, members, slot + tile * BLOCK, here, in_apart, None, me, root, WORLD, SHAPE, SUBSET,
                               FAR)  # fmt: skip
                elif first < count:
                    rest = at < count - first
                    send_piece(ctx, members, slot + tile * BLOCK, here, in_apart, rest, me, root, WORLD, SHAPE, SUBSET,
                               FAR)  # fmt: skip
            tell_all(ctx, members, flags, step + i + 1, me, WORLD, SUBSET)
        if i > 0:
            await_senders(ctx, flags, step + i, me, root, WORLD, SHAPE)
            slot = slot_of(slots, step + i - 1, 0, WORLD, PROGRAMS, SLOT) + at
            for tile in range(TILES):
                first = ((i - 1) * programs + pid) * CHUNK + tile * BLOCK
                here, there = inp + first + at, out + first + at
                if first + BLOCK <= count:
                    take_piece(slot + tile * BLOCK, here, in_apart, there, out_apart, None, me, root,
                               WORLD, SHAPE, OP, ACC, PROGRAMS * SLOT)  # fmt: skip
                elif first < count:
                    take_piece(slot + tile * BLOCK, here, in_apart, there, out_apart, at < count - first, me, root,
                               WORLD, SHAPE, OP, ACC, PROGRAMS * SLOT)  # fmt: skip
    tl.store(steps + pid, step + rounds)


@triton.jit(do_not_specialize=["count", "in_apart", "out_apart", "me", "rank_here", "root"])
def exchange(
    table, members, flags, steps, slots, inp, out,
    count: tl.int64, in_apart: tl.int64, out_apart: tl.int64, me: tl.int32, rank_here: tl.int32, root: tl.int32,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, TILES: tl.constexpr,
    SHAPE: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, VECTOR: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0, FAR: tl.constexpr = 0,
):  # fmt: skip
    """One collective: `count` elements from each rank to each, or from or to the root alone.

    What goes to rank r lies `r * in_apart` elements into `inp`; what came from r is written `r * out_apart` elements
    into `out`, or with an `OP` all of it is summed into the first `count` elements.
    """
    in_apart, out_apart = tl.multiple_of(in_apart, VECTOR), tl.multiple_of(out_apart, VECTOR)
    ctx = watched(table, members, rank_here, WATCH)
    exchange_rounds(ctx, members, flags, steps, slots, inp, out, count, in_apart, out_apart, me, root,
                    WORLD, PROGRAMS, SLOT, BLOCK, TILES, SHAPE, OP, ACC, SUBSET, FAR)  # fmt: skip


@triton.jit(do_not_specialize=["me", "rank_here"])
def meet(
    table, members, flags, steps, me: tl.int32, rank_here: tl.int32, WORLD: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """All ranks are here, and what they did before is seen."""
    ctx = watched(table, members, rank_here, WATCH)
    step = tl.load(steps)
    tell_all(ctx, members, flags, step + 1, me, WORLD, SUBSET)
    await_all(ctx, flags, step + 1, me, WORLD)
    tl.store(steps, step + 1)


@triton.jit(do_not_specialize=["value", "me", "rank_here"])
def assemble(
    table, record, members, flags, value: tl.int64, me: tl.int32, rank_here: tl.int32,
    WORLD: tl.constexpr, SUBSET: tl.constexpr, WATCH: tl.constexpr = 0,
):  # fmt: skip
    """All ranks have come as far as a number says."""
    ctx = watched_by(table, record, rank_here, WATCH)
    tell_all(ctx, members, flags, value, me, WORLD, SUBSET)
    await_all(ctx, flags, value, me, WORLD)
