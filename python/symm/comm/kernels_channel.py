"""The kernels of `send`, `recv`, `sendrecv` and `all_to_all`: messages through rings, and small ones as packets.

Where a kernel sends and receives, its programs do both in turn in the interpreter, which runs one after the other; on a
GPU those with even numbers send and those with odd ones receive.
"""

import triton
import triton.language as tl

from ._deadline import watched_by
from .hooks import Ctx, Message, is_full, produced, unmasked
from .kernels_parts import INTERPRETED, epoch_of
from .kernels_ring import (
    CURSOR_KINDS,
    FETCHED,
    FLAG_KINDS,
    FLAG_WORDS,
    LINE,
    MAIL,
    MAILED,
    MEETINGS,
    MET,
    PUSHED,
    STAGED,
    TAKEN,
    Lane,
    chunks_of,
    exchange_tiles,
    place_of,
    pull,
    push,
    recv,
    send,
    size_of,
    tiles_in,
)
from .seam import node_wait_packet

# Packets of a program have this many buffers, used in turn; a receiver says after every half of them that it has them.
MAIL_BUFFERS = tl.constexpr(8)
HALF = tl.constexpr(4)
FLAGS_OF_A_BLOCK, CURSORS_OF_A_BLOCK = tl.constexpr(FLAG_KINDS * FLAG_WORDS), tl.constexpr(CURSOR_KINDS)

# Strides are specialised: Triton has to know that they are 1 or divide by 16.
SHAPES = ["count", "rows", "cols", "out_count", "out_rows", "out_cols"]


@triton.jit
def roles(SENDS: tl.constexpr, RECEIVES: tl.constexpr):
    """A program's number among those that do the same, and whether it sends and receives."""
    pid = tl.program_id(0)
    if SENDS and RECEIVES and not INTERPRETED:
        return pid // 2, pid % 2 == 0, pid % 2 == 1
    else:
        return pid, pid >= 0, pid >= 0


