"""Several workers that are ranks of one world: `launch`, symmetric tensors, kernels and collectives on all ranks."""

import atexit
import inspect
import itertools
import textwrap
import time

import torch

from .. import _symm
from ..errors import ArgumentError, DeadlineError, RemoteError, UnsupportedError
from . import _backend, _workers
from ._collectives import Collectives, Ranked
from ._metadata import contiguous
from ._place import place
from ._processes import Processes
from ._tensor import RemoteTensor, wrap

# A rank whose others were late is still asked, for this many seconds.
_LAST_LOOK = 0.05
_PREAMBLE = "import torch\nimport triton\nimport triton.language as tl\nimport symm.triton as st\n\n\n"


class Context:
    """As an argument of `Cluster.run`: the context of the rank that the kernel runs on."""


def launch(count: int, provider=None, gpu: str | None = None) -> "Cluster":
    """Starts workers and makes them the devices `remote:0` and on; `provider` is `Processes()` if not given.

    `gpu` is the type of their GPUs, such as "H200", for providers that can choose; `ArgumentError` with others.

    The cluster and its tensors are usable until `close`, the end of a `with`, or the end of the program. Raises
    `symm.BootstrapError` where a worker does not start.
    """
    if type(count) is not int or count < 1:
        raise ArgumentError(f"launch({count!r}): give the number of workers, at least one")
    _backend.register()
    provider = Processes() if provider is None else provider
    if gpu is None:
        return _cluster(provider, provider.start(count))
    if not getattr(provider, "chooses_gpus", False):
        kind = type(provider).__name__
        raise ArgumentError(
            f"launch(gpu={gpu!r}): {kind} takes the GPUs that are there, and cannot choose: leave gpu out"
        )
    return _cluster(provider, provider.start(count, gpu))


def _cluster(provider, links):
    try:
        return Cluster(provider, links)
    except BaseException:
        provider.stop()
        raise


def connect(address: str, token: str | None = None, certificate: str | None = None) -> torch.device:
    """Makes a running worker the next device. `address` is `unix:PATH` or `tcp:HOST:PORT`.

    Over TCP `token` is the worker's secret and `certificate` the path of the PEM file that it was started with.
    """
    _backend.register()
    return _workers.attach(_symm.Link.connect(address, token, certificate)).device


