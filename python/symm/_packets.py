"""Packets for kernels: values that carry their own flags.

A packet has 8 bytes of data. Elements of fewer bytes are packed here, with ops of the front end, into words of up to 8
bytes, of which the compiler sends each as a packet. Blocks of 8-byte elements are sent as they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from triton.language import core as tl

from ._carrier import Emitter, op
from ._operands import boolean, describe, shape_of, whole

if TYPE_CHECKING:
    from typing import TypeAlias

    from ._arguments import Context, Mask, Rank

    Shape: TypeAlias = int | tuple[int, ...]

__all__ = ["put_packet", "wait_packet", "try_packet"]

# Unsigned integers by their bytes.
WORDS = {1: tl.uint8, 2: tl.uint16, 4: tl.uint32, 8: tl.uint64}


@op
def put_packet(
    emit: Emitter,
    ctx: Context,
    slots: tl.tensor,
    value: tl.tensor,
    epoch: int | tl.tensor,
    rank: Rank,
    mask: Mask = None,
) -> None:
    """Sends `value` to `slots` of `rank` as packets with the number `epoch`: whoever receives a packet has its value.

    It orders nothing else: other writes of this program may arrive later.

    `value` is a scalar or a block with elements of 8 to 64 bits, row by row from the line of 16 bytes that `slots`
    points to (a pointer to integers, aligned to 16 bytes). A line holds 8 bytes of data, so slots take twice the bytes
    of the value, rounded up to 16. Blocks of 8-byte elements are the fastest: others are packed first, which may need a
    change of layout. `slots` may also be a block of pointers, one to a line for each element.

    `epoch` is an int32, compared for equality; new memory of the heap has epoch 0, so begin with 1. A wider value of
    the kernel wraps; a constant that does not fit is an error. Where `mask` is False nothing is sent, except for
    elements that share their line with others.
    """
    packets = _Packets(emit, slots, written=True)
    value = emit.sent(value)
    shape = _shape_of(value)
    packets.lay_out(value.type.scalar, shape)
    words = packets.pack(packets.bits(value))
    operands = {
        "ctx": emit.context(ctx),
        "value": words,
        "slots": packets.lines(like=words),
        "epoch": _epoch(emit, epoch),
        "rank": emit.rank(rank),
        "mask": packets.mask(mask, like=words),
    }
    emit.call("put_packet", operands)


@op
def wait_packet(
    emit: Emitter,
    ctx: Context,
    slots: tl.tensor,
    epoch: int | tl.tensor,
    shape: Shape = (),
    dtype: tl.dtype | None = None,
    mask: Mask = None,
    layout: Any = None,
    timeout: float | None = None,
) -> tl.tensor:
    """Waits for packets with the number `epoch` in the local `slots`, and returns their value.

    `shape` and `dtype` (default int64) are those of the sender's value; if `slots` is a block of pointers, it gives the
    shape. All lines are polled at once: to wait for several peers, use one block of shape (peers, n). Elements whose
    `mask` is False are 0. The sender's other writes may not be visible yet: use `signal` and `wait` for those. In Gluon
    `layout` is the result's. `timeout` is as for `wait`, on NVIDIA GPUs and in the interpreter.
    """
    packets, operands, kind = _asked(emit, ctx, slots, epoch, (shape, dtype, layout), mask)
    operands["deadline"], more = emit.deadline(ctx, timeout)
    words = emit.call("wait_packet", operands, more, kind)
    return packets.masked(packets.unpack(words), mask)


@op
def try_packet(
    emit: Emitter,
    ctx: Context,
    slots: tl.tensor,
    epoch: int | tl.tensor,
    shape: Shape = (),
    dtype: tl.dtype | None = None,
    mask: Mask = None,
    layout: Any = None,
) -> tuple[tl.tensor, tl.tensor]:
    """Looks once for what `wait_packet` waits for; returns the value, and a boolean for each element: has it arrived?

    An element that has not arrived is undefined. Elements whose `mask` is False are 0, and count as arrived. Each look
    takes two atomics for a line; `wait_packet` is cheaper.
    """
    packets, operands, kind = _asked(emit, ctx, slots, epoch, (shape, dtype, layout), mask)
    operands["deadline"], more = emit.polling(ctx)
    words, valid = emit.call("try_packet", operands, more, (kind, _of_elements(kind, tl.int1)))
    return tl.tuple([packets.masked(packets.unpack(words), mask), packets.spread(valid)])


def _asked(emit, ctx, slots, epoch, value, mask):
    """A value's packets, what an op that receives them takes, and the type of their words."""
    shape, dtype, layout = value
    packets = _Packets(emit, slots)
    packets.lay_out(_dtype(dtype), _shape(emit.as_compiled(shape, "shape")), layout)
    lines = packets.lines()
    operands = {"ctx": emit.context(ctx), "slots": lines, "epoch": _epoch(emit, epoch)}
    operands["mask"] = packets.mask(mask, like=lines)
    return packets, operands, packets.words_like(lines)


