"""Messages through a ring: the sender puts tiles into slots of its receiver, which says when they are free again.

A lane is one direction of a channel. Each of its programs has a ring of `RING` bytes at the receiver, a counter TAIL
there of the bytes that have been put, and a counter HEAD at the sender of the bytes that have been taken. Both count
bytes, never go back, and are kept in device memory from call to call. They advance by chunks, a number of tiles that
may be another one in every call; a chunk begins at a multiple of its size. A sender waits until HEAD says that what its
chunk overwrites has been taken. Of a negative number of bytes that is so from the start.

A link that sends from memory has staging at the sender, half as large as the ring, and a third counter: SENT, of the
bytes that have left it. It counts what TAIL counts, on this side: before a chunk is written to staging, the sender
waits until what it overwrites there has left.
"""

import triton
import triton.language as tl
from triton.runtime.interpreter import interpreter_semantic

from .hooks import (
    Ctx,
    aggregate,
    builtin,
    constant,
    is_full,
    number,
    origin_of,
    place_for,
    produced,
    tiles_of,
    unmasked,
)

# Flags of a peer, by kind: one line of 128 bytes for each program.
TAIL, HEAD, MAIL, MET = (tl.constexpr(kind) for kind in range(4))
FLAG_NAMES = ("TAIL", "HEAD", "MAIL", "MET")
FLAG_KINDS, FLAG_WORDS = 4, 16
LINE = tl.constexpr(FLAG_WORDS)
# Cursors of a peer, by kind: one word for each program.
PUSHED, TAKEN, MAILED, FETCHED, MEETINGS = (tl.constexpr(kind) for kind in range(5))
CURSOR_KINDS = 5
# Of a ring, the part that staging has.
STAGED = tl.constexpr(2)

LANE = {"ctx": tl.core.base_value, "region": tl.tensor, "signals": tl.tensor, "flags": tl.tensor, "cursors": tl.tensor,
        "peer": tl.tensor, "staging": tl.tensor, "BLOCKS": tl.constexpr, "RING": tl.constexpr,
        "STAGE": tl.constexpr}  # fmt: skip


