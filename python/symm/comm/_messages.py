"""Messages of the host: what a tensor is for a kernel, and how it is cut into tiles."""

from __future__ import annotations

import enum
import importlib.util
import inspect
import math
import numbers
from typing import NamedTuple

from triton import knobs
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from .._memory import text_of, torch
from ..errors import ArgumentError
from ._channels import MAIL_WORDS
from .transport import LinkKind, element_size

# The largest message in packets, in bytes; and the sizes of messages with the words of 8 bytes that a program sends.
MAIL_BYTES = 128 << 10
WORDS = ((1 << 10, 128), (64 << 10, 256), (MAIL_BYTES, MAIL_WORDS))
# Bytes of a tile for messages of up to this many bytes, and the most elements it may have.
TILES = ((64 << 10, 4 << 10), (256 << 10, 8 << 10), (1 << 20, 32 << 10))
LARGEST_TILE, MOST_ELEMENTS = 64 << 10, 32 << 10
BYTES_OF_A_THREAD = 64
# A ring holds as many chunks at least: who sends and receives in turn puts a second chunk before the first one is
# taken, and the chunks of the call before may end just before a whole chunk.
SLOTS = 4
# Tiles that go with one signal, of a message that gives each program as many chunks at least: in a shorter one the
# receiver would begin too late.
MOST_TILES, CHUNKS_OF_A_PROGRAM = 4, 2
# Columns of a tile of a matrix: as many bytes, so that a row of it is a whole number of cache lines.
ROW_BYTES = 128
# What hooks are called with.
HOOKS = {"produce": ("c",), "consume": ("c", "value")}


class Plan(NamedTuple):
    """How a message goes: as packets or not, programs in one direction, the elements and warps of a tile, and how many
    tiles go with one signal."""

    packets: bool
    programs: int
    tile: int
    tile_rows: int
    tile_cols: int
    warps: int
    group: int = 1


