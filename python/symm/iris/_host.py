"""Iris' host API: one World, with Iris' names."""

from __future__ import annotations

import contextlib
import gc
import logging
import types
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _world
from .._memory import integer, text_of, torch
from .._places import rank_in
from .._symm import RESERVED_BYTES
from .._team import Team
from ..errors import ArgumentError, RankFailedError, UnsupportedError
from ._left_out import OF_A_HEAP, OF_AN_IRIS, missing
from ._logging import logger

if TYPE_CHECKING:
    from numpy import ndarray
    from torch import Tensor
    from torch import device as Device
    from torch.cuda import Stream

    from .ccl import CCL

HEADER_WORDS = 2
# How much of the heap barriers of torch's groups take.
MEETINGS = 4096


def iris(heap_size: int = 1 << 30, allocator_type: str = "torch", copy_engine: None = None) -> Iris:
    """Joins the ranks of torch.distributed, or else of the launcher, and returns this rank's `Iris`. Collective.

    `heap_size` is in bytes, for each rank. `allocator_type` is Iris', and has no effect; `copy_engine` has to be None.
    """
    return Iris(heap_size, allocator_type, copy_engine)


class Heap(types.SimpleNamespace):
    """The `heap` of an `Iris`: its `heap_bases`."""

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise missing(name, OF_A_HEAP, "the heap of an Iris")


