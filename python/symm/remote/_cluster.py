"""Several workers that are ranks of one world: `launch`, symmetric tensors, kernels on all ranks."""

import atexit
import inspect
import itertools
import textwrap

import torch

from .. import _symm
from ..errors import ArgumentError, RemoteError
from . import _workers
from ._metadata import contiguous
from ._place import place
from ._providers import Processes
from ._tensor import wrap

_PREAMBLE = "import torch\nimport triton\nimport triton.language as tl\nimport symm.triton as st\n\n\n"


class Ranked(list):
    """A value for each rank, rank 0 first: what `Cluster.zeros` returns, and an argument of `Cluster.run`."""


class Context:
    """As an argument of `Cluster.run`: the context of the rank that the kernel runs on."""


def launch(count: int, provider=None) -> "Cluster":
    """Starts workers and makes them the devices `remote:0` and on; `provider` is `Processes()` if not given.

    The cluster and its tensors are usable until `close`, the end of a `with`, or the end of the program. Raises
    `symm.BootstrapError` where a worker does not start.
    """
    if count < 1:
        raise ArgumentError(f"launch({count}): at least one worker")
    provider = Processes() if provider is None else provider
    return Cluster(provider, provider.start(count))


def connect(address: str, token: str | None = None, certificate: str | None = None) -> torch.device:
    """Makes a running worker the next device. `address` is `unix:PATH` or `tcp:HOST:PORT`.

    Over TCP `token` is the worker's secret and `certificate` the path of the PEM file that it was started with.
    """
    return _workers.attach(_symm.Link.connect(address, token, certificate)).device


class Cluster:
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
        for worker in self._workers:
            _workers.remove(worker)
        self._provider.stop()

    def join(self, heap_size: int | None = None) -> None:
        """Makes the workers ranks of one world with symmetric heaps of `heap_size` bytes. `zeros` does it if need be."""
        line = place()
        for link in self._links:
            link.join_start(heap_size, line)
        self.synchronize()
        self._joined = True

    def zeros(self, *shape: int, dtype: torch.dtype = torch.float32) -> Ranked:
        """A symmetric tensor: on each rank's heap, at the same offset, one remote tensor."""
        if not self._joined:
            self.join()
        size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list, torch.Size)) else shape
        line, like = place(), contiguous(size, dtype)
        handles = [_workers.Handle(worker) for worker in self._workers]
        for link, handle in zip(self._links, handles, strict=True):
            link.zeros(handle.id, size, dtype, line)
        return Ranked(wrap(like, handle) for handle in handles)

    def barrier(self) -> None:
        """Waits until every rank has done what it was told. Raises the first rank's error that there is."""
        if not self._joined:
            self.join()
        line = place()
        for link in self._links:
            link.barrier(line)
        self.synchronize()

    def synchronize(self) -> None:
        """Waits for all workers without a barrier between them."""
        failed = None
        for link in self._links:
            try:
                link.sync()
            except RemoteError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def run(self, kernel, grid, *args, **kwargs) -> None:
        """Launches a Triton kernel on every rank, without waiting.

        `kernel` is "module:name" of a module that the workers were started with, or a kernel of this program, whose
        source is sent: the workers have to be started with `allow_code`. It sees `tl`, `triton`, `torch` and `st`, which
        is symm.triton, and nothing else of this program. A `Ranked` argument is each rank's own part; the class
        `symm.remote.Context` stands for the rank's context.
        """
        grid = (grid,) if isinstance(grid, int) else tuple(grid)
        module, kernel = self._source(kernel)
        line = place()
        for rank, link in enumerate(self._links):
            own = {name: _of(rank, value) for name, value in kwargs.items()}
            link.launch(module, kernel, grid, tuple(_of(rank, value) for value in args), own, line)

    def _source(self, kernel):
        if isinstance(kernel, str):
            module, _, name = kernel.partition(":")
            return module, name
        function = getattr(kernel, "fn", None)
        if function is None:
            raise ArgumentError(f"{kernel!r} is neither a Triton kernel nor 'module:name'")
        sent = self._sent.get(function)
        if sent is None:
            sent = self._sent[function] = f"sent_{next(self._sources)}", function.__name__
            source = _PREAMBLE + textwrap.dedent(inspect.getsource(function))
            for link in self._links:
                link.define_source(sent[0], source)
        return sent


def _of(rank, argument):
    if argument is Context:
        return _symm.SymmContext()
    return argument[rank] if isinstance(argument, Ranked) else argument