def plan(transport, peers, size, itemsize, rows, cols, blocks, packets=True):
    """The plan for `size` bytes, of `rows` rows and `cols` columns if it is a matrix; the same on both sides."""
    packets = packets and all(transport.link_kind(peer) is LinkKind.NODE for peer in peers)
    if packets and rows is None and size <= min(MAIL_BYTES, blocks * MAIL_WORDS * 8):
        words = next(words for most, words in WORDS if size <= most)
        while -(-size // (8 * words)) > blocks:
            words *= 2
        return Plan(True, -(-size // (8 * words)), words * 8 // itemsize, 0, 0, max(1, words // 32))
    tile = next((tile for most, tile in TILES if size <= most), LARGEST_TILE)
    tile = min(tile, transport.memory.ring // SLOTS, MOST_ELEMENTS * itemsize)
    warps = min(32, max(1, tile // (32 * BYTES_OF_A_THREAD)))
    elements = tile // itemsize
    group = group_of(size, tile, blocks, transport.memory.ring)
    if rows is None:
        return Plan(False, max(1, min(blocks, -(-size // tile))), elements, 0, 0, warps, group)
    across = min(elements, max(ROW_BYTES // itemsize, 1 << (elements.bit_length() - 1) // 2))
    across = min(across, 1 << max(cols - 1, 0).bit_length())
    down = elements // across
    tiles = -(-rows // down) * -(-cols // across)
    return Plan(False, max(1, min(blocks, tiles)), elements, down, across, warps, group)


def group_of(size, tile, blocks, ring):
    """How many tiles of this many bytes go with one signal: a power of two."""
    most = min(MOST_TILES, ring // (SLOTS * tile), size // (blocks * tile * CHUNKS_OF_A_PROGRAM))
    return 1 << max(most, 1).bit_length() - 1


class Message:
    """A tensor for a kernel: `memory` is `view` itself, which is the caller's `given`, or a copy of it."""

    def __init__(self, memory, view, given):
        self.memory, self.view, self.given, self.dtype = memory, view, given, memory.dtype

    def written(self):
        """The caller's tensor, with what was received."""
        if self.view is not self.memory:
            self.view.copy_(self.memory)
        return self.given

    def keep_apart(self, received):
        """Sends a copy where something is received into what is sent: into a tensor."""
        (first, end), (other, other_end) = _extent(self.memory), _extent(received)
        if first < other_end and other < end:
            self.memory = self.memory.clone()
            self.lay_out()


class Flat(Message):
    """A message whose elements lie one after the other."""

    def __init__(self, memory, view, given, parts=1):
        super().__init__(memory, view, given)
        self.parts = parts
        self.lay_out()

    def lay_out(self):
        self.tensor, self.rows, self.cols = self.memory, 1, 1
        self.count = self.apart = self.memory.numel() // self.parts
        self.row_stride = self.col_stride = 1


class Matrix(Message):
    """A message of rows and columns, with strides: `shape` says how many rows, and before them how many parts."""

    def __init__(self, memory, view, given, call, name, shape):
        super().__init__(memory, view, given)
        self.call, self.name, self.shape = call, name, shape
        self.lay_out()

    def lay_out(self):
        self.tensor = _matrices(self.call, self.memory, self.name, self.shape)
        self.rows, self.cols = self.tensor.shape[-2:]
        self.row_stride, self.col_stride = self.tensor.stride()[-2:]
        self.count = self.rows * self.cols
        # Of one part, the stride says nothing.
        self.apart = self.tensor.stride(0) if len(self.shape) > 1 and self.shape[0] > 1 else 0


def checked(call, tensor, name, device):
    """A view of a tensor that can be sent or received into, of elements that kernels have."""
    if not isinstance(tensor, torch().Tensor):
        raise ArgumentError(f"{call}: {name} must be a tensor, not {text_of(tensor)}")
    check_memory(call, tensor, name, device)
    if tensor.requires_grad and torch().is_grad_enabled():
        raise ArgumentError(f"{call}: {name} requires grad, and messages have no gradients: give {name}.detach()")
    # Booleans are bytes in memory.
    return tensor.view(torch().uint8) if tensor.dtype == torch().bool else tensor


def check_memory(call, tensor, name, device):
    """Raises ArgumentError or DtypeError for a tensor without memory that kernels on a device can take."""
    if tensor.device != device:
        said = f"{name} is on {tensor.device}, but the ranks' memory is on {device}"
        raise ArgumentError(f"{call}: {said}: move it there")
    if tensor.layout is not torch().strided or tensor.is_nested:
        found = "nested" if tensor.is_nested else tensor.layout
        raise ArgumentError(f"{call}: {name} must be strided, not {found}")
    if tensor._is_zerotensor():
        raise ArgumentError(f"{call}: {name} is zeros without memory: clone() it")
    element_size(call, tensor.dtype)


def extra_of(call, extra, device):
    """What hooks get as `c.extra`: tensors, and numbers that kernels have."""
    if not isinstance(extra, tuple):
        raise ArgumentError(f"{call}: extra must be a tuple of tensors and numbers, not {text_of(extra)}")
    return tuple(_for_hooks(call, each, f"extra[{i}]", device) for i, each in enumerate(extra))


def _for_hooks(call, value, name, device):
    if isinstance(value, torch().Tensor):
        check_memory(call, value, name, device)
        if value.is_neg():
            raise ArgumentError(f"{call}: {name} is the negative of what its memory holds: give {name}.resolve_neg()")
        return value
    # Booleans are integers: Triton's interpreter has none among the elements of a tuple.
    if isinstance(value, numbers.Integral):
        if not -(1 << 63) <= value < 1 << 64:
            raise ArgumentError(f"{call}: {name} must fit in 64 bits, but is {text_of(value)}")
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise ArgumentError(f"{call}: {name} must be a tensor or a number, not {text_of(value)}")


def part_of(call, tensor, name, device, rows, access):
    """A whole tensor as a message."""
    view = checked(call, tensor, name, device)
    memory = _memory_of(call, name, view, access, rows is None)
    return Flat(memory, view, tensor) if rows is None else Matrix(memory, view, tensor, call, name, (rows,))


def parts_of(call, tensor, name, device, ranks, rows, access):
    """A tensor as a message for each rank."""
    view = checked(call, tensor, name, device)
    if not view.ndim or view.shape[0] % ranks:
        shape = tuple(view.shape)
        raise ArgumentError(f"{call}: {name} of shape {shape} does not have {ranks} equal parts in its first dimension")
    memory = _memory_of(call, name, view, access, rows is None)
    if rows is None:
        return Flat(memory, view, tensor, ranks)
    return Matrix(memory, view, tensor, call, name, (ranks, rows))


class Access(enum.Enum):
    """What becomes of a tensor: it is read, all of it is written, or a hook does either."""

    READ = "read"
    WRITTEN = "written"
    BOTH = "both"


def _memory_of(call, name, view, access, flat):
    """A tensor that kernels can take, in one piece if it is to be flat: the view itself, or a copy of it."""
    if access is not Access.READ and any(size > 1 and not stride for size, stride in zip(view.shape, view.stride())):
        said = f"{name} of shape {tuple(view.shape)} has several elements at one place"
        raise ArgumentError(f"{call}: {said}: give a tensor that is not expanded")
    if not view.is_neg() and (view.is_contiguous() or not flat):
        return view
    if access is Access.WRITTEN:
        return torch().empty(view.shape, dtype=view.dtype, device=view.device)
    view = view.resolve_neg()
    return view.contiguous() if flat else view


def _extent(tensor):
    """The addresses that a tensor's elements lie between."""
    if not tensor.numel():
        return 0, 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.itemsize


def _matrices(call, tensor, name, shape):
    """A view of a tensor as matrices, of as many rows as asked for."""
    if tensor.ndim == len(shape) + 1 and tuple(tensor.shape[:-1]) == shape:
        return tensor
    count = math.prod(shape)
    if not tensor.is_contiguous() or count == 0 or tensor.numel() % count:
        wanted = ", ".join(map(str, shape))
        said = f"{name} of shape {tuple(tensor.shape)} is not a matrix of {shape[-1]} rows"
        raise ArgumentError(f"{call}: {said}: give a tensor of shape ({wanted}, columns), or one that is contiguous")
    return tensor.view(*shape, -1)


def check_hooks(call, produce=None, consume=None):
    """Raises ArgumentError for hooks that a call cannot have; each is None without one."""
    given = {name: each for name, each in (("produce", produce), ("consume", consume)) if each is not None}
    for name, function in given.items():
        if not isinstance(function, (JITFunction, InterpretedFunction)):
            said = f"{name} must be a function with @triton.jit or @gluon.jit, not {function!r}"
            raise ArgumentError(f"{call}: {said}")
        try:
            inspect.signature(function.fn).bind(*HOOKS[name])
        except TypeError:
            said = f"{name} must be a function of ({', '.join(HOOKS[name])}), not of {inspect.signature(function.fn)}"
            raise ArgumentError(f"{call}: {said}") from None
    gluon = [name for name, function in given.items() if is_gluon(function)]
    if gluon and knobs.runtime.interpret:
        raise ArgumentError(f"{call}: Triton's interpreter has no Gluon: give hooks with @triton.jit")
    if 0 < len(gluon) < len(given):
        [other] = given.keys() - gluon
        said = f"{gluon[0]} is Gluon's and {other} is Triton's, but one kernel calls both"
        raise ArgumentError(f"{call}: {said}: give both with @triton.jit, or both with @gluon.jit")


def is_gluon(function):
    """Whether a function has @gluon.jit."""
    if importlib.util.find_spec("triton.experimental.gluon") is None:
        return False
    from triton.experimental.gluon._runtime import GluonJITFunction

    return isinstance(function, GluonJITFunction)


def written_by(consume):
    """What becomes of a tensor that is received into: a hook may read what is there, and leave some of it."""
    return Access.WRITTEN if consume is None else Access.BOTH
