"""Torch tensors in memory that torch has not allocated, without a copy."""

import ctypes
import functools
import operator
import sys

from .errors import ArgumentError, DeviceError, MissingDependencyError


# Of a list with tensors in it.
MOST_SHOWN = 4
# Of an integer that is shown in digits.
MOST_BITS = 256


def torch():
    """Torch, which the host API needs."""
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError("symm.init needs PyTorch, which is not installed: pip install torch") from error
    return torch


def text_of(value):
    """What the user has given, for messages; of a tensor what it is, and what is in it only if that is one number."""
    module = sys.modules.get("torch")
    is_tensor = module is not None and isinstance(value, module.Tensor)
    if is_tensor and (value.device.type != "cpu" or value.numel() > 1):
        return f"a tensor of {value.dtype}, {tuple(value.shape)}, on {value.device}"
    if type(value) in (list, tuple) and any(text_of(each) != repr(each) for each in value[:MOST_SHOWN]):
        more = ", …" if len(value) > MOST_SHOWN else ""
        return f"a {type(value).__name__} of {', '.join(map(text_of, value[:MOST_SHOWN]))}{more}"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def integer(value):
    """The integer that a value of Python, numpy or torch is; None where it is none, or a boolean."""
    # Torch makes an index of its booleans.
    if isinstance(value, bool) or getattr(value, "dtype", None) == torch().bool:
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def integer_of(value, name):
    """Likewise; raises ArgumentError where it is none. `name` is what the call and its argument are called."""
    number = integer(value)
    if number is None:
        raise ArgumentError(f"{name} must be an integer, not {text_of(value)}")
    return number


class Memory:
    """Bytes at an address, as numpy and torch take them in; alive as long as an array or tensor of them."""

    def __init__(self, address, size, owner=None):
        self.address = address
        self.size = size
        # What has to live as long.
        self.owner = owner
        self._interface = {"shape": (size,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 3}

    @property
    def __cuda_array_interface__(self):
        return self._interface

    def tensor(self, device, dtype, shape, strides=None):
        """A tensor of these bytes; strides in elements, those of a contiguous tensor without them."""
        if device.type == "cpu":
            array = (ctypes.c_uint8 * self.size).from_address(self.address)
            array.memory = self
            data = torch().frombuffer(array, dtype=torch().uint8)
        else:
            data = torch().as_tensor(self, device=device)
            if data.data_ptr() != self.address:
                # Older versions copy what is on another GPU, as a peer's heap is.
                version = torch().__version__
                raise DeviceError(f"torch {version} copies a peer's memory instead of using it: update torch")
        data = data.view(dtype)
        if strides is not None:
            return data.as_strided(shape, strides)
        return data[: functools.reduce(operator.mul, shape, 1)].view(shape)
