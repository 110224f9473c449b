"""What Iris says of the machine."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from .._memory import Memory, torch
from ..errors import UnsupportedError

if TYPE_CHECKING:
    from torch import Tensor


def is_simulation_env() -> bool:
    """Whether `IRIS_SIMULATION` is "1", "true" or "yes": Iris' simulators. It changes nothing here."""
    return os.environ.get("IRIS_SIMULATION", "").strip().lower() in ("1", "true", "yes")


def get_device_id_for_rank(local_rank: int) -> int:
    """The number of the GPU of a rank on this host: ranks share GPUs where there are fewer; 0 without GPUs."""
    cuda = torch().cuda
    return local_rank % cuda.device_count() if cuda.is_available() else 0


def tensor_from_ptr(
    ptr: int, size_bytes: int, dtype: Any = None, device: Any = "cuda", shape: tuple[int, ...] | None = None
) -> Tensor:
    """A tensor of memory at an address, without a copy: float32 by default, and one-dimensional without `shape`.

    The memory is the caller's to keep. On the CPU, without a GPU, "cuda" is the CPU too.
    """
    dtype = dtype or torch().float32
    size = torch().empty(0, dtype=dtype).element_size()
    shape = (size_bytes // size,) if shape is None else tuple(shape)
    if math.prod(shape) * size > size_bytes:
        raise UnsupportedError(f"tensor_from_ptr: {shape} of {dtype} takes more than {size_bytes} bytes")
    place = torch().device(device)
    if place.type == "cuda" and not torch().cuda.is_available():
        place = torch().device("cpu")
    if math.prod(shape) == 0:
        return torch().empty(shape, dtype=dtype, device=place)
    return Memory(ptr, math.prod(shape) * size).tensor(place, dtype, shape)
