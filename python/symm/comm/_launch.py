"""Launches of kernels on addresses, with as little work on the host as Triton allows.

Triton's own launch looks at every argument again. Here the caller says what a compiled kernel depends on; a launch of
one that is there costs a few microseconds.
"""

import contextlib
import ctypes

from triton import knobs
from triton.runtime import driver

from .. import _host_kernels
from .._memory import torch
from .._switches import of_launch
from ..errors import EngineError, SymmError


# Around the calls on GPUs, where each microsecond counts: `Deadline` knows the names of those.
NOTHING = contextlib.nullcontext()


def called(call, device):
    """Around launches of interpreted kernels for a call: their errors, and reports of deadlocks, name it."""
    return _host_kernels.called(f"symm.comm.{call}") if device.type == "cpu" else NOTHING


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

    `types` are those of the leading arguments that are addresses; what follows are integers. Addresses are multiples of
    16, but for those at the places in `loose`: the kernel is compiled once for all of them. It is compiled for any
    integers; with `numbers`, for integers like these: 1, multiples of 16, of 64 bits.
    """

    def __init__(self, kernel, programs, warps, types, constants, loose=(), numbers=None):
        self.kernel, self.grid, self.warps = kernel, (programs, 1, 1), warps
        self.types, self.constants, self.loose, self.numbers = types, tuple(constants.values()), loose, numbers
        self.launch = self._interpreted if knobs.runtime.interpret else self._first

    def _interpreted(self, stream, *arguments):
        tensors = [tensor_at(at, kind) for at, kind in zip(arguments, self.types, strict=False)]
        self.kernel[self.grid](*tensors, *arguments[len(tensors) :], *self.constants)

    def compile(self):
        """The compiled kernel, from Triton's cache if it is there."""
        addresses = [Pointer(8 if i in self.loose else 16, kind) for i, kind in enumerate(self.types)]
        numbers = self.numbers
        if numbers is None:
            numbers = [2] * (len(self.kernel.arg_names) - len(addresses) - len(self.constants))
        return self.kernel.warmup(
            *addresses, *numbers, *self.constants, grid=self.grid, num_warps=self.warps, num_stages=1
        )

    def _first(self, stream, *arguments):
        """Compiles the kernel; later launches begin with it, unless the compiler's switches are other ones then."""
        try:
            self.launch = launcher(self.compile(), self.grid, self.constants, self._first)
        except (RuntimeError, EngineError) as error:
            # What the driver or the engine says of a module that it does not load now.
            if not torch().cuda.is_current_stream_capturing():
                raise
            message = "a kernel cannot be loaded while a graph is captured: make the same call once before the capture"
            raise SymmError(f"symm.comm: {message}: {error}") from error
        self.launch(stream, *arguments)


def launcher(compiled, grid, constants, again):
    """What launches a compiled kernel: a function of a stream and arguments; `again` is one that compiles it first."""
    runner, runtime, switches = compiled[grid], knobs.runtime, of_launch()
    run, function, metadata = compiled.run, compiled.function, compiled.packed_metadata
    # Triton's runner describes each launch for hooks, of which there are none but under a profiler.
    calls = [getattr(hook, "calls", None) for hook in (runtime.launch_enter_hook, runtime.launch_exit_hook)]
    entering, leaving = calls

    def launch(stream, *arguments):
        if of_launch() != switches:
            again(stream, *arguments)
        elif entering is None or leaving is None or entering or leaving:
            runner(*arguments, *constants, stream=stream)
        else:
            run(*grid, stream, function, metadata, None, None, None, *arguments, *constants)

    return launch


class StreamOrder:
    """Calls that use the same memory are done in their order, on whatever streams.

    The host does not know when a graph is replayed: what is captured is ordered by who replays it.
    """

    def __init__(self, device):
        self.device, self.last = device, None

    def follow(self, stream):
        """What a stream is given from now on is done after what the last one was given."""
        if stream == self.last:
            return
        if self.device.type != "cpu":
            cuda = torch().cuda
            if cuda.is_current_stream_capturing():
                return
            if self.last is not None:
                earlier = cuda.ExternalStream(self.last, device=self.device)
                cuda.ExternalStream(stream, device=self.device).wait_stream(earlier)
        self.last = stream


def current_stream(device):
    """The handle of torch's current stream; 0 on the CPU."""
    return 0 if device.type == "cpu" else driver.active.get_current_stream(device.index)
