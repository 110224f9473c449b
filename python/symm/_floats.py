"""Floats for kernels that show by themselves that they have come: all 16 bytes of a line are data.

A line has come when each of its words of 4 bytes, or of 8 for fp64, has a bit that is not set. Slots begin with all
bits set, and their receiver sets them again. A line is two words of 8 bytes: elements of fewer bytes are packed here,
with ops of the front end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from triton.language import core as tl

from ._carrier import Emitter, op
from ._operands import flag
from ._packets import WORDS, _dtype, _of_elements, _Packets, _shape, _shape_of

if TYPE_CHECKING:
    from ._arguments import Context, Mask, Rank
    from ._packets import Shape

__all__ = ["put_floats", "wait_floats", "try_floats", "clear_floats"]

# In floats of the other formats all bits set are a number, or their only NaN.
FLOATS = ("fp64", "fp32", "fp16", "bf16", "fp8e5", "fp8e4nv")


@op
def put_floats(
    emit: Emitter,
    ctx: Context,
    slots: tl.tensor,
    value: tl.tensor,
    rank: Rank,
    mask: Mask = None,
    dtype: tl.dtype | None = None,
) -> None:
    """Sends `value` to cleared `slots` of `rank`, as floats that show by themselves that they have come: whoever
    receives a line has its value.

    It orders nothing else: other writes of this program may arrive later. All values but one arrive unchanged:
    where 4 bytes (8 of fp64) have all bits set, which is a NaN, they arrive without the highest bit, as another NaN.

    `value` is a block of floats of a multiple of 16 bytes, row by row from the line of 16 bytes that `slots` points to
    (a pointer to integers, aligned to 16 bytes), so slots take as many bytes as the value; or a scalar, which takes one
    line. `slots` may also be a block of pointers, one to a line for each element. With `dtype`, `value` is a block of
    int64, each of them 8 bytes of such floats: this is the fastest.

    A block has a line of 16 bytes for each thread of the program at least: threads that hold the same line all write
    it, and the last one may be later than the receiver's `clear_floats`. Send what is smaller as packets; a scalar is
    written by one thread on NVIDIA GPUs, and by all of them on AMD's.

    All bits of slots are set before the first use (`fill_(-1)` of integers), and each time after they have been
    received: `clear_floats` says when they may be written again. Where `mask` is False nothing is sent, except for
    elements that share their line with others.
    """
    value = emit.sent(value)
    if not value.type.is_block():
        slots, mask, value = _of_one_thread(emit, slots, mask, value)
    is_of_words = tl._unwrap_if_constexpr(dtype) is not None
    floats = _Floats(emit, slots, _dtype(dtype) if is_of_words else value.type.scalar, is_of_words, written=True)
    floats.lay_out(value.type.scalar, _shape_of(value))
    lower, upper = floats.split(floats.pack(floats.bits(value)))
    operands = {"ctx": emit.context(ctx), "value": lower, "upper": upper, "slots": floats.lines(like=lower)}
    operands |= {"rank": emit.rank(rank), "mask": floats.mask(mask, like=lower)}
    emit.call("put_packet", operands, floats.attributes())


@op
def clear_floats(
    emit: Emitter,
    ctx: Context,
    slots: tl.tensor,
    shape: Shape = (),
    dtype: tl.dtype | None = None,
    mask: Mask = None,
    layout: Any = None,
    words: bool = False,
) -> None:
    """Clears the local `slots` of a value of this `shape` and `dtype`, which this rank has received.

    A rank that knows that they are clear may write them again: from a signal after it, or a packet or floats that this
    rank sends to the writer in a later launch. So two buffers in turn are enough where ranks send to each other and
    each launch clears what it has received, but not around a ring of more than two.
    """
    if not _shape(emit.as_compiled(shape, "shape")):
        slots, mask = _of_one_thread(emit, slots, mask)
    floats, operands, _ = _asked(emit, ctx, slots, (shape, dtype, layout, words), mask)
    kind = floats.words_like(operands["slots"])
    zero = emit.semantic.cast(emit.semantic.to_tensor(0), tl.uint64)
    zero = emit.semantic.broadcast_impl_value(operands["slots"], zero)[1] if kind.is_block() else zero
    me = emit.call("rank", {"ctx": operands["ctx"]}, result=tl.int32)
    operands |= {"value": zero, "upper": zero, "rank": me}
    order = ("ctx", "slots", "value", "upper", "rank", "mask")
    emit.call("put_packet", {name: operands[name] for name in order}, floats.attributes() | {"clear": True})


@op
def wait_floats(
    emit: Emitter,
    ctx: Context,
    slots: tl.tensor,
    shape: Shape = (),
    dtype: tl.dtype | None = None,
    mask: Mask = None,
    layout: Any = None,
    timeout: float | None = None,
    words: bool = False,
) -> tl.tensor:
    """Waits for floats in the local `slots`, and returns them.

    `shape` and `dtype` (default float32) are those of the sender's value; if `slots` is a block of pointers, it gives
    the shape. With `words`, `shape` counts words of 8 bytes, and the result is int64. Elements whose `mask` is False
    are 0. `layout` and `timeout` are as for `wait_packet`. The sender's other writes may not be visible yet.
    """
    floats, operands, kind = _asked(emit, ctx, slots, (shape, dtype, layout, words), mask)
    operands["deadline"], more = emit.deadline(ctx, timeout)
    lower, upper = emit.call("wait_packet", operands, floats.attributes() | (more or {}), (kind, kind))
    return floats.masked(floats.unpack(floats.join(lower, upper)), mask)


@op
def try_floats(
    emit: Emitter,
    ctx: Context,
    slots: tl.tensor,
    shape: Shape = (),
    dtype: tl.dtype | None = None,
    mask: Mask = None,
    layout: Any = None,
    words: bool = False,
) -> tuple[tl.tensor, tl.tensor]:
    """Looks once for what `wait_floats` waits for; returns the value, and for each element a boolean: is it there?

    An element that is not there is undefined. Elements whose `mask` is False are 0, and count as there.
    """
    floats, operands, kind = _asked(emit, ctx, slots, (shape, dtype, layout, words), mask)
    operands["deadline"], more = emit.polling(ctx)
    results = (kind, _of_elements(kind, tl.int1), kind)
    lower, valid, upper = emit.call("try_packet", operands, floats.attributes() | (more or {}), results)
    value = floats.masked(floats.unpack(floats.join(lower, upper)), mask)
    return tl.tuple([value, floats.spread(floats.join(valid, valid))])


def _of_one_thread(emit, slots, mask, *value):
    """What sends a scalar, in a partition of specialised warps for its first thread alone: as blocks, with an element
    in each thread. The compiler knows the first thread of a program.
    """
    is_pointer = isinstance(slots, tl.tensor) and slots.type.is_ptr()
    if not is_pointer or getattr(getattr(emit, "generator", None), "caller_context", None) is None:
        return slots, mask, *value
    semantic, packets = emit.semantic, _Packets(emit, slots)
    warps, lanes = tl._unwrap_if_constexpr(semantic.num_warps(emit.generator)), semantic.builder.options.warp_size
    thread = semantic.arange(0, warps * lanes, packets._threads(1))
    slots, *value = (semantic.broadcast_impl_value(thread, each)[1] for each in (packets.slots, *value))
    first, mask = semantic.equal(thread, semantic.to_tensor(0)), packets.mask(mask, like=thread)
    return slots, first if mask is None else semantic.and_(first, mask), *value


def _asked(emit, ctx, slots, value, mask):
    """A value's lines, what an op that is about them takes, and the type of their words."""
    shape, dtype, layout, words = value
    words = flag(words, "words")
    dtype = tl.float32 if tl._unwrap_if_constexpr(dtype) is None else _dtype(dtype)
    floats = _Floats(emit, slots, dtype, words)
    floats.lay_out(tl.int64 if words else dtype, _shape(emit.as_compiled(shape, "shape")), layout)
    lines = floats.lines()
    operands = {"ctx": emit.context(ctx), "slots": lines, "mask": floats.mask(mask, like=lines)}
    return floats, operands, floats.words_like(lines)


