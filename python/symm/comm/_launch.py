"""Launches of kernels on addresses, with as little work on the host as Triton allows.

Triton's own launch looks at every argument again. Here the caller says what a compiled kernel depends on; a launch of
one that is there costs a few microseconds.
"""

import ctypes

from triton import knobs
from triton.runtime import driver

from .._memory import torch


class Pointer:
    """An address, for Triton's compiler: what it points to, and how it is aligned."""

    def __init__(self, address, dtype):
        self.address, self.dtype = address, dtype

    def data_ptr(self):
        return self.address


def tensor_at(address, dtype, size=8):
    """A tensor for Triton's interpreter, which takes no addresses."""
    if not address:
        # Of a tensor without elements.
        return torch().empty(1, dtype=dtype)
    memory = (ctypes.c_uint8 * size).from_address(address)
    return torch().frombuffer(memory, dtype=torch().uint8).view(dtype)


class Launch:
    """A kernel with its constants and its grid: called with a stream and what is different from call to call.

    `types` are those of the leading arguments that are addresses; what follows are integers. All addresses of one
    Launch are aligned alike, to 16 bytes or not.
    """

    def __init__(self, kernel, programs, warps, types, constants):
        self.kernel, self.grid, self.warps = kernel, (programs, 1, 1), warps
        self.types, self.constants = types, tuple(constants.values())
        self.launch = self._interpreted if knobs.runtime.interpret else self._first

    def _interpreted(self, stream, *arguments):
        tensors = [tensor_at(at, kind) for at, kind in zip(arguments, self.types, strict=False)]
        self.kernel[self.grid](*tensors, *arguments[len(tensors) :], *self.constants)

    def _first(self, stream, *arguments):
        """Compiles the kernel, or takes it from Triton's cache."""
        pointers = [Pointer(at, kind) for at, kind in zip(arguments, self.types, strict=False)]
        numbers = arguments[len(pointers) :]
        compiled = self.kernel.warmup(
            *pointers, *numbers, *self.constants, grid=self.grid, num_warps=self.warps, num_stages=1
        )
        runner, constants = compiled[self.grid], self.constants
        self.launch = lambda stream, *arguments: runner(*arguments, *constants, stream=stream)
        self.launch(stream, *arguments)


def current_stream(device):
    """The handle of torch's current stream; 0 on the CPU."""
    return 0 if device.type == "cpu" else driver.active.get_current_stream(device.index)