class _Packets:
    """How the elements of one value lie in packets."""

    def __init__(self, emit, slots, written=False):
        self.emit, self.semantic = emit, emit.semantic
        slots = emit.pointer(slots, "slots", written)
        if not slots.type.scalar.element_ty.is_int():
            raise TypeError(f"slots must be a pointer to integers, not {describe(slots)}")
        words = tl.pointer_type(tl.int64, slots.type.scalar.address_space)
        self.slots = self.semantic.cast(slots, _of_elements(slots.type, words))

    def lay_out(self, dtype, shape, layout=None):
        """Decides how many elements a packet holds."""
        self.dtype, self.layout = dtype, self._layout(layout)
        # Booleans are bytes in memory.
        self.stored = tl.int8 if dtype.is_bool() else dtype
        self.size = self.stored.primitive_bitwidth // 8
        self.shape = shape
        self.in_block = self.slots.type.is_block()
        if self.in_block:
            lines = _shape_of(self.slots)
            if shape and shape != lines:
                raise ValueError(f"slots are a block of shape {lines}, but the value has shape {shape}")
            self.shape, self.each = lines, 1
        else:
            self.each = min(8 // self.size, math.prod(shape))
        self.is_scalar = not self.shape
        self.is_plain = self.is_scalar or self.in_block
        self.word = self.stored if self.each == 1 else WORDS[self.size * self.each]

    def _layout(self, layout):
        """The layout that the user wants a result in, if any."""
        layout = tl._unwrap_if_constexpr(layout)
        if layout is None:
            return None
        if not hasattr(self.semantic, "convert_layout"):
            raise TypeError("layout is for Gluon kernels: leave it out")
        from triton.experimental.gluon.language._layouts import DistributedLayout

        if not isinstance(layout, DistributedLayout):
            raise TypeError(f"layout must be a layout of Gluon, such as gl.BlockedLayout(…), not {describe(layout)}")
        return layout

    def bits(self, value):
        """The elements as they lie in memory."""
        if self.in_block and not value.type.is_block():
            raise TypeError("value is a scalar, but slots are a block of pointers: send a block of the same shape")
        if self.dtype.is_bool():
            value = self.semantic.cast(value, tl.int8)
        return value if self.each == 1 else self.semantic.bitcast(value, WORDS[self.size])

    def pack(self, block, combine=None):
        """Neighbours as one, until each is a packet; `combine` says what two of them make, if not a wider word."""
        if self.is_plain:
            return block
        block = self._splittable(self._reshape(block, [math.prod(self.shape)]))
        for _ in range(self.each.bit_length() - 1):
            low, high = self.semantic.split(self._reshape(block, [block.type.numel // 2, 2]))
            block = (combine or self._join_words)(low, high)
        return block

    def in_thread(self):
        """How many neighbours one thread must hold for them to be packed."""
        return self.each

    def _splittable(self, block):
        """A flat block in a layout with the neighbours in one thread, as `split` needs them in Gluon."""
        if not hasattr(self.semantic, "convert_layout"):
            return block
        layout, each = block.type.layout, self.in_thread()
        if type(layout).__name__ in ("AutoLayout", "CoalescedLayout") or self._holds(layout, each, block):
            return block
        return self.semantic.convert_layout(block, self._threads(each))

    def _threads(self, each):
        """A flat layout with this many neighbours in each thread: those of the program, or of a partition of it."""
        from triton.experimental.gluon.language import BlockedLayout

        warps = tl._unwrap_if_constexpr(self.semantic.num_warps(self.emit.generator))
        return BlockedLayout([each], [self.semantic.builder.options.warp_size], [warps], [0])

    def _holds(self, layout, each, block):
        """Whether each thread has `each` neighbours in a layout of a flat block."""
        linear = tl._unwrap_if_constexpr(self.semantic.to_linear_layout(layout, [block.type.numel]))
        return all([1 << bit] in linear.reg_bases for bit in range(each.bit_length() - 1))

    def _join_words(self, low, high):
        bits = low.type.scalar.primitive_bitwidth
        low, high = (self.semantic.cast(half, WORDS[bits // 4]) for half in (low, high))
        return self.semantic.or_(low, self.semantic.shl(high, self._number(bits, high)))

    def unpack(self, words):
        """The value that packets hold."""
        if not self.is_plain:
            for _ in range(self.each.bit_length() - 1):
                bits = words.type.scalar.primitive_bitwidth // 2
                high = self.semantic.lshr(words, self._number(bits, words))
                words = self._neighbours(*(self.semantic.cast(half, WORDS[bits // 8]) for half in (words, high)))
            words = self._reshape(words, list(self.shape))
        value = words if self.each == 1 else self.semantic.bitcast(words, self.stored)
        if self.dtype.is_bool():
            value = self.semantic.not_equal(value, self._number(0, value))
        return self._in_layout(value, self.layout)

    def spread(self, words):
        """For each element the value of its packet."""
        if not self.is_plain:
            for _ in range(self.each.bit_length() - 1):
                words = self._neighbours(words, words)
            words = self._reshape(words, list(self.shape))
        return self._in_layout(words, self.layout)

    def lines(self, like=None):
        """Pointers to the lines, in the layout of the words that are sent."""
        if self.is_plain:
            return self.slots
        count = math.prod(self.shape) // self.each
        index = self._arange(count, getattr(getattr(like, "type", None), "layout", None))
        return self.semantic.add(self.slots, self.semantic.add(index, index, False), False)

    def words_like(self, lines):
        return _of_elements(lines.type, self.word) if lines.type.is_block() else self.word

    def mask(self, mask, like):
        """Where any element of a packet is on; None everywhere."""
        mask = self._boolean(mask)
        if mask is None:
            return None
        if mask.type.is_block() and not self.is_plain:
            mask = self.pack(self._of_shape(mask), self.semantic.or_)
        return self._like(mask, like)

    def masked(self, value, mask):
        """A value, 0 where the mask is not on."""
        mask = self._boolean(mask)
        if mask is None:
            return value
        return self.semantic.where(self._like(mask, value), value, self._zero(value))

    def _boolean(self, mask):
        mask = boolean(mask)
        return self.semantic.to_tensor(mask) if isinstance(mask, bool) else mask

    def _of_shape(self, mask):
        """A mask of the value's shape."""
        return self._widened(mask, self.shape) if _shape_of(mask) != self.shape else mask

    def _widened(self, mask, shape):
        try:
            return self.semantic.broadcast_impl_shape(mask, list(shape))
        except (AssertionError, ValueError):
            raise ValueError(f"mask has shape {shape_of(mask)}, but the value has {list(shape)}") from None

    def _like(self, value, like):
        """A block with the shape and the layout of another one."""
        if not like.type.is_block():
            if value.type.is_block():
                raise TypeError("mask is a block, but the value is not")
            return value
        if not value.type.is_block():
            return self.semantic.broadcast_impl_value(like, value)[1]
        value = self._in_layout(value, getattr(like.type, "layout", None))
        return self._widened(value, _shape_of(like)) if _shape_of(value) != _shape_of(like) else value

    def _in_layout(self, value, layout):
        layout = tl._unwrap_if_constexpr(layout)
        if layout is None or not value.type.is_block() or value.type.layout == layout:
            return value
        return self.semantic.convert_layout(value, layout)

    def _arange(self, count, layout):
        if not hasattr(self.semantic, "convert_layout"):
            return self.semantic.arange(0, count)
        return self.semantic.arange(0, count, layout or self._layout_of_words())

    def _layout_of_words(self):
        """A layout for a block of received words: if possible the one that unpacking turns into the result's."""
        from triton.experimental.gluon.language import BlockedLayout

        layout = tl._unwrap_if_constexpr(self.layout)
        if len(self.shape) == 1 and self.each == 1 and layout is not None:
            return layout
        if isinstance(layout, BlockedLayout) and len(self.shape) == 1 and layout.size_per_thread[0] % self.each == 0:
            size = [layout.size_per_thread[0] // self.each]
            return BlockedLayout(size, layout.threads_per_warp, layout.warps_per_cta, layout.order)
        return self._threads(1)

    def _reshape(self, block, shape):
        return block if list(_shape_of(block)) == shape else self.semantic.reshape(block, shape, False)

    def _neighbours(self, even, odd):
        return self._reshape(self.semantic.join(even, odd), [2 * even.type.numel])

    def _number(self, number, like):
        """A constant of the elements of a block."""
        constant = self.semantic.cast(self.semantic.to_tensor(number), like.type.scalar)
        return self.semantic.broadcast_impl_value(like, constant)[1] if like.type.is_block() else constant

    def _zero(self, like):
        if self.dtype.is_int():
            return self._number(0, like)
        zero = self._number(0, self.semantic.bitcast(like, WORDS[self.size]))
        return self.semantic.bitcast(zero, like.type.scalar)


def _epoch(emit, epoch):
    """An int32: a constant that fits, signed or not, and of a wider value the lower half."""
    epoch = tl._unwrap_if_constexpr(epoch)
    if isinstance(epoch, int) and not isinstance(epoch, bool):
        whole(epoch, tl.int32, "epoch")
        epoch = (epoch + 2**31) % 2**32 - 2**31
    elif not isinstance(epoch, tl.tensor) or epoch.type.is_block() or not epoch.type.is_int() or epoch.type.is_bool():
        raise TypeError(f"epoch must be one integer, not {describe(epoch)}")
    return emit.semantic.cast(emit.semantic.to_tensor(epoch), tl.int32)


def _dtype(dtype):
    dtype = tl._unwrap_if_constexpr(dtype)
    dtype = tl.int64 if dtype is None else dtype
    if not isinstance(dtype, tl.dtype) or dtype.is_ptr() or dtype.is_block() or dtype.name == "void":
        raise TypeError(f"dtype must be an element type such as tl.bfloat16, not {describe(dtype)}")
    return dtype


def _shape(shape):
    shape = tl._unwrap_if_constexpr(shape)
    sizes = shape if isinstance(shape, (tuple, list, tl.tuple)) else [shape]
    sizes = tuple(tl._unwrap_if_constexpr(size) for size in sizes)
    if not all(isinstance(size, int) and size > 0 and size & (size - 1) == 0 for size in sizes):
        raise ValueError(f"shape must consist of constant powers of two, not {describe(shape)}")
    return sizes


def _shape_of(block):
    sizes = block.type.get_block_shapes() if block.type.is_block() else ()
    return tuple(tl._unwrap_if_constexpr(size) for size in sizes)


def _of_elements(kind, element):
    """A type of the same shape with other elements."""
    if not kind.is_block():
        return element
    if hasattr(kind, "layout"):
        return type(kind)(element, kind.get_block_shapes(), kind.layout)
    return tl.block_type(element, kind.get_block_shapes())