class Iris:
    """This process's rank, and tensors that every rank has at the same offset of its heap.

    Functions that make tensors are collective, and have the names, arguments and results of torch's. With `out`, a
    tensor on the heap, they fill that one.
    """

    # Those made so far, which may be gone, and their Worlds.
    _made = []

    def __init__(self, heap_size: int = 1 << 30, allocator_type: str = "torch", copy_engine: None = None):
        if copy_engine is not None:
            raise UnsupportedError(f"symm.iris has no copy engines: leave out copy_engine={text_of(copy_engine)}")
        heap_size = _bytes_of(heap_size)
        _close_gone()
        self.world = _world.init(heap_size + RESERVED_BYTES + MEETINGS)
        self.world.called = "Iris"
        # Programs for Iris may fill tensors in different ways on different ranks.
        self.world.compares_functions = False
        self._ccl = None
        self._met = self.world.zeros(2 * self.world.get_num_ranks(), dtype=torch().int64)
        Iris._made.append((weakref.ref(self), self.world))
        self.cur_rank = self.world.get_rank()
        self.num_ranks = self.world.get_num_ranks()
        self.heap_size = heap_size
        self.gpu_id = self.get_device().index or 0
        self.device = str(self.get_device())
        self.heap_bases = self.get_heap_bases()

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise missing(name, OF_AN_IRIS, "an Iris")

    def __repr__(self) -> str:
        ranks = f"cur_rank={self.cur_rank}, num_ranks={self.num_ranks}"
        return f"Iris({ranks}, heap_size={self.heap_size}, device={self.device!r})"

    @property
    def heap(self) -> Heap:
        """What newer versions of Iris have their heap bases in: `heap.heap_bases`, those of `get_heap_bases`."""
        return Heap(heap_bases=self.heap_bases)

    # Ranks.

    def get_rank(self) -> int:
        """The number of this rank, from 0."""
        return self.cur_rank

    def get_num_ranks(self) -> int:
        """The number of ranks."""
        return self.num_ranks

    def get_device(self) -> Device:
        """The torch device of this rank's tensors."""
        return self.world.get_device()

    def get_device_id(self) -> int:
        """The number of the rank's GPU."""
        return self.gpu_id

    def get_cu_count(self) -> int:
        """The number of compute units (multiprocessors) of the device; on the CPU, of its cores."""
        return self.world.get_cu_count()

    def get_heap_bases(self) -> Tensor:
        """The address of each rank's heap, for kernels: uint64, on the device. It is a part of the context."""
        return self.get_device_context()[HEADER_WORDS:].view(torch().uint64)

    def get_device_context(self) -> Tensor:
        """What the contexts of kernels are made from: int64 [rank, num_ranks, base_0, …], on the device."""
        return self.world.get_device_context()

    def get_backend(self) -> Tensor:
        """`get_device_context`, as early versions of Iris call it for Gluon."""
        return self.get_device_context()

    def get_copy_engine_ctx(self) -> None:
        """Iris' handle of its copy engines, which is None without them."""
        return None

    @property
    def ccl(self) -> CCL:
        """Collectives: `all_reduce`, `all_gather`, `reduce_scatter` and `all_to_all`."""
        if self._ccl is None:
            # It needs all of symm.comm.
            from .ccl import CCL

            self._ccl = CCL(self.world)
        return self._ccl

    # Messages.

    def debug(self, message: str) -> None:
        """Writes a message of the level `iris.DEBUG`, with the rank."""
        self._log(logging.DEBUG, message)

    def info(self, message: str) -> None:
        """Writes a message of the level `iris.INFO`, with the rank."""
        self._log(logging.INFO, message)

    def warning(self, message: str) -> None:
        """Writes a message of the level `iris.WARNING`, with the rank."""
        self._log(logging.WARNING, message)

    def error(self, message: str) -> None:
        """Writes a message of the level `iris.ERROR`, with the rank."""
        self._log(logging.ERROR, message)

    def _log(self, level, message):
        logger.log(level, "[%d/%d] %s", self.cur_rank, self.num_ranks, message)

    # Tensors.

    def zeros(self, *size: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.zeros`."""
        return self._make("zeros", size, out, keywords)

    def ones(self, *size: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.ones`."""
        return self._make("ones", size, out, keywords)

    def full(self, size: Any, fill_value: Any, *, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.full`."""
        return self._make("full", (size, fill_value), out, keywords)

    def empty(self, *size: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.empty`; the memory is zero."""
        return self._make("empty", size, out, keywords)

    def zeros_like(self, input: Tensor, **keywords: Any) -> Tensor:
        """`torch.zeros_like`; the tensor need not be on the heap."""
        return self._make("zeros_like", (input,), None, keywords)

    def arange(self, *range: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.arange`."""
        return self._make("arange", range, out, keywords)

    def linspace(self, start: Any, end: Any, steps: int, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.linspace`."""
        return self._make("linspace", (start, end, steps), out, keywords)

    def rand(self, *size: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.rand`."""
        return self._make("rand", size, out, keywords)

    def randn(self, *size: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.randn`."""
        return self._make("randn", size, out, keywords)

    def randint(self, *arguments: Any, out: Tensor | None = None, **keywords: Any) -> Tensor:
        """`torch.randint`."""
        return self._make("randint", arguments, out, keywords)

    def uniform(self, size: Any, low: float = 0.0, high: float = 1.0, dtype: Any = None) -> Tensor:
        """Uniform random numbers in [`low`, `high`); float32 by default."""
        return self.world.uniform(size, low, high, dtype=dtype or torch().float32)

    def allocate_symmetric(self, *size: Any, dtype: Any = None) -> tuple[Tensor, Tensor]:
        """A tensor like `empty`'s, and the address of each rank's counterpart in this process (int64,
        on the device).
        """
        keywords = {} if dtype is None else {"dtype": dtype}
        shaped = self.world._model("empty", size, keywords, "allocate_symmetric")
        tensor = self.world._shaped("empty", shaped, {})
        offset = tensor.data_ptr() - self.world.bases[self.cur_rank]
        addresses = torch().tensor([base + offset for base in self.world.bases], dtype=torch().int64)
        return tensor, addresses.to(self.get_device())

    def as_symmetric(self, external_tensor: Tensor) -> Tensor:
        """A copy of a tensor on the heap, contiguous, as with Iris' usual allocator: neither changes with the other."""
        if not isinstance(external_tensor, torch().Tensor):
            said = text_of(external_tensor)
            raise UnsupportedError(f"Iris.as_symmetric: external_tensor must be a tensor, not {said}")
        if external_tensor.layout != torch().strided:
            layout = external_tensor.layout
            message = f"external_tensor is {layout}, and tensors on the heap are strided: give its to_dense()"
            raise UnsupportedError(f"Iris.as_symmetric: {message}")
        if external_tensor.device.type == "meta":
            raise UnsupportedError("Iris.as_symmetric: external_tensor is on meta and has no values: use empty")
        made = self.world.empty(tuple(external_tensor.shape), dtype=external_tensor.dtype)
        made.copy_(external_tensor.detach())
        return made

    def is_symmetric(self, tensor: Tensor) -> bool:
        """Whether a tensor is on this rank's heap."""
        return self.world.is_symmetric(tensor)

    def as_remote(self, tensor: Tensor, rank: int) -> Tensor:
        """The counterpart of a tensor on a rank's heap, with the same shape and strides."""
        return self.world.as_remote(tensor, rank)

    def _make(self, name, arguments, out, keywords):
        """What a torch function makes, on the heap, or in a tensor that is there."""
        if (device := keywords.pop("device", None)) is not None:
            keywords["device"] = self._checked(f"Iris.{name}", device)
        if out is None:
            return getattr(self.world, name)(*arguments, **keywords)
        if not isinstance(out, torch().Tensor):
            raise ArgumentError(f"Iris.{name}: out must be a tensor on the symmetric heap, not {text_of(out)}")
        values = self.world._made(name, arguments, {**keywords, "device": self.get_device()}, keywords)
        if out.numel() != values.numel():
            raise UnsupportedError(f"Iris.{name}: out has {out.numel()} elements, but {values.numel()} are needed")
        if out.dtype != values.dtype:
            raise UnsupportedError(f"Iris.{name}: out has dtype {out.dtype}, but {values.dtype} is needed")
        if not self.is_symmetric(out):
            raise UnsupportedError(f"Iris.{name}: out is not on the symmetric heap")
        filled = out.view(values.shape)
        filled.copy_(values)
        return filled

    def _checked(self, call, device):
        """The device of the heap, if that is what a program means by `device`."""
        mine = self.get_device()
        try:
            wanted = torch().device(device)
        except (TypeError, ValueError, RuntimeError):
            message = f"{call}: the symmetric heap is on {mine}, not on {text_of(device)}: leave out device"
            raise UnsupportedError(message) from None
        # A program for GPUs also runs without.
        if wanted.type not in (mine.type, "cuda") or (mine.type == "cuda" and wanted.index not in (None, mine.index)):
            raise UnsupportedError(f"{call}: the symmetric heap is on {mine}, not on {device}: leave out device")
        return mine

    # All ranks together.

    def barrier(self, stream: Stream | None = None, group: Any = None) -> None:
        """Waits on the host until every rank has arrived and its GPU, or its `stream`, is done.

        `group` may be a `symm.Team` of `world`, or a group of torch.distributed that this rank is in: then it waits for
        its ranks.
        """
        who = self._whom(group)
        if not isinstance(who, list):
            who.barrier(stream)
            return
        if stream is None:
            self.world.synchronize()
        else:
            stream.synchronize()
        torch().distributed.barrier(group=group)

    def device_barrier(self, group: Any = None) -> None:
        """Waits on the device, in torch's current stream; it can be captured in a CUDA graph. `group` is as for
        `barrier`: two ranks meet in the same order in all torch groups that both are in.
        """
        who = self._whom(group)
        if not isinstance(who, list):
            who.device_barrier()
            return
        # Kernels are compiled where they are needed.
        from .._host_kernels import meet_group

        self.world.check()
        meet_group("Iris.device_barrier", self.world, self._met, who)

    def broadcast(
        self, value: Any, src: int = 0, *, source_rank: int | None = None, src_rank: int | None = None
    ) -> Any | ndarray:
        """The value of rank `src`: a numpy array for a tensor, an array or a list of numbers. Collective.

        `source_rank` and `src_rank` are the names of `src` in earlier versions of Iris.
        """
        given = {"source_rank": source_rank, "src_rank": src_rank, "src": src}
        name, source = next((name, rank) for name, rank in given.items() if rank is not None or name == "src")
        source = rank_in(source, self.num_ranks, name, "Iris.broadcast: ")
        return self.world.broadcast(_plain(value) if self.cur_rank == source else None, source)

    def broadcast_tensor(self, value: Any, source_rank: int = 0) -> ndarray:
        """`broadcast`, as early versions of Iris call it for tensors."""
        return self.broadcast(value, source_rank)

    def _whom(self, group):
        """Who meets in a group: the World, a Team of it, or these of its ranks."""
        if isinstance(group, Team) and group.world is self.world:
            return group
        if group is None:
            return self.world
        try:
            ranks = list(torch().distributed.get_process_group_ranks(group))
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
            wanted = "one of torch.distributed's that this rank is in, or a Team of this World"
            raise UnsupportedError(f"group must be {wanted}, not {text_of(group)}") from None
        if self.cur_rank not in ranks or max(ranks) >= self.num_ranks:
            who = f"{self.cur_rank} of {self.num_ranks}"
            raise UnsupportedError(f"rank {who} cannot meet the group of ranks {ranks}")
        return self.world if len(ranks) == self.num_ranks else ranks


def _bytes_of(heap_size):
    """The size of a heap, as the user has given it."""
    number = integer(heap_size)
    if number is None or not 0 < number < 2**62:
        raise ArgumentError(f"iris: heap_size must be a number of bytes, not {text_of(heap_size)}")
    return number


def _close_gone():
    """Closes the Worlds whose Iris is gone on every rank, to free their memory."""
    Iris._made = [(each, world) for each, world in Iris._made if world.is_open()]
    if not Iris._made:
        return
    gc.collect()
    gone = [number for number, (each, _) in enumerate(Iris._made) if each() is None]
    asked = Iris._made[-1][1]
    try:
        told = [set(asked.broadcast(gone, rank)) for rank in range(asked.get_num_ranks())]
    except RankFailedError:
        # That run is over, on all ranks alike: ask in the one before.
        Iris._made.pop()
        _close_gone()
        return
    for number in sorted(set.intersection(*told)):
        Iris._made[number][1].close()


def _plain(value):
    """What is sent for a value: arrays as numpy's."""
    if isinstance(value, torch().Tensor):
        return value.cpu().numpy()
    if isinstance(value, (list, tuple)):
        with contextlib.suppress(ValueError, TypeError):
            array = np.asarray(value)
            return array if array.dtype.kind in "biufc" else value
    return value