@triton.jit(do_not_specialize=[*SHAPES, "to", "source", "rank_here"])
def transfer(
    table, record, send_dst, recv_src, to_signals, from_signals, to_flags, from_flags, to_cursors, from_cursors,
    staging, inp, out,
    count: tl.int64, rows: tl.int64, cols: tl.int64, row_stride, col_stride,
    out_count: tl.int64, out_rows: tl.int64, out_cols: tl.int64, out_row_stride, out_col_stride,
    to: tl.int32, source: tl.int32, rank_here: tl.int32, extra,
    SENDS: tl.constexpr, RECEIVES: tl.constexpr, BLOCKS: tl.constexpr, RING: tl.constexpr,
    SEND_BLOCKS: tl.constexpr, GROUP: tl.constexpr, TILE: tl.constexpr, TILE_ROWS: tl.constexpr,
    TILE_COLS: tl.constexpr, RECV_BLOCKS: tl.constexpr, OUT_GROUP: tl.constexpr, OUT_TILE: tl.constexpr,
    OUT_TILE_ROWS: tl.constexpr, OUT_TILE_COLS: tl.constexpr, LAYOUT: tl.constexpr, OUT_LAYOUT: tl.constexpr,
    SEND_OPS: tl.constexpr, RECV_OPS: tl.constexpr, PRODUCE: tl.constexpr, CONSUME: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """Sends a message to `to`, receives one from `source`, or both.

    The two may be reached through different transports: each direction has the signals of its own. `staging` is of the
    lane to `to`.
    """
    block, sends, receives = roles(SENDS, RECEIVES)
    sent = Message(inp, count, TILE, LAYOUT, rows, cols, row_stride, col_stride, TILE_ROWS, TILE_COLS, GROUP)
    got = Message(out, out_count, OUT_TILE, OUT_LAYOUT, out_rows, out_cols, out_row_stride, out_col_stride,
                  OUT_TILE_ROWS, OUT_TILE_COLS, OUT_GROUP)  # fmt: skip
    ctx = watched_by(table, record, rank_here, WATCH)
    there = Lane(ctx, send_dst, to_signals, to_flags, to_cursors, to, BLOCKS, RING, staging)
    here = Lane(ctx, recv_src, from_signals, from_flags, from_cursors, source, BLOCKS, RING)
    if SENDS and RECEIVES:
        puts = tl.where(sends, chunks_of(sent, block, SEND_BLOCKS), 0)
        takes = tl.where(receives, chunks_of(got, block, RECV_BLOCKS), 0)
        exchange_tiles(there, sent, here, got, block, SEND_BLOCKS, RECV_BLOCKS, puts, takes, SEND_OPS, RECV_OPS,
                       PRODUCE, CONSUME, extra)  # fmt: skip
    elif SENDS:
        send(there, sent, block, SEND_BLOCKS, SEND_OPS, PRODUCE, extra)
    else:
        recv(here, got, block, RECV_BLOCKS, RECV_OPS, CONSUME, extra)


@triton.jit
def mail_lines(lines, step, block, WORDS: tl.constexpr):
    """The lines of a step for a program, which has `WORDS` of 8 bytes at most in each buffer: two words a line."""
    return lines + (block * (MAIL_BUFFERS * 2 * WORDS) + (step & (MAIL_BUFFERS - 1)) * (2 * WORDS))


@triton.jit(do_not_specialize=["count", "out_count", "to", "source", "rank_here"])
def mail(
    table, record, send_dst, recv_src, to_signals, from_signals, to_flags, from_flags, to_cursors, from_cursors,
    inp, out,
    count: tl.int64, out_count: tl.int64, to: tl.int32, source: tl.int32, rank_here: tl.int32, extra,
    SENDS: tl.constexpr, RECEIVES: tl.constexpr, BLOCKS: tl.constexpr, WORDS: tl.constexpr,
    TILE: tl.constexpr, WIRE: tl.constexpr, OUT_TILE: tl.constexpr, OUT_WIRE: tl.constexpr,
    LAYOUT: tl.constexpr, OUT_LAYOUT: tl.constexpr,
    SEND_OPS: tl.constexpr, RECV_OPS: tl.constexpr, PRODUCE: tl.constexpr, CONSUME: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """`transfer` of a message of at most one tile a program, as packets.

    Lines are used again after the receiver has said that it has taken them, once for half of the buffers: program
    step s waits for step s - HALF, where s begins a half.
    """
    ctx = watched_by(table, record, rank_here, WATCH)
    block = tl.program_id(0)
    blocks = tl.num_programs(0)
    sent, got = Message(inp, count, TILE, LAYOUT), Message(out, out_count, OUT_TILE, OUT_LAYOUT)
    if SENDS:
        if block * TILE < count:
            step = tl.load(to_cursors + (MAILED * BLOCKS + block))
            c = Ctx(sent, sent, got, send_dst, 0, block, place_of(sent, block), step & (MAIL_BUFFERS - 1), 0, block,
                    blocks, to, source, 0, extra)  # fmt: skip
            value = produced(c, PRODUCE(c))
            if step % HALF == 0:
                SEND_OPS.wait(ctx, to_flags + (MAIL * BLOCKS + block) * LINE, step - HALF)
            ctx.put_packet(mail_lines(send_dst, step, block, WORDS), value.to(WIRE), epoch_of(step), to,
                           c.mask())  # fmt: skip
            tl.debug_barrier()
            tl.store(to_cursors + (MAILED * BLOCKS + block), step + 1)
    if RECEIVES:
        if block * OUT_TILE < out_count:
            step = tl.load(from_cursors + (FETCHED * BLOCKS + block))
            c = Ctx(got, sent, got, recv_src, 0, block, place_of(got, block), step & (MAIL_BUFFERS - 1), 0, block,
                    blocks, to, source, 0, extra)  # fmt: skip
            lines = mail_lines(recv_src, step, block, WORDS)
            value = node_wait_packet(ctx, lines, epoch_of(step), OUT_TILE, OUT_WIRE, c.mask(), OUT_LAYOUT)
            CONSUME(c, value)
            if (step + 1) % HALF == 0:
                RECV_OPS.signal(ctx, from_signals + (MAIL * BLOCKS + block) * LINE, step + 1, source)
            tl.debug_barrier()
            tl.store(from_cursors + (FETCHED * BLOCKS + block), step + 1)


@triton.jit
def keep_tile(c, PRODUCE: tl.constexpr, CONSUME: tl.constexpr):
    CONSUME(c, produced(c, PRODUCE(c)))


@triton.jit
def own_tile(inp, out, region, tile, step, block, blocks, me, extra, PRODUCE: tl.constexpr, CONSUME: tl.constexpr):
    """A tile that stays on this rank."""
    c = Ctx(inp, inp, out, region, 0, tile, place_of(inp, tile), 0, step, block, blocks, me, me, me, extra)
    if is_full(inp, tile):
        keep_tile(unmasked(c), PRODUCE, CONSUME)
    else:
        keep_tile(c, PRODUCE, CONSUME)


@triton.jit
def own_chunk(inp, out, region, chunk, step, block, blocks, me, extra, PRODUCE: tl.constexpr, CONSUME: tl.constexpr):
    """A chunk that stays on this rank."""
    for i in range(tiles_in(inp, chunk)):
        own_tile(inp, out, region, chunk * inp.GROUP + i, step * inp.GROUP + i, block, blocks, me, extra, PRODUCE,
                 CONSUME)  # fmt: skip


@triton.jit
def starts(
    cursors, far_cursors, block, ME: tl.constexpr, WORLD: tl.constexpr, BLOCKS: tl.constexpr, DOMAIN: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    """Where the first chunks of a call to all peers begin, and those from all."""
    sent, taken = (), ()
    for i in tl.static_range(1, WORLD):
        to, source = (ME + i) % WORLD, (ME + WORLD - i) % WORLD
        to_cursors = cursors if (ME + i) % WORLD // DOMAIN == ME // DOMAIN else far_cursors
        from_cursors = cursors if (ME + WORLD - i) % WORLD // DOMAIN == ME // DOMAIN else far_cursors
        sending = tl.load(to_cursors + ((to * CURSORS_OF_A_BLOCK + PUSHED) * BLOCKS + block))
        taking = tl.load(from_cursors + ((source * CURSORS_OF_A_BLOCK + TAKEN) * BLOCKS + block))
        sent, taken = sent + (sending + (CHUNK - 1) & -CHUNK,), taken + (taking + (CHUNK - 1) & -CHUNK,)
    return sent, taken


@triton.jit
def keep(
    cursors, far_cursors, sent, taken, puts, takes, block, ME: tl.constexpr, WORLD: tl.constexpr, BLOCKS: tl.constexpr,
    DOMAIN: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Keeps where the next call begins."""
    # Every thread has read them.
    tl.debug_barrier()
    for i in tl.static_range(1, WORLD):
        to, source = (ME + i) % WORLD, (ME + WORLD - i) % WORLD
        to_cursors = cursors if (ME + i) % WORLD // DOMAIN == ME // DOMAIN else far_cursors
        from_cursors = cursors if (ME + WORLD - i) % WORLD // DOMAIN == ME // DOMAIN else far_cursors
        if puts > 0:
            tl.store(to_cursors + ((to * CURSORS_OF_A_BLOCK + PUSHED) * BLOCKS + block), sent[i - 1] + puts * CHUNK)
        if takes > 0:
            at = (source * CURSORS_OF_A_BLOCK + TAKEN) * BLOCKS + block
            tl.store(from_cursors + at, taken[i - 1] + takes * CHUNK)


@triton.jit(do_not_specialize=[*SHAPES[:3], "in_apart", "out_apart", "rank_here"])
def swap(
    table, record, send_dst, rings, signals, flags, cursors, far_send_dst, far_rings, far_signals, far_flags,
    far_cursors, staging, inp, out,
    count: tl.int64, rows: tl.int64, cols: tl.int64, row_stride, col_stride,
    out_row_stride, out_col_stride, in_apart: tl.int64, out_apart: tl.int64, rank_here: tl.int32, extra,
    ME: tl.constexpr, WORLD: tl.constexpr, BLOCKS: tl.constexpr, RING: tl.constexpr, GROUP: tl.constexpr,
    TILE: tl.constexpr, TILE_ROWS: tl.constexpr, TILE_COLS: tl.constexpr, LAYOUT: tl.constexpr, VECTOR: tl.constexpr,
    DOMAIN: tl.constexpr, NEAR_OPS: tl.constexpr, FAR_OPS: tl.constexpr, PRODUCE: tl.constexpr, CONSUME: tl.constexpr,
    WATCH: tl.constexpr = 0,
):  # fmt: skip
    """All-to-all of parts of one shape: part r lies `r * in_apart` elements into `inp`, and goes to rank r.

    `rings`, `flags`, `cursors` and `staging` are those of rank 0 as a peer; the other peers' come after them. Peers in
    my domain of `DOMAIN` ranks are reached with `NEAR_OPS`, the others with `FAR_OPS` through memory of their own.
    """
    ctx = watched_by(table, record, rank_here, WATCH)
    block, sends, receives = roles(True, True)
    blocks = tl.num_programs(0) if INTERPRETED else tl.num_programs(0) // 2
    in_apart, out_apart = tl.multiple_of(in_apart, VECTOR), tl.multiple_of(out_apart, VECTOR)
    CHUNK: tl.constexpr = GROUP * TILE * size_of(rings)
    APART: tl.constexpr = BLOCKS * (RING // size_of(rings))
    STAGES_APART: tl.constexpr = BLOCKS * ((RING // STAGED + 8 * LINE) // size_of(rings))
    first = Message(inp, count, TILE, LAYOUT, rows, cols, row_stride, col_stride, TILE_ROWS, TILE_COLS, GROUP)
    steps = chunks_of(first, block, blocks)
    puts, takes = tl.where(sends, steps, 0), tl.where(receives, steps, 0)
    sent, taken = starts(cursors, far_cursors, block, ME, WORLD, BLOCKS, DOMAIN, CHUNK)
    for i in range(tl.maximum(puts, takes + 1)):
        if i < puts:
            for j in tl.static_range(WORLD):
                to = (ME + j) % WORLD
                part = Message(inp + to * in_apart, count, TILE, LAYOUT, rows, cols, row_stride, col_stride, TILE_ROWS,
                               TILE_COLS, GROUP)  # fmt: skip
                target = Message(out + to * out_apart, count, TILE, LAYOUT, rows, cols, out_row_stride, out_col_stride,
                                 TILE_ROWS, TILE_COLS, GROUP)  # fmt: skip
                if j == 0:
                    own_chunk(part, target, rings, block + i * blocks, i, block, blocks, ME, extra, PRODUCE, CONSUME)
                elif (ME + j) % WORLD // DOMAIN == ME // DOMAIN:
                    lane = Lane(ctx, send_dst, signals, flags + to * (BLOCKS * FLAGS_OF_A_BLOCK), cursors, to, BLOCKS,
                                RING, staging + to * STAGES_APART)  # fmt: skip
                    push(lane, part, target, block + i * blocks, i, sent[j - 1] + i * CHUNK, block, blocks, to, to,
                         extra, NEAR_OPS, PRODUCE, CHUNK)  # fmt: skip
                else:
                    lane = Lane(ctx, far_send_dst, far_signals, far_flags + to * (BLOCKS * FLAGS_OF_A_BLOCK),
                                far_cursors, to, BLOCKS, RING, staging + to * STAGES_APART)  # fmt: skip
                    push(lane, part, target, block + i * blocks, i, sent[j - 1] + i * CHUNK, block, blocks, to, to,
                         extra, FAR_OPS, PRODUCE, CHUNK)  # fmt: skip
        if (i > 0) & (i <= takes):
            for j in tl.static_range(1, WORLD):
                source = (ME + WORLD - j) % WORLD
                part = Message(inp + source * in_apart, count, TILE, LAYOUT, rows, cols, row_stride, col_stride,
                               TILE_ROWS, TILE_COLS, GROUP)  # fmt: skip
                target = Message(out + source * out_apart, count, TILE, LAYOUT, rows, cols, out_row_stride,
                                 out_col_stride, TILE_ROWS, TILE_COLS, GROUP)  # fmt: skip
                if (ME + WORLD - j) % WORLD // DOMAIN == ME // DOMAIN:
                    lane = Lane(ctx, rings + source * APART, signals, flags + source * (BLOCKS * FLAGS_OF_A_BLOCK),
                                cursors, source, BLOCKS, RING)  # fmt: skip
                    pull(lane, part, target, block + (i - 1) * blocks, i - 1, taken[j - 1] + (i - 1) * CHUNK, block,
                         blocks, source, source, extra, NEAR_OPS, CONSUME, CHUNK)  # fmt: skip
                else:
                    lane = Lane(ctx, far_rings + source * APART, far_signals,
                                far_flags + source * (BLOCKS * FLAGS_OF_A_BLOCK), far_cursors, source, BLOCKS,
                                RING)  # fmt: skip
                    pull(lane, part, target, block + (i - 1) * blocks, i - 1, taken[j - 1] + (i - 1) * CHUNK, block,
                         blocks, source, source, extra, FAR_OPS, CONSUME, CHUNK)  # fmt: skip
    keep(cursors, far_cursors, sent, taken, puts, takes, block, ME, WORLD, BLOCKS, DOMAIN, CHUNK)


@triton.jit
def meet_peers(
    ctx, signals, flags, value, block, ME: tl.constexpr, WORLD: tl.constexpr, BLOCKS: tl.constexpr,
    DOMAIN: tl.constexpr, NEAR_OPS: tl.constexpr, FAR_OPS: tl.constexpr,
):  # fmt: skip
    """The program of this number of every rank is here, and what they put before is seen."""
    for i in tl.static_range(1, WORLD):
        to = (ME + i) % WORLD
        flag = signals + (MET * BLOCKS + block) * LINE
        if (ME + i) % WORLD // DOMAIN == ME // DOMAIN:
            NEAR_OPS.signal(ctx, flag, value, to)
        else:
            FAR_OPS.signal(ctx, flag, value, to)
    for i in tl.static_range(1, WORLD):
        source = (ME + i) % WORLD
        flag = flags + source * (BLOCKS * FLAGS_OF_A_BLOCK) + (MET * BLOCKS + block) * LINE
        if (ME + i) % WORLD // DOMAIN == ME // DOMAIN:
            NEAR_OPS.wait(ctx, flag, value)
        else:
            FAR_OPS.wait(ctx, flag, value)


@triton.jit
def land(ctx, c, to, OPS: tl.constexpr, PRODUCE: tl.constexpr):
    OPS.put(ctx, c.outputs(), produced(c, PRODUCE(c)), to, c.mask())


@triton.jit
def land_tile(ctx, part, c, to, OPS: tl.constexpr, PRODUCE: tl.constexpr):
    if is_full(part, c.tile_idx):
        land(ctx, unmasked(c), to, OPS, PRODUCE)
    else:
        land(ctx, c, to, OPS, PRODUCE)


@triton.jit(do_not_specialize=[*SHAPES[:3], "in_apart", "landing_apart", "rank_here"])
def swap_in_place(
    table, record, signals, flags, cursors, inp, landing,
    count: tl.int64, rows: tl.int64, cols: tl.int64, row_stride, col_stride, in_apart: tl.int64,
    landing_apart: tl.int64, rank_here: tl.int32, extra,
    ME: tl.constexpr, WORLD: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, TILE_ROWS: tl.constexpr,
    TILE_COLS: tl.constexpr, LAYOUT: tl.constexpr, VECTOR: tl.constexpr, DOMAIN: tl.constexpr,
    NEAR_OPS: tl.constexpr, FAR_OPS: tl.constexpr, PRODUCE: tl.constexpr, WATCH: tl.constexpr = 0,
):  # fmt: skip
    """All-to-all into memory of the transport, `landing_apart` elements for each part: nothing is copied there.

    A rank that is here has no use any more for what came in the call before.
    """
    ctx = watched_by(table, record, rank_here, WATCH)
    block, blocks = tl.program_id(0), tl.num_programs(0)
    in_apart, landing_apart = tl.multiple_of(in_apart, VECTOR), tl.multiple_of(landing_apart, VECTOR)
    step = tl.load(cursors + (MEETINGS * BLOCKS + block))
    meet_peers(ctx, signals, flags, step + 1, block, ME, WORLD, BLOCKS, DOMAIN, NEAR_OPS, FAR_OPS)
    first = Message(inp, count, TILE, LAYOUT, rows, cols, row_stride, col_stride, TILE_ROWS, TILE_COLS)
    for i in range(chunks_of(first, block, blocks)):
        for j in tl.static_range(WORLD):
            to = (ME + j) % WORLD
            part = Message(inp + to * in_apart, count, TILE, LAYOUT, rows, cols, row_stride, col_stride, TILE_ROWS,
                           TILE_COLS)  # fmt: skip
            target = Message(landing + ME * landing_apart, count, TILE, LAYOUT, rows, cols, cols, 1, TILE_ROWS,
                             TILE_COLS)  # fmt: skip
            tile = block + i * blocks
            c = Ctx(part, part, target, landing, 0, tile, place_of(part, tile), 0, i, block, blocks, to, ME, to,
                    extra)  # fmt: skip
            if (ME + j) % WORLD // DOMAIN == ME // DOMAIN:
                land_tile(ctx, part, c, to, NEAR_OPS, PRODUCE)
            else:
                land_tile(ctx, part, c, to, FAR_OPS, PRODUCE)
    meet_peers(ctx, signals, flags, step + 2, block, ME, WORLD, BLOCKS, DOMAIN, NEAR_OPS, FAR_OPS)
    tl.store(cursors + (MEETINGS * BLOCKS + block), step + 2)
