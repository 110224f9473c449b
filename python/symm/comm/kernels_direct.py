"""Large messages between tensors on the heap, without slots.

The first step tells every rank where the others' tensors lie, and that they may be read and written. Where all of them
are on the heap, data go from tensor to tensor, and one more step ends the call. Where one of them is not, all go
through slots.
"""

import triton
import triton.language as tl

from ._deadline import gave_up, watched
from .kernels_exchange import exchange_rounds
from .kernels_parts import BUFFERS, FLAG_WORDS, await_all, combine, narrowed, rank_of, slot_of, tell_all
from .kernels_two_shot import two_shot_rounds

# Where a tensor that is not on the heap lies, in bytes from my slots.
NOT_ON_HEAP = tl.constexpr(-(1 << 62))


@triton.jit
def announce(
    ctx, members, flags, step, places, inp_at, out_at, me,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT_WORDS: tl.constexpr, SUBSET: tl.constexpr, WATCH: tl.constexpr,
):  # fmt: skip
    """A step that tells where my tensors lie; returns where the announcements are, and the least of their words."""
    mine = slot_of(places, step, me, WORLD, PROGRAMS, SLOT_WORDS)
    for i in tl.static_range(1, WORLD):
        to = rank_of(members, (me + i) % WORLD, SUBSET)
        ctx.store(mine, inp_at, to)
        ctx.store(mine + 1, out_at, to)
    tell_all(ctx, members, flags, step + 1, me, WORLD, SUBSET)
    await_all(ctx, flags, step + 1, me, WORLD)
    told = slot_of(places, step, 0, WORLD, PROGRAMS, SLOT_WORDS)
    least = tl.minimum(inp_at, out_at)
    for i in tl.static_range(1, WORLD):
        theirs = told + (me + i) % WORLD * (PROGRAMS * SLOT_WORDS)
        least = tl.minimum(least, tl.minimum(tl.load(theirs), tl.load(theirs + 1)))
    if WATCH:
        least = tl.where(gave_up(members), NOT_ON_HEAP, least)
    return told, least


