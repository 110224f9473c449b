"""What the author of a kernel sees of a message: `Ctx`, one tile of it, and the hooks that make and take a tile.

A hook is a function with `@triton.jit` or `@gluon.jit`: `produce(c)` returns the values of a tile, and
`consume(c, value)` takes them on the other side. Hooks are never called for a tile beyond the end of the message.
"""

import functools
import inspect

import triton
import triton.language as tl
from triton.language import core
from triton.runtime.interpreter import interpreter_semantic

from .._carrier import Shown, op, shown
from .._operands import describe, shape_of


def builtin(function):
    """A method of an aggregate that emits by itself, in Triton, Gluon and the interpreter."""
    function.__triton_builtin__ = True
    function.__signature__ = Shown(inspect.signature(function).parameters.values())
    return function


def aggregate(fields, **members):
    """Makes a class a Triton aggregate with these fields, a name and a type each."""

    def made(cls):
        own = {name: member for name, member in vars(cls).items() if not name.startswith("__") or name == "__init__"}
        own |= {"__annotations__": fields, "__module__": cls.__module__, "__doc__": cls.__doc__}
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        public = [each for each in parameters if each.name[0] != "_"]
        return shown(core._aggregate(type(cls.__name__, (), own | members)), public)

    return made


def number(semantic, value):
    return semantic.to_tensor(core._unwrap_if_constexpr(value))


def constant(value):
    return tl.constexpr(core._unwrap_if_constexpr(value))


def as_tuple(value):
    value = core._unwrap_if_constexpr(value)
    return value if isinstance(value, tl.tuple) else tl.tuple(list(value or ()))


MESSAGE = {"ptr": tl.tensor, **dict.fromkeys(("count", "rows", "cols", "row_stride", "col_stride"), tl.tensor)}
MESSAGE |= dict.fromkeys(("TILE", "TILE_ROWS", "TILE_COLS", "LAYOUT", "GROUP"), tl.constexpr)


@aggregate(MESSAGE)
class Message:
    """A message in memory: `count` elements one after the other, or with TILE_ROWS a matrix with its strides.

    A tile is TILE elements, or TILE_ROWS rows of TILE_COLS. In Gluon, LAYOUT is the layout of a tile. GROUP tiles, a
    chunk, go with one signal: TILE and GROUP are powers of two.
    """

    @builtin
    def __init__(
        self, ptr, count, TILE, LAYOUT=None, rows=1, cols=1, row_stride=1, col_stride=1, TILE_ROWS=0, TILE_COLS=0,
        GROUP=1, _semantic=None,
    ):  # fmt: skip
        semantic = _semantic or interpreter_semantic
        self.ptr, self.count = ptr, semantic.cast(number(semantic, count), tl.int64)
        self.rows, self.cols = number(semantic, rows), number(semantic, cols)
        self.row_stride, self.col_stride = number(semantic, row_stride), number(semantic, col_stride)
        self.TILE, self.LAYOUT = constant(TILE), constant(LAYOUT)
        self.TILE_ROWS, self.TILE_COLS, self.GROUP = constant(TILE_ROWS), constant(TILE_COLS), constant(GROUP)