class _Floats(_Packets):
    """How the elements of one value lie in lines of two words."""

    def __init__(self, emit, slots, floats, words, written=False):
        super().__init__(emit, slots, written)
        name = getattr(floats, "name", None)
        if name not in FLOATS:
            kinds = ", ".join(FLOATS)
            raise TypeError(f"S1: floats that show that they have come are {kinds}, not {name}: send packets")
        self.bitwidth, self.words = floats.primitive_bitwidth, words

    def lay_out(self, dtype, shape, layout=None):
        super().lay_out(dtype, shape, layout)
        if self.words and (self.size != 8 or not dtype.is_int()):
            wanted = "a block of int64, words of these floats, where dtype is given"
            raise TypeError(f"value must be {wanted}, not of {dtype}")
        if not self.is_plain and math.prod(self.shape) * self.size % 16:
            raise ValueError(f"a block of floats is a multiple of 16 bytes, not {math.prod(self.shape) * self.size}")
        self.word = tl.uint64

    def in_thread(self):
        return 2 * self.each

    def attributes(self):
        return {"sentinel": self.bitwidth}

    def bits(self, value):
        if self.in_block and not value.type.is_block():
            raise TypeError("value is a scalar, but slots are a block of pointers: send a block of the same shape")
        return self.semantic.bitcast(value, WORDS[self.size])

    def split(self, words):
        """The first and the second word of each line."""
        if self.is_plain:
            words = self.semantic.cast(words, tl.uint64)
            return words, self._like(self._number(0, words), words)
        return self.semantic.split(self._reshape(words, [words.type.numel // 2, 2]))

    def join(self, lower, upper):
        """The words of all lines, or of a plain value the first."""
        return lower if self.is_plain else self._neighbours(lower, upper)

    def pack(self, block, combine=None):
        words = super().pack(block, combine)
        return self._reshape(words, [words.type.numel]) if words.type.is_block() and not self.is_plain else words

    def unpack(self, words):
        if self.is_plain:
            value = self.semantic.bitcast(self.semantic.cast(words, WORDS[self.size]), self.stored)
            return self._in_layout(value, self.layout)
        if self.each == 1:
            value = self.semantic.bitcast(self._reshape(words, list(self.shape)), self.stored)
            return self._in_layout(value, self.layout)
        return super().unpack(words)

    def spread(self, words):
        if not self.is_plain and self.each == 1:
            return self._in_layout(self._reshape(words, list(self.shape)), self.layout)
        return super().spread(words)

    def lines(self, like=None):
        if self.is_plain:
            return self.slots
        count = math.prod(self.shape) // self.each // 2
        index = self._arange(count, getattr(getattr(like, "type", None), "layout", None))
        return self.semantic.add(self.slots, self.semantic.add(index, index, False), False)

    def mask(self, mask, like):
        mask = self._boolean(mask)
        if mask is None:
            return None
        if mask.type.is_block() and not self.is_plain:
            words = self.pack(self._of_shape(mask), self.semantic.or_)
            mask = self.semantic.or_(*self.split(words))
        return self._like(mask, like)

    def _layout_of_words(self):
        """A layout for a block of lines that comes."""
        from triton.experimental.gluon.language import BlockedLayout

        layout, each = tl._unwrap_if_constexpr(self.layout), 2 * self.each
        if isinstance(layout, BlockedLayout) and len(self.shape) == 1 and layout.size_per_thread[0] % each == 0:
            size = [layout.size_per_thread[0] // each]
            return BlockedLayout(size, layout.threads_per_warp, layout.warps_per_cta, layout.order)
        return self._threads(1)
