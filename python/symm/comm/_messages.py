"""Messages of the host: what a tensor is for a kernel, and how it is cut into tiles."""

from __future__ import annotations

import math
from typing import NamedTuple

from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from .._memory import torch
from ..errors import ArgumentError
from .transport import MAIL_WORDS, LinkKind, element_size

# Messages of up to so many bytes are packets. A program sends so many words of 8 bytes of messages of up to so many.
MAIL_BYTES = 128 << 10
WORDS = ((1 << 10, 128), (64 << 10, 256), (MAIL_BYTES, MAIL_WORDS))
# Bytes of a tile for messages of up to so many bytes, and the most elements it may have.
TILES = ((64 << 10, 4 << 10), (256 << 10, 8 << 10), (1 << 20, 32 << 10))
LARGEST_TILE, MOST_ELEMENTS = 64 << 10, 32 << 10
BYTES_OF_A_THREAD = 64
# A ring holds as many tiles at least: who sends and receives in turn puts a second tile before the first one is taken,
# and the tiles of the call before may end just before a whole tile.
SLOTS = 4
# Columns of a tile of a matrix: as many bytes, so that a row of it is a whole number of cache lines.
ROW_BYTES = 128


class Plan(NamedTuple):
    """How a message goes: as packets or not, programs in one direction, and the elements and warps of a tile."""

    packets: bool
    programs: int
    tile: int
    tile_rows: int
    tile_cols: int
    warps: int


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
    if rows is None:
        return Plan(False, max(1, min(blocks, -(-size // tile))), elements, 0, 0, warps)
    across = min(elements, max(ROW_BYTES // itemsize, 1 << (elements.bit_length() - 1) // 2))
    across = min(across, 1 << max(cols - 1, 0).bit_length())
    down = elements // across
    tiles = -(-rows // down) * -(-cols // across)
    return Plan(False, max(1, min(blocks, tiles)), elements, down, across, warps)


class Flat:
    """A message whose elements lie one after the other."""

    def __init__(self, tensor, view, given, parts=1):
        self.tensor, self.view, self.given, self.dtype = tensor, view, given, tensor.dtype
        self.count, self.rows, self.cols = tensor.numel() // parts, 1, 1
        self.row_stride = self.col_stride = 1
        self.apart = self.count

    def written(self):
        """The caller's tensor, with what was received."""
        if self.view is not self.tensor:
            self.view.copy_(self.tensor)
        return self.given


class Matrix:
    """A message of rows and columns, with strides."""

    def __init__(self, tensor, given, apart=0):
        self.tensor, self.given, self.dtype, self.apart = tensor, given, tensor.dtype, apart
        self.rows, self.cols = tensor.shape[-2:]
        self.row_stride, self.col_stride = tensor.stride()[-2:]
        self.count = self.rows * self.cols

    def written(self):
        return self.given


def checked(call, tensor, name, device):
    """A tensor that kernels can read, of elements that they have."""
    if not isinstance(tensor, torch().Tensor):
        raise ArgumentError(f"{call}: {name} must be a tensor, not {tensor!r}")
    if tensor.device != device:
        said = f"{name} is on {tensor.device}, but the ranks' memory is on {device}"
        raise ArgumentError(f"{call}: {said}: move it there")
    if tensor.layout is not torch().strided:
        raise ArgumentError(f"{call}: {name} must be strided, not {tensor.layout}")
    if tensor.requires_grad and torch().is_grad_enabled():
        raise ArgumentError(f"{call}: {name} requires grad, and messages have no gradients: give {name}.detach()")
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    element_size(call, tensor.dtype)
    # Booleans are bytes in memory.
    return tensor.view(torch().uint8) if tensor.dtype == torch().bool else tensor


def part_of(call, tensor, name, device, rows, written):
    """A whole tensor as a message."""
    view = checked(call, tensor, name, device)
    if rows is None:
        return Flat(_one_piece(view, written), view, tensor)
    return Matrix(_matrices(call, view, name, (rows,)), tensor)


def parts_of(call, tensor, name, device, ranks, rows, written):
    """A tensor as a message for each rank."""
    view = checked(call, tensor, name, device)
    if not view.ndim or view.shape[0] % ranks:
        shape = tuple(view.shape)
        raise ArgumentError(f"{call}: {name} of shape {shape} has not {ranks} equal parts along its first dimension")
    if rows is None:
        return Flat(_one_piece(view, written), view, tensor, ranks)
    view = _matrices(call, view, name, (ranks, rows))
    return Matrix(view, tensor, view.stride(0) if ranks > 1 else 0)


def _one_piece(tensor, written):
    if tensor.is_contiguous():
        return tensor
    return torch().empty(tensor.shape, dtype=tensor.dtype, device=tensor.device) if written else tensor.contiguous()


def _matrices(call, tensor, name, shape):
    """A view of a tensor as matrices, of as many rows as asked for."""
    if tensor.ndim == len(shape) + 1 and tuple(tensor.shape[:-1]) == shape:
        return tensor
    count = math.prod(shape)
    if not tensor.is_contiguous() or count == 0 or tensor.numel() % count:
        wanted = ", ".join(map(str, shape))
        said = f"{name} of shape {tuple(tensor.shape)} is no matrix of {shape[-1]} rows"
        raise ArgumentError(f"{call}: {said}: give a tensor of shape ({wanted}, columns), or one that is contiguous")
    return tensor.view(*shape, -1)


def hook(call, function, name):
    """A hook, checked: it is None without one."""
    if function is not None and not isinstance(function, (JITFunction, InterpretedFunction)):
        said = f"{name} must be a function with @triton.jit or @gluon.jit, not {function!r}"
        raise ArgumentError(f"{call}: {said}")
    return function