@triton.jit
def tiles_of(message):
    """How many tiles a message has."""
    if message.TILE_ROWS > 0:
        down = (message.rows + (message.TILE_ROWS - 1)) // message.TILE_ROWS
        return down.to(tl.int64) * ((message.cols + (message.TILE_COLS - 1)) // message.TILE_COLS)
    else:
        return (message.count + (message.TILE - 1)) // message.TILE


@triton.jit
def origin_of(message, tile):
    """The row and the column of the first element of a tile."""
    across = (message.cols + (message.TILE_COLS - 1)) // message.TILE_COLS
    return tile // across * message.TILE_ROWS, tile % across * message.TILE_COLS


@triton.jit
def is_full(message, tile):
    """Whether a message has all elements of a tile."""
    if message.TILE_ROWS > 0:
        row, column = origin_of(message, tile)
        return (row + message.TILE_ROWS <= message.rows) & (column + message.TILE_COLS <= message.cols)
    else:
        return (tile + 1) * message.TILE <= message.count


NUMBERS = ("row", "column", "slot_base", "tile_idx", "slot", "step", "block_id", "num_blocks", "peer", "recv_peer",
           "shard_idx", "count")  # fmt: skip
CTX = {"in_ptr": tl.tensor, "out_ptr": tl.tensor, "region_ptr": tl.tensor, **dict.fromkeys(NUMBERS, tl.tensor)}
CTX |= dict.fromkeys(("in_strides", "out_strides", "shape", "extra"), tl.tuple)
CTX |= dict.fromkeys(("tile", "tile_rows", "tile_cols", "full", "layout"), tl.constexpr)


@aggregate(CTX)
class Ctx:
    """A tile of a message, for hooks.

    `inputs()` and `outputs()` are its elements' pointers in the message that is sent and in the one that is received,
    `mask()` says which of them there are (None where all are), `index()` is their number in the message (of a matrix:
    row by row). `in_ptr`, `out_ptr` and `count` are the messages' own, `in_strides`, `out_strides` and `shape` those of
    matrices (rows, columns). `tile_idx` counts tiles, `step` those of this program; `slot` is the place in the ring,
    `region_ptr + slot_base` its first element. `block_id` of `num_blocks` programs, `peer` and `recv_peer` are whom
    this message goes to and comes from, `shard_idx` is the part of an all_to_all. `extra` is what the caller gave.

    `tile`, `tile_rows`, `tile_cols` (0 where the message is not a matrix) are constants.
    """

    @builtin
    def __init__(
        self, tiled, inp, out, region, slot_base, tile_idx, origin, slot, step, block, blocks, peer, recv_peer, shard,
        extra, _semantic=None,
    ):  # fmt: skip
        semantic = _semantic or interpreter_semantic
        given = (*origin, slot_base, tile_idx, slot, step, block, blocks, peer, recv_peer, shard, tiled.count)
        for name, value in zip(NUMBERS, given, strict=True):
            setattr(self, name, number(semantic, value))
        self.in_ptr, self.out_ptr, self.region_ptr = inp.ptr, out.ptr, region
        self.in_strides = tl.tuple([inp.row_stride, inp.col_stride])
        self.out_strides = tl.tuple([out.row_stride, out.col_stride])
        self.shape, self.extra = tl.tuple([tiled.rows, tiled.cols]), as_tuple(extra)
        self.tile, self.tile_rows, self.tile_cols = tiled.TILE, tiled.TILE_ROWS, tiled.TILE_COLS
        self.full, self.layout = tl.constexpr(False), tiled.LAYOUT

    @builtin
    def inputs(self, _semantic=None):
        """Pointers to the tile's elements in the message that is sent."""
        return pointers(_semantic or interpreter_semantic, self, self.in_ptr, self.in_strides)

    @builtin
    def outputs(self, _semantic=None):
        """Pointers to the tile's elements in the message that is received."""
        return pointers(_semantic or interpreter_semantic, self, self.out_ptr, self.out_strides)

    @builtin
    def slots(self, _semantic=None):
        """Pointers to the tile's elements in the ring, one after the other."""
        semantic = _semantic or interpreter_semantic
        return in_a_row(semantic, self, semantic.add(self.region_ptr, self.slot_base, False))

    @builtin
    def index(self, _semantic=None):
        """The number of each element in the message (int64)."""
        semantic = _semantic or interpreter_semantic
        if not self.tile_rows.value:
            return semantic.add(self.column, numbers(semantic, self), False)
        row = semantic.add(self.row, numbers(semantic, self, 0), False)
        column = semantic.add(self.column, numbers(semantic, self, 1), False)
        return semantic.add(semantic.mul(row, self.shape[1], False), column, False)

    @builtin
    def mask(self, _semantic=None):
        """Which elements the message has; None where it has all of the tile."""
        semantic = _semantic or interpreter_semantic
        if self.full.value:
            return None
        if not self.tile_rows.value:
            return semantic.less_than(numbers(semantic, self), left(semantic, self.count, self.column, self.tile))
        down = semantic.less_than(numbers(semantic, self, 0), left(semantic, self.shape[0], self.row, self.tile_rows))
        across = left(semantic, self.shape[1], self.column, self.tile_cols)
        return semantic.and_(down, semantic.less_than(numbers(semantic, self, 1), across))


def in_a_row(semantic, ctx, first):
    """Pointers to as many elements as a tile has, one after the other."""
    if not ctx.tile_rows.value:
        return semantic.add(first, numbers(semantic, ctx), False)
    rows = semantic.mul(numbers(semantic, ctx, 0), number(semantic, ctx.tile_cols), False)
    return semantic.add(first, semantic.add(rows, numbers(semantic, ctx, 1), False), False)


@builtin
def place_for(ctx, first, _semantic=None):
    """Pointers to where a tile is kept, from a pointer on."""
    return in_a_row(_semantic or interpreter_semantic, ctx, first)


@functools.partial(op, name="produce")
def produced(emit, c, value):
    """What `produce` returned: a value for each element of a tile, or one for all of them."""
    value = core._unwrap_if_constexpr(value)
    if isinstance(value, (bool, int, float)):
        value = number(emit.semantic, value)
    like = in_a_row(emit.semantic, c, c.region_ptr)
    has_elements = isinstance(value, tl.tensor) and not value.type.scalar.is_ptr()
    if has_elements and not value.type.is_block():
        return emit.semantic.broadcast_impl_value(like, value)[1]
    if not has_elements or shape_of(value) != shape_of(like):
        found = f"shape {shape_of(value)}" if has_elements else describe(value)
        found = "a tuple" if isinstance(value, (tuple, tl.tuple)) else found
        raise TypeError(f"it must return a block of shape {shape_of(like)}, that of c.inputs(), not {found}")
    return value


@builtin
def unmasked(ctx, _semantic=None):
    """A Ctx for hooks of a tile whose elements are all there."""
    whole = type(ctx)._get_instance()
    for name in CTX:
        object.__setattr__(whole, name, getattr(ctx, name))
    object.__setattr__(whole, "full", tl.constexpr(True))
    return whole


def numbers(semantic, ctx, axis=None):
    """0, 1, … along a tile, or along an axis of it."""
    size = ctx.tile if axis is None else (ctx.tile_rows, ctx.tile_cols)[axis]
    layout = ctx.layout.value
    if not hasattr(semantic, "convert_layout"):
        block = semantic.arange(0, size.value)
    elif axis is None:
        block = semantic.arange(0, size.value, layout)
    else:
        from triton.experimental.gluon.language import SliceLayout

        block = semantic.arange(0, size.value, SliceLayout(1 - axis, layout))
    return block if axis is None else semantic.expand_dims(block, 1 - axis)


def left(semantic, end, first, tile):
    """How many of a tile's elements, rows or columns there are (int32)."""
    rest = semantic.sub(end, first, False)
    return semantic.cast(semantic.minimum(rest, number(semantic, tile), tl.PropagateNan.NONE), tl.int32)


def pointers(semantic, ctx, first, strides):
    """Pointers to a tile's elements in a message."""
    if not ctx.tile_rows.value:
        return semantic.add(semantic.add(first, ctx.column, False), numbers(semantic, ctx), False)
    for origin, stride in zip((ctx.row, ctx.column), strides, strict=True):
        first = semantic.add(first, semantic.mul(origin, stride, False), False)
    for axis, stride in enumerate(strides):
        # Of 64 bits: rows of a large matrix are further apart than 32 bits hold.
        offset = semantic.mul(numbers(semantic, ctx, axis), semantic.cast(stride, tl.int64), False)
        first = semantic.add(first, offset, False)
    return first


@triton.jit
def produce(c):
    """The elements of the tile as they are."""
    return tl.load(c.inputs(), c.mask())


@triton.jit
def consume(c, value):
    """Stores the elements of the tile, cast to those of the message."""
    tl.store(c.outputs(), value, c.mask())
