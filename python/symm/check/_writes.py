"""What a host writes to its tensors itself, also where the bytes stay what they were."""

from __future__ import annotations

import contextlib
import ctypes

import numpy as np

# Methods of torch's tensors that write all of the tensor, or of the part that the index says.
WRITING = ("zero_", "fill_", "copy_", "__setitem__")


def noted(task):
    """Within it, such writes of the calling thread are noted in `task.written`."""
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        # Tests have stand-ins for torch, and a kernel may need none.
        return contextlib.nullcontext()

    class Noting(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            name = getattr(function, "__name__", None)
            if name in WRITING and args and isinstance(args[0], torch.Tensor):
                part = args[0][args[1]] if name == "__setitem__" else args[0]
                with contextlib.suppress(RuntimeError):
                    # A tensor without memory of its own has no address.
                    if is_in(task.heaps(), start := part.data_ptr()):
                        task.written[start, tuple(part.shape), part.stride(), part.element_size()] = None
            return result

    return Noting()


def is_in(heaps, address):
    return any(base <= address < base + size for base, size in heaps)


def elements(start, shape, strides, width):
    """The addresses of a tensor's elements, and how many bytes each has; a complex number is two."""
    offsets = np.zeros(1, dtype=np.int64)
    for size, stride in zip(shape, strides):
        offsets = (offsets[:, None] + np.arange(size, dtype=np.int64) * stride).ravel()
    addresses = start + offsets * width
    return (np.concatenate([addresses, addresses + 8]), 8) if width == 16 else (addresses, width)


def ops(written):
    """Writes of what is noted, with what is there now."""
    said = []
    for addresses, width in (elements(*each) for each in written):
        if len(addresses):
            said.append(("write", addresses.tobytes(), None, width, bytes_at(addresses, width)))
    return said


def bytes_at(addresses, width):
    """The bytes of elements, which are in memory of this process."""
    start, end = int(addresses.min()), int(addresses.max()) + width
    there = np.frombuffer((ctypes.c_char * (end - start)).from_address(start), dtype=np.uint8)
    return there[(addresses - start)[:, None] + np.arange(width)].tobytes()
