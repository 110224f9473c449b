"""All-to-all of messages of different lengths, which only the device knows."""

import triton
import triton.language as tl

from ._deadline import gave_up, watched
from .kernels_parts import FLAG_WORDS, await_all, rank_of, send, slot_of, tell_all


@triton.jit
def copy_piece(ctx, source, target, first, rest, rank, BLOCK: tl.constexpr, FAR: tl.constexpr):
    """Stores elements `first` and on of what `rest` says to be there, on a rank."""
    at = tl.arange(0, BLOCK)
    if rest >= BLOCK:
        send(ctx, target + at, tl.load(source + first + at), rank, None, FAR)
    else:
        send(ctx, target + at, tl.load(source + first + at, at < rest), rank, at < rest, FAR)


@triton.jit
def take_one(source, target, first, rest, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if rest >= BLOCK:
        tl.store(target + first + at, tl.load(source + at))
    else:
        tl.store(target + first + at, tl.load(source + at, at < rest), at < rest)


@triton.jit(do_not_specialize=["row", "rows", "capacity", "me", "rank_here"])
def ragged(
    table, members, flags, steps, slots, places, inp, out, counts, out_counts,
    row: tl.int64, rows: tl.int64, capacity: tl.int64, me: tl.int32, rank_here: tl.int32,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, ITEM: tl.constexpr,
    VECTOR: tl.constexpr, SUBSET: tl.constexpr, WATCH: tl.constexpr = 0, FAR: tl.constexpr = 0,
):  # fmt: skip
    """Sends `counts[r]` rows of `row` elements to each rank r, and packs what comes in `out`, of `capacity` rows.

    The first step tells everyone how many rows come, and how many the longest message has.
    """
    ctx = watched(table, members, rank_here, WATCH)
    WORDS: tl.constexpr = SLOT * ITEM // 8
    pid, programs = tl.program_id(0), tl.num_programs(0)
    row = tl.multiple_of(row, VECTOR)
    flags += pid * WORLD * FLAG_WORDS
    step = tl.load(steps + pid)
    given, sent, begin, most = (), (), tl.full((), 0, tl.int64), tl.full((), 0, tl.int64)
    for rank in tl.static_range(WORLD):
        count = tl.maximum(tl.minimum(tl.load(counts + rank).to(tl.int64), rows - begin), 0)
        given, sent = given + (begin,), sent + (count,)
        begin += count
        most = tl.maximum(most, count)
    mine = slot_of(places, step, me, WORLD, PROGRAMS, WORDS)
    for rank in tl.static_range(WORLD):
        if rank != me:
            ctx.store(mine, sent[rank], rank_of(members, rank, SUBSET))
            ctx.store(mine + 1, most, rank_of(members, rank, SUBSET))
    tell_all(ctx, members, flags, step + 1, me, WORLD, SUBSET)
    await_all(ctx, flags, step + 1, me, WORLD)
    told = slot_of(places, step, 0, WORLD, PROGRAMS, WORDS)
    taken, came, begin = (), (), tl.full((), 0, tl.int64)
    if WATCH:
        lost = gave_up(members)
    for rank in tl.static_range(WORLD):
        count, longest = tl.load(told + rank * (PROGRAMS * WORDS)), tl.load(told + rank * (PROGRAMS * WORDS) + 1)
        if WATCH:
            count, longest = tl.where(lost, 0, count), tl.where(lost, 0, longest)
        count = tl.where(rank == me, sent[rank], count)
        most = tl.maximum(most, tl.where(rank == me, most, longest))
        if pid == 0:
            tl.store(out_counts + rank, count)
        # Nothing is written where there is no room.
        count = tl.maximum(tl.minimum(count, capacity - begin), 0)
        taken, came = taken + (begin,), came + (count,)
        begin += count
    rounds = ((most * row + BLOCK - 1) // BLOCK + programs - 1) // programs
    for i in range(rounds + 1):
        first = (i * programs + pid) * BLOCK
        if i < rounds:
            slot = slot_of(slots, step + 1 + i, me, WORLD, PROGRAMS, SLOT)
            for rank in tl.static_range(WORLD):
                if rank != me:
                    copy_piece(ctx, inp + given[rank] * row, slot, first, sent[rank] * row - first,
                               rank_of(members, rank, SUBSET), BLOCK, FAR)  # fmt: skip
            tell_all(ctx, members, flags, step + i + 2, me, WORLD, SUBSET)
        if i > 0:
            await_all(ctx, flags, step + i + 1, me, WORLD)
            first = ((i - 1) * programs + pid) * BLOCK
            for rank in tl.static_range(WORLD):
                there, rest = out + taken[rank] * row, came[rank] * row - first
                if rank == me:
                    take_one(inp + given[rank] * row + first, there, first, rest, BLOCK)
                else:
                    slot = slot_of(slots, step + i, rank, WORLD, PROGRAMS, SLOT)
                    take_one(slot, there, first, rest, BLOCK)
    tl.store(steps + pid, step + 1 + rounds)