@triton.jit
def placed(told, rank, which: tl.constexpr, own, me, APART: tl.constexpr, ITEM: tl.constexpr, VECTOR: tl.constexpr):
    """Where a rank's tensor lies, in elements from its slots."""
    at = tl.load(told + rank * APART + which) // ITEM
    at = tl.where(rank == me, own // ITEM, at)
    return tl.multiple_of(at, VECTOR)


@triton.jit
def sum_from(
    ctx, members, slots, told, inp_at, offset, mask, me,
    WORLD: tl.constexpr, APART: tl.constexpr, ITEM: tl.constexpr, VECTOR: tl.constexpr, OP: tl.constexpr,
    ACC: tl.constexpr, SUBSET: tl.constexpr,
):  # fmt: skip
    """Sums a piece of all ranks' tensors, in the order of the ranks."""
    for source in tl.static_range(WORLD):
        here = slots + placed(told, source, 0, inp_at, me, APART, ITEM, VECTOR) + offset
        value = ctx.load(here, rank_of(members, source, SUBSET), mask).to(ACC)
        if source == 0:
            total = value
        else:
            total = combine(total, value, OP)
    if OP == "avg":
        total = total / WORLD
    return narrowed(total, slots.dtype.element_ty)


@triton.jit
def store_to_all(
    ctx, members, slots, told, out_at, offset, value, mask, me,
    WORLD: tl.constexpr, APART: tl.constexpr, ITEM: tl.constexpr, VECTOR: tl.constexpr, SUBSET: tl.constexpr,
):  # fmt: skip
    for i in tl.static_range(WORLD):
        to = (me + i) % WORLD
        there = slots + placed(told, to, 1, out_at, me, APART, ITEM, VECTOR) + offset
        ctx.store(there, value, rank_of(members, to, SUBSET), mask)


@triton.jit(do_not_specialize=["count", "shard", "me", "rank_here", "inp_at", "out_at"])
def direct_all_reduce(
    table, members, flags, steps, slots, places, inp, out,
    count: tl.int64, shard: tl.int64, me: tl.int32, rank_here: tl.int32, inp_at: tl.int64, out_at: tl.int64,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, ITEM: tl.constexpr,
    OP: tl.constexpr, ACC: tl.constexpr, VECTOR: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """All-reduce in shards: each rank loads its shard of all tensors, and stores the sum to all."""
    ctx = watched(table, members, rank_here, WATCH)
    APART: tl.constexpr = PROGRAMS * SLOT * ITEM // 8
    FULL: tl.constexpr = 16 // ITEM
    pid, programs = tl.program_id(0), tl.num_programs(0)
    shard = tl.multiple_of(shard, VECTOR)
    mine = flags + pid * WORLD * FLAG_WORDS
    step = tl.load(steps + pid)
    told, least = announce(ctx, members, mine, step, places, inp_at, out_at, me, WORLD, PROGRAMS, SLOT * ITEM // 8,
                           SUBSET, WATCH)  # fmt: skip
    if least > NOT_ON_HEAP:
        at = tl.arange(0, BLOCK)
        limit = tl.minimum(shard, count - me * shard)
        for piece in range(pid, (limit + BLOCK - 1) // BLOCK, programs):
            first = piece * BLOCK
            offset = me * shard + first + at
            if first + BLOCK <= limit:
                total = sum_from(ctx, members, slots, told, inp_at, offset, None, me, WORLD, APART, ITEM, FULL, OP, ACC,
                                 SUBSET)  # fmt: skip
                store_to_all(ctx, members, slots, told, out_at, offset, total, None, me, WORLD, APART, ITEM, FULL,
                             SUBSET)  # fmt: skip
            else:
                rest = at < limit - first
                total = sum_from(ctx, members, slots, told, inp_at, offset, rest, me, WORLD, APART, ITEM, FULL, OP, ACC,
                                 SUBSET)  # fmt: skip
                store_to_all(ctx, members, slots, told, out_at, offset, total, rest, me, WORLD, APART, ITEM, FULL,
                             SUBSET)  # fmt: skip
        tell_all(ctx, members, mine, step + 2, me, WORLD, SUBSET)
        await_all(ctx, mine, step + 2, me, WORLD)
        tl.store(steps + pid, step + 2)
    else:
        tl.store(steps + pid, step + 1)
        tl.debug_barrier()
        two_shot_rounds(ctx, members, flags, steps, slots, inp, out, count, shard, me,
                        WORLD, PROGRAMS, SLOT, BLOCK, 1, OP, ACC, SUBSET)  # fmt: skip


@triton.jit
def move_piece(
    ctx, members, slots, told, inp_at, out_at, inp, out, first, in_apart, out_apart, mask, me, root,
    WORLD: tl.constexpr, APART: tl.constexpr, ITEM: tl.constexpr, FULL: tl.constexpr, VECTOR: tl.constexpr,
    BLOCK: tl.constexpr, SHAPE: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, SUBSET: tl.constexpr,
):  # fmt: skip
    """Stores a piece where each peer wants it, or sums what they have for me."""
    at = first + tl.arange(0, BLOCK)
    if OP != "":
        total = sum_from(ctx, members, slots, told, inp_at, me * in_apart + at, mask, me, WORLD, APART, ITEM, FULL, OP,
                         ACC, SUBSET)  # fmt: skip
        tl.store(out + at, total, mask)
    else:
        sends = True if SHAPE == "all" else me == root
        if sends:
            for i in tl.static_range(WORLD):
                to = (me + i) % WORLD
                value = tl.load(inp + to * in_apart + at, mask)
                there = slots + placed(told, to, 1, out_at, me, APART, ITEM, FULL) + me * out_apart + at
                ctx.store(there, value, rank_of(members, to, SUBSET), mask)


@triton.jit(do_not_specialize=["count", "in_apart", "out_apart", "me", "rank_here", "inp_at", "out_at", "root"])
def direct_exchange(
    table, members, flags, steps, slots, places, inp, out,
    count: tl.int64, in_apart: tl.int64, out_apart: tl.int64, me: tl.int32, rank_here: tl.int32,
    inp_at: tl.int64, out_at: tl.int64, root: tl.int32,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, ITEM: tl.constexpr,
    SHAPE: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr, VECTOR: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """`exchange` from tensor to tensor. Sums read the peers' tensors; all else writes to them."""
    ctx = watched(table, members, rank_here, WATCH)
    APART: tl.constexpr = PROGRAMS * SLOT * ITEM // 8
    FULL: tl.constexpr = 16 // ITEM
    # The lane of what goes through slots after all.
    LANE: tl.constexpr = 0 if SHAPE == "all" else 2
    pid, programs = tl.program_id(0), tl.num_programs(0)
    in_apart, out_apart = tl.multiple_of(in_apart, VECTOR), tl.multiple_of(out_apart, VECTOR)
    mine = flags + pid * WORLD * FLAG_WORDS
    step = tl.load(steps + pid)
    told, least = announce(ctx, members, mine, step, places, inp_at, out_at, me, WORLD, PROGRAMS, SLOT * ITEM // 8,
                           SUBSET, WATCH)  # fmt: skip
    if least > NOT_ON_HEAP:
        for piece in range(pid, (count + BLOCK - 1) // BLOCK, programs):
            first = piece * BLOCK
            if first + BLOCK <= count:
                move_piece(ctx, members, slots, told, inp_at, out_at, inp, out, first, in_apart, out_apart, None, me,
                           root, WORLD, APART, ITEM, FULL, VECTOR, BLOCK, SHAPE, OP, ACC, SUBSET)  # fmt: skip
            else:
                rest = tl.arange(0, BLOCK) < count - first
                move_piece(ctx, members, slots, told, inp_at, out_at, inp, out, first, in_apart, out_apart, rest, me,
                           root, WORLD, APART, ITEM, FULL, VECTOR, BLOCK, SHAPE, OP, ACC, SUBSET)  # fmt: skip
        tell_all(ctx, members, mine, step + 2, me, WORLD, SUBSET)
        await_all(ctx, mine, step + 2, me, WORLD)
        tl.store(steps + pid, step + 2)
    else:
        tl.store(steps + pid, step + 1)
        tl.debug_barrier()
        exchange_rounds(
            ctx, members, flags + LANE * PROGRAMS * WORLD * FLAG_WORDS, steps + LANE * PROGRAMS,
            slots + LANE * BUFFERS * WORLD * PROGRAMS * SLOT, inp, out, count, in_apart, out_apart, me, root,
            WORLD, PROGRAMS, SLOT, BLOCK, 1, SHAPE, OP, ACC, SUBSET,
        )  # fmt: skip