class Cluster(Collectives):
    """Workers of one `launch`. `devices` are theirs, rank 0 first."""

    def __init__(self, provider, links):
        self._workers = [_workers.attach(link) for link in links]
        self.devices = [worker.device for worker in self._workers]
        self._links = links
        self._joined = False
        self._sources = itertools.count()
        self._sent = {}
        self._provider = provider
        self._open = True
        atexit.register(self.close)

    def __len__(self):
        return len(self.devices)

    def __getitem__(self, rank: int) -> torch.device:
        return self.devices[rank]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """Ends the workers. A second call does nothing."""
        if not self._open:
            return
        self._open = False
        atexit.unregister(self.close)
        try:
            for worker in self._workers:
                _workers.remove(worker)
        finally:
            self._provider.stop()

    def join(self, heap_size: int | None = None) -> None:
        """Makes the workers ranks of one world with symmetric heaps of `heap_size` bytes. `zeros` does it if need be.

        A rank that waits for others for longer than the current deadline (`symm.remote.deadline`) says for which.
        """
        self._need_processes()
        for rank, link in enumerate(self._links):
            if (link.rank, link.num_ranks) != (rank, len(self)):
                raise ArgumentError(
                    f"the worker at {link.address} is not rank {rank} of {len(self)}: start each with RANK and"
                    " WORLD_SIZE in its environment, or have a provider do it that makes ranks"
                )
        line = self._together()
        for link in self._links:
            link.join_start(heap_size, line)
        self.synchronize()
        self._joined = True

    def zeros(self, *shape: int, dtype: torch.dtype = torch.float32) -> Ranked:
        """A symmetric tensor: on each rank's heap, at the same offset, one remote tensor."""
        size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list, torch.Size)) else shape
        if not all(type(length) is int and length >= 0 for length in size):
            raise ArgumentError(f"zeros: sizes must be integers, 0 or more, not {size}")
        if not isinstance(dtype, torch.dtype):
            raise ArgumentError(f"zeros: dtype must be a torch dtype such as torch.float32, not {dtype!r}")
        if not self._joined:
            self.join()
        line, like = self._together(), contiguous(size, dtype)
        handles = [_symm.Handle(worker) for worker in self._workers]
        for link, handle in zip(self._links, handles, strict=True):
            link.zeros(handle.id, size, dtype, line)
        return Ranked(wrap(like, handle) for handle in handles)

    def barrier(self) -> None:
        """Waits until every rank has done its work so far. Raises the error of the first rank that has one."""
        if not self._joined:
            self.join()
        line = self._together()
        for link in self._links:
            link.barrier(line)
        self.synchronize()

    def synchronize(self) -> None:
        """Waits for all workers without a barrier between them."""
        end = time.monotonic() + self._links[0].deadline
        failed = []
        for link in self._links:
            try:
                link.sync(max(end - time.monotonic(), _LAST_LOOK))
            except RemoteError as error:
                failed.append(error)
        if failed:
            # Ranks wait for one that has failed.
            raise next((error for error in failed if not isinstance(error, DeadlineError)), None) or _late(failed)

    def run(self, kernel, grid, *args, **kwargs) -> None:
        """Launches a Triton kernel on every rank, without waiting.

        `kernel` is "module:name" of a module that the workers were started with, or a kernel of this program, whose
        source is sent: the workers have to be started with `allow_code`. It sees `tl`, `triton`, `torch` and `st`,
        which is symm.triton, and nothing else of this program. A `Ranked` argument is each rank's own part; the class
        `symm.remote.Context` stands for the rank's context.
        """
        self._need_processes()
        grid = _grid(grid)
        # All are right, or none is launched: ranks would wait for those that are not.
        own = [
            (
                tuple(self._of(rank, value) for value in args),
                {name: self._of(rank, value) for name, value in kwargs.items()},
            )
            for rank in range(len(self))
        ]
        module, kernel = self._source(kernel)
        line = self._together()
        for link, (places, names) in zip(self._links, own, strict=True):
            link.launch(module, kernel, grid, places, names, line)

    def _need_processes(self):
        if not all(hasattr(link, "join_start") for link in self._links):
            raise UnsupportedError("workers in this process are not ranks: use symm.remote.Processes")

    def _together(self):
        """The line that asks all ranks for something. Raises if one is lost: the others would wait for it."""
        for link in self._links:
            if not link.alive:
                link.sync()
        return place()

    def _source(self, kernel):
        if isinstance(kernel, str):
            module, _, name = kernel.partition(":")
            return module, name
        function = kernel
        # Under decorators such as triton.autotune there is another one.
        while hasattr(function, "fn"):
            function = function.fn
        if function is kernel or not inspect.isfunction(function):
            raise ArgumentError(f"{kernel!r} is neither a Triton kernel nor 'module:name'")
        sent = self._sent.get(function)
        if sent is None:
            sent = f"sent_{next(self._sources)}", function.__name__
            source = _PREAMBLE + textwrap.dedent(inspect.getsource(function))
            for link in self._links:
                link.define_source(sent[0], source)
            self._sent[function] = sent
        return sent

    def _of(self, rank, argument):
        """A rank's own of an argument."""
        if argument is Context:
            return _symm.SymmContext()
        if isinstance(argument, Ranked):
            if len(argument) != len(self):
                raise ArgumentError(f"an argument has values for {len(argument)} ranks, and there are {len(self)}")
            argument = argument[rank]
        if isinstance(argument, RemoteTensor) and argument._link is not self._links[rank]:
            raise ArgumentError(
                f"rank {rank} is given a tensor of {argument.device}: a `Ranked` has one for each rank, on its own"
                " device"
            )
        return argument


def _grid(grid):
    """The programs along each dimension."""
    sizes = (grid,) if isinstance(grid, int) else grid
    fits = isinstance(sizes, (tuple, list)) and 1 <= len(sizes) <= 3
    if not fits or not all(type(size) is int and size >= 0 for size in sizes):
        what = "a function is not sent to workers" if callable(grid) else f"not {grid!r}"
        raise ArgumentError(f"a grid is a number of programs or a tuple of up to three numbers: {what}")
    return tuple(sizes)


def _late(errors):
    """One error for those of ranks that have not answered in time."""
    if len(errors) == 1:
        return errors[0]
    lines = "".join(f"\n  {error.text}" + (f", issued at {error.place}" if error.place else "") for error in errors)
    first = errors[0]
    return DeadlineError(f"{len(errors)} ranks have not answered in time:{lines}", first.worker, first.op, first.place)