@aggregate(LANE)
class Lane:
    """One direction of a channel: what a PeerEndpoint says, and the channel's geometry.

    `ctx` is what the ops take: the pointer to the context table, or a context.
    `region` is the endpoint's `send_dst` for a sender and its `recv_src` for a receiver, with the elements that travel.
    `BLOCKS` is the number of programs that the channel has rings for, of `RING` bytes each. `staging` is the
    endpoint's, for a sender whose seam sends from memory.
    """

    @builtin
    def __init__(self, ctx, region, signals, flags, cursors, peer, BLOCKS, RING, staging=None, _semantic=None):
        semantic = _semantic or interpreter_semantic
        self.ctx, self.region, self.signals, self.flags = ctx, region, signals, flags
        self.cursors, self.peer = cursors, number(semantic, peer)
        self.BLOCKS, self.RING = constant(BLOCKS), constant(RING)
        staging = tl.core._unwrap_if_constexpr(staging)
        self.staging = region if staging is None else staging
        self.STAGE = tl.constexpr(0 if staging is None else self.RING.value // STAGED.value)


@builtin
def size_of(pointer, _semantic=None):
    """Bytes of what a pointer points to."""
    return tl.constexpr(max(pointer.dtype.element_ty.primitive_bitwidth, 8) // 8)


@builtin
def bytes_of_chunk(lane, message, _semantic=None):
    """Bytes that go with one signal."""
    return tl.constexpr(message.GROUP.value * message.TILE.value * size_of(lane.region).value)


@triton.jit
def start_of(lane, block, KIND: tl.constexpr, CHUNK: tl.constexpr):
    """Where the first chunk of a call begins, in bytes since the channel was made."""
    tl.static_assert(4 * CHUNK <= lane.RING, "a chunk has a quarter of a ring's bytes at most")
    tl.static_assert(CHUNK & (CHUNK - 1) == 0, "the bytes of a chunk are a power of two")
    return (tl.load(lane.cursors + (KIND * lane.BLOCKS + block)) + (CHUNK - 1)) & -CHUNK


@triton.jit
def finish(lane, block, cursor, KIND: tl.constexpr):
    """Keeps where the next call begins."""
    # Every thread has read it.
    tl.debug_barrier()
    tl.store(lane.cursors + (KIND * lane.BLOCKS + block), cursor)


@triton.jit
def chunks_of(message, block, blocks):
    """How many chunks a program has: those with its number, and every `blocks`-th after it; none from `blocks` on."""
    chunks = (tiles_of(message) + (message.GROUP - 1)) // message.GROUP
    return tl.where(block < blocks, (chunks - block + (blocks - 1)) // blocks, 0)


@triton.jit
def sent_flag(lane, block):
    """The counter SENT, which comes after the staging of all programs."""
    flags = lane.staging + lane.BLOCKS * (lane.STAGE // size_of(lane.region))
    return flags.to(tl.pointer_type(tl.int64), bitcast=True) + block * LINE


@triton.jit
def staged(lane, c, cursor):
    """Where the tile at a cursor is kept until it has been sent."""
    ITEM: tl.constexpr = size_of(lane.region)
    base = c.block_id.to(tl.int64) * (lane.STAGE // ITEM) + (cursor & (lane.STAGE - 1)) // ITEM
    return place_for(c, lane.staging + base)


@triton.jit
def put_tile(lane, c, cursor, freed, number, OPS: tl.constexpr, PRODUCE: tl.constexpr):
    value = produced(c, PRODUCE(c))
    # There is room for the whole chunk then.
    if number == 0:
        OPS.wait(lane.ctx, lane.flags + (HEAD * lane.BLOCKS + c.block_id) * LINE, freed)
    if OPS.copy is None:
        OPS.put(lane.ctx, c.slots(), value, lane.peer, c.mask())
    else:
        tl.static_assert(lane.STAGE > 0, "this seam sends from memory: give the Lane the endpoint's staging")
        if number == 0:
            OPS.wait(lane.ctx, sent_flag(lane, c.block_id), freed + (lane.RING - lane.STAGE))
        tl.store(staged(lane, c, cursor), value, c.mask())
        # Whoever copies an element need not have stored it.
        tl.debug_barrier()
        OPS.copy(lane.ctx, staged(lane, c, cursor), c.slots(), lane.peer, c.mask())


@triton.jit
def place_in_ring(lane, cursor, block, CHUNK: tl.constexpr):
    """The slot that begins at a cursor, and its first element."""
    ITEM: tl.constexpr = size_of(lane.region)
    slot = (cursor & (lane.RING - 1)) // CHUNK
    return slot, block.to(tl.int64) * (lane.RING // ITEM) + slot * (CHUNK // ITEM)


@triton.jit
def push_tile(
    lane, inp, out, tile, step, number, cursor, freed, block, blocks, recv_peer, shard, extra, OPS: tl.constexpr,
    PRODUCE: tl.constexpr, BYTES: tl.constexpr,
):  # fmt: skip
    """Puts a tile, the chunk's first one if its `number` is 0, where a cursor says."""
    slot, base = place_in_ring(lane, cursor, block, BYTES)
    c = Ctx(inp, inp, out, lane.region, base, tile, place_of(inp, tile), slot, step, block, blocks, lane.peer,
            recv_peer, shard, extra)  # fmt: skip
    if is_full(inp, tile):
        put_tile(lane, unmasked(c), cursor, freed, number, OPS, PRODUCE)
    else:
        put_tile(lane, c, cursor, freed, number, OPS, PRODUCE)


@triton.jit
def push(
    lane, inp, out, chunk, step, cursor, block, blocks, recv_peer, shard, extra, OPS: tl.constexpr,
    PRODUCE: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Sends a chunk, which begins at a cursor."""
    BYTES: tl.constexpr = CHUNK // inp.GROUP
    freed = cursor + (CHUNK - lane.RING)
    if inp.GROUP == 1:
        push_tile(lane, inp, out, chunk, step, 0, cursor, freed, block, blocks, recv_peer, shard, extra, OPS, PRODUCE,
                  BYTES)  # fmt: skip
    else:
        for i in range(tiles_in(inp, chunk)):
            push_tile(lane, inp, out, chunk * inp.GROUP + i, step * inp.GROUP + i, i, cursor + i * BYTES, freed, block,
                      blocks, recv_peer, shard, extra, OPS, PRODUCE, BYTES)  # fmt: skip
    OPS.signal(lane.ctx, lane.signals + (TAIL * lane.BLOCKS + block) * LINE, cursor + CHUNK, lane.peer)
    if OPS.copy is not None:
        OPS.sent(lane.ctx, sent_flag(lane, block), cursor + CHUNK, lane.peer)


@triton.jit
def tiles_in(message, chunk):
    """How many tiles a chunk has: the last one may have fewer."""
    return tl.minimum(tiles_of(message) - chunk * message.GROUP, message.GROUP).to(tl.int32)


@triton.jit
def place_of(message, tile):
    """The row and column of a tile; of a message that is not a matrix, the column is its first element's number."""
    if message.TILE_ROWS > 0:
        return origin_of(message, tile)
    else:
        return tile * 0, tile * message.TILE


@triton.jit
def take_tile(lane, c, end, last, OPS: tl.constexpr, CONSUME: tl.constexpr):
    value = tl.load(c.slots(), c.mask())
    # The slots are free when they have been read; what is done with the value need not be waited for.
    if last:
        OPS.signal(lane.ctx, lane.signals + (HEAD * lane.BLOCKS + c.block_id) * LINE, end, lane.peer)
    CONSUME(c, value)


@triton.jit
def pull_tile(
    lane, inp, out, tile, step, last, cursor, end, block, blocks, peer, shard, extra, OPS: tl.constexpr,
    CONSUME: tl.constexpr, BYTES: tl.constexpr,
):  # fmt: skip
    """Takes a tile, the chunk's last one or not, from where a cursor says."""
    slot, base = place_in_ring(lane, cursor, block, BYTES)
    c = Ctx(out, inp, out, lane.region, base, tile, place_of(out, tile), slot, step, block, blocks, peer, lane.peer,
            shard, extra)  # fmt: skip
    if is_full(out, tile):
        take_tile(lane, unmasked(c), end, last, OPS, CONSUME)
    else:
        take_tile(lane, c, end, last, OPS, CONSUME)


@triton.jit
def pull(
    lane, inp, out, chunk, step, cursor, block, blocks, peer, shard, extra, OPS: tl.constexpr, CONSUME: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    """Receives a chunk, which begins at a cursor."""
    BYTES: tl.constexpr = CHUNK // out.GROUP
    OPS.wait(lane.ctx, lane.flags + (TAIL * lane.BLOCKS + block) * LINE, cursor + CHUNK)
    if out.GROUP == 1:
        pull_tile(lane, inp, out, chunk, step, True, cursor, cursor + CHUNK, block, blocks, peer, shard, extra, OPS,
                  CONSUME, BYTES)  # fmt: skip
    else:
        tiles = tiles_in(out, chunk)
        for i in range(tiles):
            pull_tile(lane, inp, out, chunk * out.GROUP + i, step * out.GROUP + i, i == tiles - 1, cursor + i * BYTES,
                      cursor + CHUNK, block, blocks, peer, shard, extra, OPS, CONSUME, BYTES)  # fmt: skip


@triton.jit
def go_through(
    lane, message, block, blocks, OPS: tl.constexpr, HOOK: tl.constexpr, extra, MOVE: tl.constexpr, KIND: tl.constexpr
):
    """Moves the chunks of a message that are program `block`'s of `blocks`, with `push` or `pull`."""
    CHUNK: tl.constexpr = bytes_of_chunk(lane, message)
    steps, start = chunks_of(message, block, blocks), start_of(lane, block, KIND, CHUNK)
    for i in range(steps):
        MOVE(lane, message, message, block + i * blocks, i, start + i * CHUNK, block, blocks, lane.peer, 0, extra, OPS,
             HOOK, CHUNK)  # fmt: skip
    if steps > 0:
        finish(lane, block, start + steps * CHUNK, KIND)


@triton.jit
def send(lane, message, block, blocks, OPS: tl.constexpr, PRODUCE: tl.constexpr, extra=None):
    """Sends the chunks of a message that are program `block`'s of `blocks`.

    The receiver has as many programs, and tiles and chunks of as many bytes.
    """
    go_through(lane, message, block, blocks, OPS, PRODUCE, extra, push, PUSHED)


@triton.jit
def recv(lane, message, block, blocks, OPS: tl.constexpr, CONSUME: tl.constexpr, extra=None):
    """Receives the chunks of a message that are program `block`'s of `blocks`."""
    go_through(lane, message, block, blocks, OPS, CONSUME, extra, pull, TAKEN)


@triton.jit
def exchange_tiles(
    to, inp, source, out, block, send_blocks, recv_blocks, puts, takes, SEND_OPS: tl.constexpr, RECV_OPS: tl.constexpr,
    PRODUCE: tl.constexpr, CONSUME: tl.constexpr, extra,
):  # fmt: skip
    """Sends `puts` chunks and receives `takes`, in turn: one is sent before that of the same number is waited for."""
    CHUNK: tl.constexpr = bytes_of_chunk(to, inp)
    OUT_CHUNK: tl.constexpr = bytes_of_chunk(source, out)
    sent, taken = start_of(to, block, PUSHED, CHUNK), start_of(source, block, TAKEN, OUT_CHUNK)
    for i in range(tl.maximum(puts, takes + 1)):
        if i < puts:
            push(to, inp, out, block + i * send_blocks, i, sent + i * CHUNK, block, send_blocks, source.peer, 0, extra,
                 SEND_OPS, PRODUCE, CHUNK)  # fmt: skip
        if (i > 0) & (i <= takes):
            pull(source, inp, out, block + (i - 1) * recv_blocks, i - 1, taken + (i - 1) * OUT_CHUNK, block,
                 recv_blocks, to.peer, 0, extra, RECV_OPS, CONSUME, OUT_CHUNK)  # fmt: skip
    if puts > 0:
        finish(to, block, sent + puts * CHUNK, PUSHED)
    if takes > 0:
        finish(source, block, taken + takes * OUT_CHUNK, TAKEN)


@triton.jit
def sendrecv(
    to, inp, source, out, block, blocks, SEND_OPS: tl.constexpr, RECV_OPS: tl.constexpr, PRODUCE: tl.constexpr,
    CONSUME: tl.constexpr, extra=None,
):  # fmt: skip
    """Sends the chunks of one message and receives those of another that are program `block`'s of `blocks`, in turn."""
    puts, takes = chunks_of(inp, block, blocks), chunks_of(out, block, blocks)
    exchange_tiles(to, inp, source, out, block, blocks, blocks, puts, takes, SEND_OPS, RECV_OPS, PRODUCE, CONSUME,
                   extra)  # fmt: skip
