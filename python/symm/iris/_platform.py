"""What Iris says of the machine."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from .._memory import Memory, integer, text_of, torch
from ..errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    from torch import Tensor


def is_simulation_env() -> bool:
    """Whether `IRIS_SIMULATION` is "1", "true" or "yes": Iris' simulators. It changes nothing here."""
    return os.environ.get("IRIS_SIMULATION", "").strip().lower() in ("1", "true", "yes")


def get_device_id_for_rank(local_rank: int) -> int:
    """The number of the GPU of a rank on this host: ranks share GPUs where there are fewer; 0 without GPUs."""
    if integer(local_rank) is None or integer(local_rank) < 0:
        said = text_of(local_rank)
        raise ArgumentError(f"get_device_id_for_rank: local_rank must be the number of a rank, not {said}")
    cuda = torch().cuda
    return local_rank % cuda.device_count() if cuda.is_available() else 0


def tensor_from_ptr(
    ptr: int, size_bytes: int, dtype: Any = None, device: Any = "cuda", shape: tuple[int, ...] | None = None
) -> Tensor:
    """A tensor of memory at an address, without a copy: float32 by default, and one-dimensional without `shape`.

    The memory is the caller's to keep. On the CPU, without a GPU, "cuda" is the CPU too.
    """
    dtype = dtype or torch().float32
    address, size_bytes = _natural("ptr", ptr), _natural("size_bytes", size_bytes)
    if not isinstance(dtype, torch().dtype):
        raise ArgumentError(f"tensor_from_ptr: dtype must be a dtype of torch, not {text_of(dtype)}")
    size = torch().empty(0, dtype=dtype).element_size()
    shape = (size_bytes // size,) if shape is None else _shape(shape)
    if address == 0 and math.prod(shape):
        raise ArgumentError("tensor_from_ptr: ptr must be the address of memory, not 0")
    if math.prod(shape) * size > size_bytes:
        raise UnsupportedError(f"tensor_from_ptr: {shape} of {dtype} takes more than {size_bytes} bytes")
    try:
        place = torch().device(device)
    except (TypeError, ValueError, RuntimeError):
        raise ArgumentError(f"tensor_from_ptr: device must be a device of torch, not {text_of(device)}") from None
    if place.type == "cuda" and not torch().cuda.is_available():
        place = torch().device("cpu")
    if math.prod(shape) == 0:
        return torch().empty(shape, dtype=dtype, device=place)
    return Memory(address, math.prod(shape) * size).tensor(place, dtype, shape)


def _natural(name, value):
    number = integer(value)
    if number is None or number < 0:
        raise ArgumentError(f"tensor_from_ptr: {name} must be an integer from 0, not {text_of(value)}")
    return number


def _shape(shape):
    """A shape that the caller has given."""
    try:
        sizes = (shape,) if integer(shape) is not None else tuple(shape)
    except TypeError:
        sizes = (None,)
    if isinstance(shape, str) or not all(integer(size) is not None and integer(size) >= 0 for size in sizes):
        raise ArgumentError(f"tensor_from_ptr: shape must be sizes from 0, not {text_of(shape)}")
    return tuple(map(integer, sizes))
