"""The host API: this rank's heap, torch tensors on it, and what all ranks do together."""

from __future__ import annotations

import atexit
import gc
import logging
import operator
import os
import pickle
import sys
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _symm
from ._memory import Memory, torch
from .errors import ArgumentError, HeapExhaustedError, NotSymmetricError, RankRangeError, SymmError, SymmWarning

if TYPE_CHECKING:
    from torch import Tensor
    from torch import device as Device
    from torch.cuda import Stream

HEAP_SIZE = 1 << 30
# What torch raises where it does not take an argument.
REFUSALS = (TypeError, ValueError, RuntimeError, OverflowError)
_current = None


def init(heap_size: int = HEAP_SIZE, device: str | Device | None = None, timeout: float | None = None) -> World:
    """Joins the run that torchrun, an MPI or Slurm has started, or one of a single rank. Collective.

    `heap_size` is in bytes, for each rank; symm takes the first 2 MiB. `device` is "cuda", "hip" or "cpu", as text or
    as torch's; by default the GPU, or the CPU under `TRITON_INTERPRET=1` and where torch finds no GPU; ranks use GPU
    number `rank` modulo their number, and a device with another number is an error. `timeout` is the longest time in seconds that a call may wait for other ranks.

    Returns the World. Raises ArgumentError, BootstrapError, DeviceError, MismatchError, or SymmError if there is a
    World already.
    """
    global _current
    if _current is not None:
        raise SymmError("symm.init was called before: a process is one rank of one run, until World.close()")
    _current = World(heap_size, device or _device(), timeout)
    return _current


def current(table):
    """The World that a kernel's context table is of, if it is of this process's."""
    return _current if _current is not None and list(table[2:]) == _current.get_heap_bases().tolist() else None


def num_ranks():
    """How many ranks there are in this process's World."""
    if _current is None:
        raise SymmError("there are no ranks: call symm.init, or symm.iris.iris, first")
    return _current.get_num_ranks()


def _device():
    if os.environ.get("TRITON_INTERPRET", "0") == "1":
        return "cpu"
    if torch().cuda.is_available():
        return "hip" if torch().version.hip else "cuda"
    message = "torch finds no GPU, so the heap is on the CPU: kernels run there with TRITON_INTERPRET=1 alone"
    warnings.warn(message, SymmWarning, stacklevel=3)
    return "cpu"


def _driver(device):
    """The driver for a device, and the number of the GPU, if it has one."""
    name, _, number = str(device).partition(":")
    if isinstance(device, torch().device) and name == "cuda" and torch().version.hip:
        name = "hip"  # Torch's name for a GPU of AMD's is cuda as well.
    return (name, int(number)) if number.isdecimal() else (f"{name}:{number}" if number else name, None)


def _gpu(rank, count, wanted):
    """The number of a rank's GPU, of as many as there are; `wanted` is what the caller says that it is."""
    number = rank % count
    if wanted not in (None, number):
        raise ArgumentError(f"symm.init: rank {rank} uses GPU {number} of {count}, not {wanted}: leave out the number")
    return number


