"""The host API: this rank's heap, torch tensors on it, and collective operations."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import logging
import math
import os
import pickle
import sys
import threading
from typing import TYPE_CHECKING, Any

from . import _bounds, _deadlock, _engine, _exits, _open, _sending, _standing, _timeouts
from ._context_argument import Argument
from ._device import driver_of, gpu_of, heap_bytes, place, usual_device
from ._factories import Factories
from ._memory import torch
from ._open import is_on_a_heap, teams, worlds
from ._places import Places, near, rank_in, reaches
from ._public import public
from ._standing import Standing
from ._streams import Streams, checked
from ._team import Splits
from ._torch_ranks import as_torch_has_joined
from .errors import ArgumentError, BootstrapError, EngineError

if TYPE_CHECKING:
    from torch import device as Device
    from torch.cuda import Stream

HEAP_SIZE = 1 << 30
# How long to wait for the GPU before looking whether another rank has failed.
SECONDS_OF_A_LOOK = 0.05
# Held while a thread joins a run.
JOINING = threading.Lock()


def init(
    heap_size: int = HEAP_SIZE,
    device: str | Device | None = None,
    timeout: float | None = None,
    engine: str | None = None,
    domain: int | None = None,
) -> World:
    """Joins the run that torchrun, an MPI launcher or Slurm has started, or starts one with a single rank. Collective.

    If the program has initialized torch.distributed, the ranks are its ranks. A process may join several runs, one
    after the other or at once, each with heaps of its own; all ranks join them in the same order.

    `heap_size` is in bytes, for each rank; symm takes the first 2 MiB. `device` is "cuda", "hip" or "cpu", as text or
    a torch.device; by default the GPU, or the CPU under `TRITON_INTERPRET=1` and where torch finds no GPU. A rank uses
    the GPU `rank` modulo the number of GPUs, and a device with another number is an error. `timeout` is the longest
    time in seconds that a call may wait for other ranks, and that a wait or barrier in a kernel may take. Without it
    calls wait without limit (`symm.init` itself 30 seconds), and kernels have SYMM_TIMEOUT of the environment, in
    seconds, or no limit.

    `engine` is what reaches ranks whose heaps are not mapped: "nvshmem", on NVIDIA GPUs of one host or of several. All
    ranks give the same, before they compile kernels. `domain` is how many ranks count as one node: all others are far,
    even on this host; all ranks give the same. On the CPU far ranks are simulated. None means what SYMM_ENGINE and
    SYMM_DOMAIN of the environment say.

    Returns the World. Raises ArgumentError, BootstrapError, DeviceError, EngineError or SymmError.
    """
    if not JOINING.acquire(blocking=False):
        message = "symm.init: another thread of this process is in it: all ranks join runs in the same order, so let "
        raise BootstrapError(message + "one thread call it, or each after the other")
    try:
        world = World.__new__(World)
        world._join(heap_size, usual_device() if device is None else device, timeout, engine, domain)
        return world
    finally:
        JOINING.release()


class _Log(logging.LoggerAdapter):
    """Messages of a rank."""

    def process(self, message, keywords):
        return f"{self.extra['prefix']} {message}", keywords


@public
class World(Factories, Splits, Streams, Places, Argument, _timeouts.Timed):
    """This process's rank, and tensors that every rank has at the same offset of its heap.

    Functions that make tensors are collective: every rank makes the same ones, with the same function, of the same
    shape and dtype, in the same order. Their values are each rank's own. The functions have the names, arguments and
    results of torch's. A tensor's memory is freed some time after the last tensor on it is gone on all ranks.

    They raise HeapExhaustedError if the heap is full, and MismatchError if ranks make different tensors. Every call
    that waits for other ranks raises RankFailedError if one of them has failed or does not come in time. Ctrl-C ends
    such a call, and the run with it: the others get a RankFailedError. In a process forked from a rank, every call
    raises ForkedError.

    A World is an argument of kernels, `kernel[grid](world, …)`, and there the context of ops: `st.load(world, …)`.

    `log` is a logger whose messages begin with the rank.
    """

    # Whether one of this process's runs could not be left at its end.
    _could_not_leave = False

    def __init__(self, *_: object, **__: object):
        raise ArgumentError("symm.World is what symm.init() returns: call world = symm.init()")

    def _join(
        self,
        heap_size: int,
        device: str | Device,
        timeout: float | None,
        engine: str | None = None,
        domain: int | None = None,
    ) -> None:
        heap_size = heap_bytes(heap_size)
        seconds = _timeouts.default(timeout)
        driver, number = driver_of(device)
        try:
            engine, domain = _engine.asked(engine, domain, driver)
        except (ArgumentError, EngineError) as error:
            # The others would wait for this rank.
            _open.decline(str(error))
            raise
        # What is longer than any run is none.
        most = None if timeout and seconds == math.inf else timeout
        with as_torch_has_joined(engine):
            try:
                self._rank = _open.join(heap_size, driver, most, place(), (engine, domain))
            except (TypeError, ValueError, OverflowError) as error:
                raise ArgumentError(f"symm.init: {error}") from None
        self.device = torch().device("cpu")
        if driver != "cpu":
            number = gpu_of(self.get_rank(), torch().cuda.device_count(), number)
            self.device = torch().device("cuda", number)
            torch().cuda.set_device(self.device)
        prefix = f"[rank {self.get_rank()}/{self.get_num_ranks()}]"
        self.log = _Log(logging.getLogger("symm"), {"prefix": prefix})
        # Of allocations that no tensor of this rank is left on: their addresses.
        self._dropped = set()
        # Of each allocation, by its offset: its bytes, the call that made it and where.
        self._made_at = {}
        self.bases, self.heap_size = self._rank.heap_bases, self._rank.heap_size
        self._mine = self.bases[self.get_rank()]
        self.engine, self._words_of_meetings = engine, None
        # How an engine reaches each rank, and which ranks are near.
        self._reaches = [] if engine is None else reaches(self)
        self._near = near(self, domain)
        if engine is not None:
            _engine.use(engine)
        # Whether ranks that make tensors have to use the same function.
        self.compares_functions = True
        # Where compiled kernels record what they do, while a trace is made.
        self.records_at = 0
        # Whether one is made.
        self.is_traced = False
        self._process = os.getpid()
        self._timeouts = _timeouts.Timeouts(self, seconds)
        _sending.install(is_on_a_heap)
        worlds.append(self)
        _standing.begin(self)
        _bounds.tell(self)
        _exits.watch()
        atexit.register(self._at_exit)

    def __reduce__(self):
        message = "a World is this process's place in a run, and cannot be pickled or copied: pass the World itself, "
        raise ArgumentError(message + "or numbers and tensors; in another process, call symm.init")

    def __repr__(self) -> str:
        if not self.is_open():
            return f"World(closed, heap_size={self.heap_size}, device={str(self.device)!r})"
        ranks = f"rank={self.get_rank()}, num_ranks={self.get_num_ranks()}"
        return f"World({ranks}, heap_size={self.heap_size}, device={str(self.device)!r})"

    def data_ptr(self):
        """The address of the context table, which is what kernels get for this argument."""
        return self._rank.table

    def _place(self):
        """The World, and its ranks."""
        return self, tuple(range(self.get_num_ranks()))

    # Ranks.

    def get_rank(self) -> int:
        """The number of this rank, from 0."""
        return self._rank.rank

    def get_num_ranks(self) -> int:
        """The number of ranks."""
        return self._rank.num_ranks

    def get_device(self) -> Device:
        """The torch device of this rank's tensors."""
        return self.device

    def get_cu_count(self) -> int:
        """The number of multiprocessors (compute units) of the device; on the CPU, of its cores."""
        if self.device.type == "cpu":
            return len(os.sched_getaffinity(0))
        return torch().cuda.get_device_properties(self.device).multi_processor_count

    # All ranks together.

    def barrier(self, stream: Stream | None = None) -> None:
        """Waits on the host until every rank has arrived and its GPU, or only `stream`, is done."""
        if checked(stream, "synchronize") is None:
            self._synchronize()
        else:
            self._wait_for(stream.synchronize)
        self.check()
        here = place()
        with self._meeting("World.barrier", here):
            self._rank.barrier(here)

    def device_barrier(self, stream: Stream | None = None) -> None:
        """Waits on the device: later work on a stream sees earlier work on every rank's stream.

        `stream` is by default torch's current one. It can be captured in a CUDA graph. All ranks call it equally often.
        """
        checked(stream)
        self.check()
        handle = 0
        if self.engine is not None and not all(self._near):
            from . import _host_kernels

            return _host_kernels.meet("World.device_barrier", self, self._meetings().address, stream)
        if self.device.type != "cpu":
            handle = (stream or torch().cuda.current_stream(self.device)).cuda_stream
        here = place()
        with self._meeting("World.device_barrier", here):
            self._rank.stream_barrier(handle, here)

    def _meetings(self):
        """Words for barriers in the order of a stream, which the first of them allocates: it is collective."""
        if self._words_of_meetings is None:
            self._words_of_meetings = self._allocate(4096, "World.device_barrier", 8)
        return self._words_of_meetings

    def broadcast(self, value: Any, source: int = 0) -> Any:
        """The value of rank `source`: a tensor, or anything that can be pickled. Collective."""
        source = rank_in(source, self.get_num_ranks(), "source")
        return self._sent(value, source, f"World.broadcast from rank {source}")

    def _sent(self, value, source, call):
        """The value of rank `source`, in a call of this name."""
        tensor = isinstance(value, torch().Tensor)
        packed, refused = b"", f"broadcast: what rank {source} has cannot be pickled"
        if self.get_rank() == source:
            self._wait_for_stream(value)
            try:
                packed = pickle.dumps(value.cpu() if tensor else value)
            except Exception as error:
                refused += f": {error}"
        # Every pickle has bytes.
        here = place()
        with self._meeting(call, here):
            size = int.from_bytes(self._rank.broadcast(source, len(packed).to_bytes(8, "little"), call, here), "little")
            if size == 0:
                raise ArgumentError(refused)
            value = pickle.loads(self._rank.broadcast(source, packed.ljust(size, b"\0"), call, here))
        return value.to(self.device) if isinstance(value, torch().Tensor) else value

    def close(self) -> None:
        """Leaves the run when all ranks do. Collective; a second call does nothing.

        Several runs may be closed in any order: if another rank waits for this one in a second run, the call returns
        within five seconds, before the others have come. The process's last close waits for all of them, and raises
        any error that they had in the meantime.

        Tensors on the heap, and those of `as_remote`, stay valid, and memory is freed with the last of them. Kernels
        must not use symm's ops on them any more. Within `symm.trace` it is an ArgumentError.
        """
        if self.is_traced:
            raise ArgumentError("World.close: symm.trace records this World: close it after the `with` block")
        self._leave(place())

    def _leave(self, here):
        if self not in worlds:
            return
        with contextlib.suppress(*self._timeouts.has_been_told()):
            self._synchronize()
        standing = self._standing()
        # First, so that who fails here does not wait again at the end of the process.
        self._forget()
        if standing is not None:
            standing.leave(f"World.close at {here}")
        with _deadlock.Leaving():
            self._rank.leave(here)

    def _standing(self):
        """Where this rank stands, for interpreted kernels of the others; None where there are none."""
        return Standing.of(self._mine) if self.device.type == "cpu" and self.is_open() else None

    def _meeting(self, call, here):
        """A context manager, while this rank is in a call where all ranks meet."""
        _exits.forget()
        if self._standing() is None:
            return contextlib.nullcontext()
        file, _, line = here.rpartition(":")
        return _deadlock.Meeting(self, f"{call} at {here}", (file, int(line)))

    def _forget(self):
        worlds.remove(self)
        _open.closed.add(self)
        atexit.unregister(self._at_exit)

    def is_open(self):
        """Whether this process is a rank of the run."""
        return self in worlds and self._process == os.getpid()

    def _synchronize(self):
        if self.device.type != "cpu":
            self._wait_for(lambda: torch().cuda.synchronize(self.device))

    def _wait_for_stream(self, value):
        """Waits for what a tensor on a GPU may wait for, so that torch does not when it is copied to the host."""
        if isinstance(value, torch().Tensor) and value.device.type == "cuda":
            self._wait_for(torch().cuda.current_stream(value.device).synchronize)

    def _wait_for(self, device):
        """Calls what waits for the device: its kernels may wait for a rank that has failed, and so forever."""
        if self.device.type == "cpu":
            device()
            return
        done, raised = threading.Event(), []

        def wait():
            try:
                device()
            except BaseException as error:
                raised.append(error)
            done.set()

        threading.Thread(target=wait, name="symm waits for the GPU", daemon=True).start()
        while not done.wait(SECONDS_OF_A_LOOK):
            self.check()
        if raised:
            raise raised[0]

    def check(self) -> None:
        """Raises an error if another rank failed, a wait in a kernel took too long, or a kernel left its tensors."""
        _exits.forget()
        self._rank.check()
        for each in (self, *(team for team in teams if team.world is self)):
            if each._timeouts is not None:
                each._timeouts.check()

    def _at_exit(self):
        if not self.is_open():
            # A forked process is not a rank.
            return
        number = self.get_rank()
        if (ending := _exits.failure()) is not None:
            # A rank that fails does not wait for the others: they are told.
            self._rank.end(f"rank {number} ended by {ending}; its own output says why")
        elif World._could_not_leave:
            self._rank.end(f"rank {number} could not leave another run; its own output says why")
        elif _exits.is_open():
            standing = self._standing()
            self._forget()
            here = "World.close at the end of the program"
            self._rank.leave_at_exit(0 if standing is None else standing.may_leave(here))
        else:
            self._close_at_exit(number)

    def _close_at_exit(self, number):
        """Leaves the run. What fails is said, and is the process's failure: Python would go on as if it was not."""
        try:
            self._leave("the end of the program")
        except (Exception, KeyboardInterrupt) as error:
            World._could_not_leave = True
            print(f"symm: rank {number} could not leave the run: {type(error).__name__}: {error}", file=sys.stderr)
            _fail_at_exit()


def _fail_at_exit():
    """Makes this process end with status 1, after all that Python does at its end: that changes no status."""
    libc, address = ctypes.CDLL(None), ctypes.c_void_p
    # What is registered last is called first.
    for function, argument in (libc._exit, 1), (libc.fflush, None):
        libc.__cxa_atexit(ctypes.cast(function, address), address(argument), None)
