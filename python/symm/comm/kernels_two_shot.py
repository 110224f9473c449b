"""All-reduce of more than fits into one exchange: every rank sums a shard, and sends it to all."""

import triton
import triton.language as tl

from ._deadline import watched
from .kernels_parts import BUFFERS, FLAG_WORDS, await_all, narrowed, rank_of, send, slot_of, summed, tell_all


@triton.jit
def send_shards(
    ctx, members, slot, source, first, count, shard, me,
    WORLD: tl.constexpr, BLOCK: tl.constexpr, SUBSET: tl.constexpr, FAR: tl.constexpr,
):  # fmt: skip
    """Stores a piece of each peer's shard in its slot."""
    at = tl.arange(0, BLOCK)
    for i in tl.static_range(1, WORLD):
        to = (me + i) % WORLD
        rest = tl.minimum(shard, count - to * shard) - first
        here = source + (to * shard + first) + at
        if rest >= BLOCK:
            send(ctx, slot + at, tl.load(here), rank_of(members, to, SUBSET), None, FAR)
        elif rest > 0:
            send(ctx, slot + at, tl.load(here, at < rest), rank_of(members, to, SUBSET), at < rest, FAR)


@triton.jit
def sum_and_send(
    ctx, members, arrived, slot, inp, out, mask, me,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, OP: tl.constexpr, ACC: tl.constexpr,
    SUBSET: tl.constexpr, FAR: tl.constexpr,
):  # fmt: skip
    """Sums a piece of my shard, and stores it in everyone's slot and my result."""
    total = summed(tl.load(inp, mask), arrived, PROGRAMS * SLOT, mask, me, WORLD, OP, ACC)
    total = narrowed(total, out.dtype.element_ty)
    for i in tl.static_range(1, WORLD):
        send(ctx, slot, total, rank_of(members, (me + i) % WORLD, SUBSET), mask, FAR)
    tl.store(out, total, mask)


@triton.jit
def take_shards(
    slot, out, first, count, shard, me,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copies what the peers have summed to my result."""
    at = tl.arange(0, BLOCK)
    for i in tl.static_range(1, WORLD):
        source = (me + i) % WORLD
        rest = tl.minimum(shard, count - source * shard) - first
        here, there = slot + source * (PROGRAMS * SLOT) + at, out + (source * shard + first) + at
        if rest >= BLOCK:
            tl.store(there, tl.load(here))
        elif rest > 0:
            tl.store(there, tl.load(here, at < rest), at < rest)


@triton.jit
def sum_tiles(
    ctx, members, arrived, slot, inp, out, first, count, shard, me,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, TILES: tl.constexpr,
    OP: tl.constexpr, ACC: tl.constexpr, SUBSET: tl.constexpr, FAR: tl.constexpr,
):  # fmt: skip
    """Sums the pieces of my shard that have arrived in a round, and sends the sums."""
    at = tl.arange(0, BLOCK)
    for tile in range(TILES):
        begin = first + tile * BLOCK
        rest = tl.minimum(shard, count - me * shard) - begin
        here = me * shard + begin + at
        if rest >= BLOCK:
            sum_and_send(ctx, members, arrived + tile * BLOCK + at, slot + tile * BLOCK + at, inp + here, out + here,
                         None, me, WORLD, PROGRAMS, SLOT, OP, ACC, SUBSET, FAR)  # fmt: skip
        elif rest > 0:
            sum_and_send(ctx, members, arrived + tile * BLOCK + at, slot + tile * BLOCK + at, inp + here, out + here,
                         at < rest, me, WORLD, PROGRAMS, SLOT, OP, ACC, SUBSET, FAR)  # fmt: skip


@triton.jit
def two_shot_rounds(
    ctx, members, flags, steps, slots, inp, out, count, shard, me,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, TILES: tl.constexpr,
    OP: tl.constexpr, ACC: tl.constexpr, SUBSET: tl.constexpr, FAR: tl.constexpr = 0,
):  # fmt: skip
    """Rounds of two steps, of which three are under way at once; sums travel in the second lane.

    A program does `TILES` blocks of each shard in a round.
    """
    pid, programs = tl.program_id(0), tl.num_programs(0)
    flags += pid * WORLD * FLAG_WORDS
    steps += pid
    back_flags, back_steps = flags + PROGRAMS * WORLD * FLAG_WORDS, steps + PROGRAMS
    back_slots = slots + BUFFERS * WORLD * PROGRAMS * SLOT
    step, back = tl.load(steps), tl.load(back_steps)
    CHUNK: tl.constexpr = BLOCK * TILES
    rounds = ((shard + CHUNK - 1) // CHUNK + programs - 1) // programs
    for i in range(rounds + 2):
        first = (i * programs + pid) * CHUNK
        if i < rounds:
            slot = slot_of(slots, step + i, me, WORLD, PROGRAMS, SLOT)
            for tile in range(TILES):
                send_shards(ctx, members, slot + tile * BLOCK, inp, first + tile * BLOCK, count, shard, me,
                            WORLD, BLOCK, SUBSET, FAR)  # fmt: skip
            tell_all(ctx, members, flags, step + i + 1, me, WORLD, SUBSET)
        if (i > 0) & (i <= rounds):
            await_all(ctx, flags, step + i, me, WORLD)
            arrived = slot_of(slots, step + i - 1, 0, WORLD, PROGRAMS, SLOT)
            slot = slot_of(back_slots, back + i - 1, me, WORLD, PROGRAMS, SLOT)
            sum_tiles(ctx, members, arrived, slot, inp, out, first - programs * CHUNK, count, shard, me,
                      WORLD, PROGRAMS, SLOT, BLOCK, TILES, OP, ACC, SUBSET, FAR)  # fmt: skip
            tell_all(ctx, members, back_flags, back + i, me, WORLD, SUBSET)
        if i > 1:
            await_all(ctx, back_flags, back + i - 1, me, WORLD)
            slot = slot_of(back_slots, back + i - 2, 0, WORLD, PROGRAMS, SLOT)
            for tile in range(TILES):
                take_shards(slot + tile * BLOCK, out, first - 2 * programs * CHUNK + tile * BLOCK, count, shard, me,
                            WORLD, PROGRAMS, SLOT, BLOCK)  # fmt: skip
    tl.store(steps, step + rounds)
    tl.store(back_steps, back + rounds)


@triton.jit(do_not_specialize=["count", "shard", "me", "rank_here"])
def two_shot(
    table, members, flags, steps, slots, inp, out,
    count: tl.int64, shard: tl.int64, me: tl.int32, rank_here: tl.int32,
    WORLD: tl.constexpr, PROGRAMS: tl.constexpr, SLOT: tl.constexpr, BLOCK: tl.constexpr, TILES: tl.constexpr,
    OP: tl.constexpr, ACC: tl.constexpr, VECTOR: tl.constexpr, SUBSET: tl.constexpr,
    WATCH: tl.constexpr = 0, FAR: tl.constexpr = 0,
):  # fmt: skip
    """All-reduce of `count` elements in shards of `shard` elements, a multiple of `VECTOR`; the last may be shorter."""
    shard = tl.multiple_of(shard, VECTOR)
    two_shot_rounds(watched(table, members, rank_here, WATCH), members, flags, steps, slots, inp, out, count, shard, me,
                    WORLD, PROGRAMS, SLOT, BLOCK, TILES, OP, ACC, SUBSET, FAR)  # fmt: skip