def _place():
    """Where the user's code calls into this package."""
    frame, here = sys._getframe(1), str(Path(__file__).parent)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class World:
    """This process's rank, and tensors that every rank has at the same offset of its heap.

    What makes tensors is collective: every rank makes the same ones, of the same sizes, in the same order. Their values
    are each rank's own. The functions have the names, arguments and results of torch's. A tensor's memory is given
    back some time after the last tensor on it is gone on all ranks.

    They raise HeapExhaustedError where the heap has no room and MismatchError where ranks make different tensors. All
    that waits for other ranks raises RankFailedError when one of them has failed or does not come in time.

    `log` is a logger whose messages begin with the rank.
    """

    def __init__(self, heap_size: int, device: str | Device, timeout: float | None):
        if isinstance(heap_size, bool) or (isinstance(heap_size, int) and not 0 < heap_size < 2**63):
            raise ArgumentError(f"symm.init: heap_size must be a number of bytes, not {heap_size}")
        if isinstance(timeout, (int, float)) and timeout < 0:
            raise ArgumentError(f"symm.init: timeout must be a number of seconds, not {timeout}")
        driver, number = _driver(device)
        try:
            self.rank = _symm.join_run(heap_size, driver, timeout, _place())
        except (TypeError, ValueError, OverflowError) as error:
            raise ArgumentError(f"symm.init: {error}") from None
        self.device = torch().device("cpu")
        if driver != "cpu":
            number = _gpu(self.get_rank(), torch().cuda.device_count(), number)
            self.device = torch().device("cuda", number)
            torch().cuda.set_device(self.device)
        self.log = logging.LoggerAdapter(logging.getLogger("symm"), {})
        self.log.process = self._with_rank
        # Of allocations that no tensor of this rank is left on: their addresses.
        self._dropped = set()
        bases = self.rank.heap_bases
        self._bases = torch().tensor(bases, dtype=torch().int64)
        self._mine = bases[self.get_rank()]
        atexit.register(self._at_exit)

    def _with_rank(self, message, keywords):
        return f"[rank {self.get_rank()}/{self.get_num_ranks()}] {message}", keywords

    # Ranks.

    def get_rank(self) -> int:
        """The number of this rank, from 0."""
        return self.rank.rank

    def get_num_ranks(self) -> int:
        """How many ranks there are."""
        return self.rank.num_ranks

    def get_device(self) -> Device:
        """The torch device of this rank's tensors."""
        return self.device

    def get_cu_count(self) -> int:
        """How many multiprocessors (compute units) the device has; on the CPU, its cores."""
        if self.device.type == "cpu":
            return len(os.sched_getaffinity(0))
        return torch().cuda.get_device_properties(self.device).multi_processor_count

    def get_heap_bases(self) -> Tensor:
        """The address of each rank's heap in this process: int64, on the CPU."""
        return self._bases

    def get_device_context(self) -> Tensor:
        """The context table that kernels take: int64 [rank, num_ranks, base_0, …], on the device."""
        words = 2 + self.get_num_ranks()
        return Memory(self.rank.table, 8 * words, self).tensor(self.device, torch().int64, (words,))

    # Tensors.

    def empty(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.empty`; the memory is zero."""
        return self._shaped(self._model("empty", size, keywords), keywords)

    def zeros(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.zeros`."""
        return self._shaped(self._model("zeros", size, keywords), keywords)

    def ones(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.ones`."""
        return self._shaped(self._model("ones", size, keywords), keywords, lambda tensor: tensor.fill_(1))

    def full(self, size: Any, fill_value: Any, **keywords: Any) -> Tensor:
        """`torch.full`."""
        shaped = self._model("full", (size, fill_value), keywords)
        return self._shaped(shaped, keywords, lambda tensor: tensor.fill_(fill_value))

    def zeros_like(self, tensor: Tensor, **keywords: Any) -> Tensor:
        """`torch.zeros_like`; the tensor need not be on the heap."""
        return self._shaped(self._model("zeros_like", (tensor,), keywords), keywords)

    def arange(self, *range: Any, **keywords: Any) -> Tensor:
        """`torch.arange`."""
        return self._filled("arange", range, keywords)

    def linspace(self, *range: Any, **keywords: Any) -> Tensor:
        """`torch.linspace`."""
        return self._filled("linspace", range, keywords)

    def rand(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.rand`."""
        return self._filled("rand", size, keywords)

    def randn(self, *size: Any, **keywords: Any) -> Tensor:
        """`torch.randn`."""
        return self._filled("randn", size, keywords)

    def randint(self, *arguments: Any, **keywords: Any) -> Tensor:
        """`torch.randint`."""
        return self._filled("randint", arguments, keywords)

    def uniform(self, size: Any, low: float = 0.0, high: float = 1.0, **keywords: Any) -> Tensor:
        """Random numbers from `low` to below `high`, all as likely."""
        shaped = self._model("empty", (size,), keywords)
        if not shaped.dtype.is_floating_point or not low <= high:
            raise ArgumentError(f"uniform draws floats from low to high, not {shaped.dtype} from {low} to {high}")
        return self._shaped(shaped, keywords, lambda tensor: tensor.uniform_(low, high))

    def is_symmetric(self, tensor: Tensor) -> bool:
        """Whether a tensor lies on this rank's heap, so that every rank has its counterpart."""
        if not isinstance(tensor, torch().Tensor):
            raise ArgumentError(f"is_symmetric takes a tensor, not {tensor!r}")
        return tensor.device.type == self.device.type and self.rank.is_symmetric(_address(tensor))

    def as_remote(self, tensor: Tensor, rank: int) -> Tensor:
        """The counterpart of a tensor on a rank's heap, with the same shape and strides. It keeps the tensor alive.

        Raises NotSymmetricError for what is no tensor on the heap, RankRangeError, and ArgumentError for a rank that is
        no integer; all are ValueErrors.
        """
        rank = _integer(rank)
        if not isinstance(tensor, torch().Tensor) or not self.is_symmetric(tensor):
            raise NotSymmetricError("as_remote requires a tensor on the symmetric heap")
        if tensor.is_conj() or tensor.is_neg():
            message = "as_remote: torch conjugates or negates this view as it reads: make the view of the result"
            raise NotSymmetricError(message)
        if not 0 <= rank < self.get_num_ranks():
            raise RankRangeError(f"rank {rank} out of range [0, {self.get_num_ranks()})")
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        size = (last + 1) * tensor.element_size() if tensor.numel() else tensor.element_size()
        address = self.rank.as_remote(_address(tensor), rank, _place())
        memory = Memory(address, size, tensor)
        return memory.tensor(self.device, tensor.dtype, tensor.shape, tensor.stride())

    def _shaped(self, model, keywords, fill=None):
        """A tensor like a model, which has no memory."""
        count, shape, strides = max(model.numel(), 1), tuple(model.shape), tuple(model.stride())
        tensor = self._allocate(count * model.element_size()).tensor(self.device, model.dtype, shape, strides)
        try:
            if fill is not None:
                fill(tensor)
            return tensor.requires_grad_(keywords.get("requires_grad", False))
        except REFUSALS as error:
            raise ArgumentError(f"a tensor on the heap: {error}") from None

    def _model(self, name, arguments, keywords):
        """A tensor like the one that torch's function makes, without memory."""
        return self._made(name, arguments, {**keywords, "device": "meta", "requires_grad": False}, keywords)

    def _made(self, name, arguments, used, keywords):
        """What torch's function makes of the keywords used instead of the user's."""
        if keywords.get("out") is not None:
            raise ArgumentError(f"{name} makes a new tensor on the heap: leave out `out`")
        if keywords.get("layout") not in (None, getattr(torch(), "strided", None)):
            raise ArgumentError(f"{name}: tensors on the heap are strided, not {keywords['layout']}: leave out layout")
        try:
            wanted = torch().device(keywords.get("device") or self.device)
            made = getattr(torch(), name)(*arguments, **used)
        except REFUSALS as error:
            raise ArgumentError(f"World.{name}: {error}") from None
        if getattr(made, "layout", None) != getattr(torch(), "strided", None):
            raise ArgumentError(f"{name}: tensors on the heap are strided, and this one would be {made.layout}")
        if wanted.type != self.device.type or (wanted.type != "cpu" and wanted.index not in (None, self.device.index)):
            raise ArgumentError(f"the symmetric heap is on {self.device}, not on {wanted}: leave out device")
        return made

    def _filled(self, name, arguments, keywords):
        """What a function of torch's makes, on the heap."""
        local = {**keywords, "device": self.device, "requires_grad": False}
        values = self._made(name, arguments, local, keywords)
        return self._shaped(values, keywords, lambda tensor: tensor.copy_(values))

    def _allocate(self, size):
        place = _place()
        try:
            address = self.rank.alloc(size, 0, place)
        except HeapExhaustedError:
            # All ranks are here: allocations fail on all alike.
            if not self._free_dropped(place):
                raise
            address = self.rank.alloc(size, 0, place)
        memory = Memory(address, size)
        weakref.finalize(memory, self._dropped.add, address).atexit = False
        return memory

    def _free_dropped(self, place):
        """Frees what no rank has a tensor on any more; whether there was such."""
        gc.collect()
        self._synchronize()
        mine = sorted(address - self._mine for address in tuple(self._dropped))
        shared = set.intersection(*(set(self.broadcast(mine, rank)) for rank in range(self.get_num_ranks())))
        for offset in sorted(shared):
            self.rank.free(self._mine + offset, place)
            self._dropped.discard(self._mine + offset)
        return bool(shared)

    # All ranks together.

    def barrier(self, stream: Stream | None = None) -> None:
        """Waits on the host until every rank is here and its GPU, or `stream` alone, has done what it was given."""
        if stream is not None and not hasattr(stream, "synchronize"):
            raise ArgumentError(f"stream must be one of torch's, not {stream!r}")
        if stream is None:
            self._synchronize()
        else:
            stream.synchronize()
        self.rank.barrier(_place())

    def device_barrier(self, stream: Stream | None = None) -> None:
        """Waits on the device: what a stream is given after it sees what every rank's stream did before it.

        `stream` is torch's current one by default. It can be captured in a CUDA graph. Each rank calls it as often.
        """
        if stream is not None and not hasattr(stream, "cuda_stream"):
            raise ArgumentError(f"stream must be one of torch's, not {stream!r}")
        handle = 0
        if self.device.type != "cpu":
            handle = (stream or torch().cuda.current_stream(self.device)).cuda_stream
        self.rank.stream_barrier(handle, _place())

    def broadcast(self, value: Any, source: int = 0) -> Any:
        """The value that rank `source` has: a tensor, or what can be pickled. Collective."""
        source = _integer(source)
        if not 0 <= source < self.get_num_ranks():
            raise RankRangeError(f"rank {source} out of range [0, {self.get_num_ranks()})")
        tensor = isinstance(value, torch().Tensor)
        packed, refused = b"", f"broadcast: what rank {source} has cannot be pickled"
        if self.get_rank() == source:
            try:
                packed = pickle.dumps(value.cpu() if tensor else value)
            except Exception as error:
                refused += f": {error}"
        # Every pickle has bytes.
        size = int.from_bytes(self.rank.broadcast(source, len(packed).to_bytes(8, "little"), _place()), "little")
        if size == 0:
            raise ArgumentError(refused)
        value = pickle.loads(self.rank.broadcast(source, packed.ljust(size, b"\0"), _place()))
        return value.to(self.device) if isinstance(value, torch().Tensor) else value

    def close(self) -> None:
        """Leaves the run when all ranks have come to do so; tensors on the heap are not to be used after it."""
        global _current
        if _current is self:
            self._synchronize()
            _current = None
            self.rank.leave(_place())

    def _synchronize(self):
        if self.device.type != "cpu":
            torch().cuda.synchronize(self.device)

    def check(self) -> None:
        """An error when another rank has failed."""
        self.rank.check(_place())

    def check_symmetric(self, addresses, rank, every=True):
        """An error for an address in a kernel that is not on a rank's heap; if not for `every` one, for all of them."""
        first = self.rank.heap_bases[rank]
        end = first + self.rank.heap_size
        outside = addresses[(addresses < first) | (addresses >= end)]
        if outside.size and (every or outside.size == addresses.size):
            raise NotSymmetricError(f"{int(outside.flat[0]):#x} is not on the symmetric heap of rank {rank}")

    def _at_exit(self):
        # A rank that ends by an exception does not wait for the others: they are told.
        if not hasattr(sys, "last_value"):
            self.close()


def _integer(rank):
    try:
        return operator.index(rank)
    except TypeError:
        raise ArgumentError(f"rank must be an integer, not {rank!r}") from None


def _address(tensor):
    """Where a tensor lies: torch gives none of one without elements, and nothing has one that is not strided."""
    try:
        return tensor.data_ptr() if tensor.numel() else tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0
