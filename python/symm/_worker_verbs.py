"""What a worker does in Python: finds operations, and everything else.

The methods with a `session` are the verbs of the wire, by their names there; the session is the client's number.
"""

import contextlib
import importlib
import linecache
import os
import socket
import sys
import types

import torch

from .errors import ArgumentError, SymmError

# The methods of symm.comm.Communicator that a client may call.
_COLLECTIVES = frozenset(
    ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather", "scatter")
)
# Operations of allowed namespaces that read or write files.
_FILES = ("aten::from_file",)


class Refused(Exception):
    """The worker does not do this for a client."""


class Verbs:
    """What a worker can do on `device`, for clients that may use these modules and namespaces."""

    def __init__(self, device: str, modules: list[str], namespaces: list[str], allow_code: bool):
        self.device = torch.device(device)
        if self.device.type == "cuda" and self.device.index is None:
            self.device = torch.device("cuda", 0)
        self.torch_version = torch.__version__
        self.host = socket.gethostname()
        self.rank = _rank()
        self._namespaces = {"aten", "prims", "symm", *namespaces}
        self._modules = {name: importlib.import_module(name) for name in modules}
        self._allow_code = allow_code
        self._sources: dict[tuple[int, str], types.ModuleType] = {}
        self._generators: dict[tuple[int, int], torch.Generator] = {}
        self._world = self._comm = None
        self._joined_for = None
        # An operation on the device now, so that a GPU that cannot be used is an error at the start.
        torch.zeros(1, device=self.device)

    def prepare_thread(self) -> None:
        """What every thread that runs operations needs."""
        torch.set_grad_enabled(False)
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)

    def limit_memory(self, limit: int) -> None:
        """The most memory of the GPU for tensors, in bytes."""
        total = torch.cuda.get_device_properties(self.device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total), self.device)

    def synchronize(self) -> None:
        """Waits for the device."""
        torch.cuda.synchronize(self.device)

    def find(self, name: str) -> torch._ops.OpOverload:
        """The operation `namespace::op.overload` of torch's dispatcher."""
        full, _, overload = name.partition(".")
        namespace, _, op = full.partition("::")
        if namespace not in self._namespaces:
            raise Refused(f"{name}: this worker runs operations of {', '.join(sorted(self._namespaces))} only")
        if full in _FILES:
            raise Refused(f"{name}: this worker runs no operations on files")
        # TorchScript has operators that the dispatcher has not; those on files are among them.
        torch._C._dispatch_find_schema_or_throw(full, overload)
        return getattr(getattr(getattr(torch.ops, namespace), op), overload or "default")

    def scalar(self, dtype: torch.dtype, data: bytes) -> torch.Tensor:
        """A tensor without dimensions from its bytes, on the CPU."""
        return torch.frombuffer(bytearray(data), dtype=dtype).reshape(())

    def plain(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor contiguous on the CPU, with nothing left to compute."""
        if tensor._is_zerotensor():
            # Autograd makes them where a gradient is zero: they have no memory.
            tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
        return tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()

    def ended(self, session: int) -> None:
        """Forgets what was made for this client."""
        for made in (self._generators, self._sources):
            for key in [key for key in made if key[0] == session]:
                del made[key]
        if self._joined_for == session:
            # A run that has failed says so when one leaves it, too; its client has been told.
            with contextlib.suppress(SymmError):
                self.leave(session)

    # Random numbers.

    def generator(self, session: int, id: int) -> torch.Generator:
        """The generator of this id."""
        try:
            return self._generators[session, id]
        except KeyError:
            raise RuntimeError(f"the worker has no generator {id}") from None

    def seed(self, session: int, seed: int, generator: torch.Generator | None) -> None:
        if generator is None:
            torch.manual_seed(seed)
        else:
            generator.manual_seed(seed)

    def new_generator(self, session: int, id: int, seed: int) -> None:
        self._generators[session, id] = torch.Generator(self.device).manual_seed(seed)

    def drop_generator(self, session: int, id: int) -> None:
        self._generators.pop((session, id), None)

    def generator_state(self, session: int, generator: torch.Generator | None) -> bytes:
        state = generator.get_state() if generator else self._default_generator().get_state()
        return bytes(state.tolist())

    def set_generator_state(self, session: int, state: bytes, generator: torch.Generator | None) -> None:
        (generator or self._default_generator()).set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))

    def _default_generator(self):
        if self.device.type == "cuda":
            return torch.cuda.default_generators[self.device.index]
        return torch.default_generator

    # Functions and kernels.

    def function(self, session: int, module: str, name: str, args: tuple, kwargs: dict) -> object:
        if module not in self._modules:
            raise Refused(f"module {module}: this worker was not started with --module {module}")
        function = getattr(getattr(self._modules[module], name, None), "__symm_remote_function__", None)
        if function is None:
            raise Refused(f"{module}.{name} is not a remote function: decorate it with symm.remote.function")
        with torch.enable_grad():
            return _detached(function(*args, **kwargs))

    def define(self, session: int, name: str, source: str) -> None:
        if not self._allow_code:
            raise Refused("this worker takes no source: it was not started with --allow-code")
        module = types.ModuleType(name)
        # Triton reads a kernel's source where Python has it from.
        module.__file__ = f"<source {name} of client {session}>"
        linecache.cache[module.__file__] = (len(source), None, source.splitlines(True), module.__file__)
        exec(compile(source, module.__file__, "exec"), module.__dict__)
        self._sources[session, name] = module

    def launch(self, session: int, name: str, kernel: str, grid: tuple, args: tuple, kwargs: dict) -> None:
        module = self._sources.get((session, name)) or self._modules.get(name)
        if module is None:
            raise Refused(f"module {name}: neither sent to this worker nor given to it with --module")
        found = getattr(module, kernel, None)
        triton = sys.modules.get("triton")
        if triton is None or not isinstance(found, triton.KernelInterface):
            raise Refused(f"{name}.{kernel} is not a Triton kernel")
        found[tuple(grid)](*args, **kwargs)

    # Ranks.

    def join(self, session: int, heap_size: int | None, timeout: float | None) -> None:
        import symm

        if self._world is not None and self._world.is_open():
            raise RuntimeError("this worker has joined a run already: leave it first")
        sizes = {} if heap_size is None else {"heap_size": heap_size}
        self._world = symm.init(device=self.device.type, timeout=timeout, **sizes)
        self._joined_for = session

    def zeros(self, session: int, shape: tuple, dtype: torch.dtype) -> torch.Tensor:
        return self._joined().zeros(*shape, dtype=dtype)

    def barrier(self, session: int) -> None:
        self._joined().barrier()

    def leave(self, session: int) -> None:
        world, self._world, self._comm = self._world, None, None
        self._joined_for = None
        if world is not None:
            world.close()

    def collective(self, session: int, name: str, args: tuple, kwargs: dict) -> torch.Tensor | None:
        from .comm import Communicator

        if name not in _COLLECTIVES:
            raise Refused(f"{name} is not a collective: the collectives are {', '.join(sorted(_COLLECTIVES))}")
        world = self._joined()
        if self._comm is None:
            self._comm = Communicator(world)
        return getattr(self._comm, name)(*args, **kwargs)

    def context(self) -> torch.Tensor:
        """The context of this rank, for kernels."""
        return self._joined().get_device_context()

    def _joined(self):
        if self._world is None:
            raise RuntimeError("this worker has joined no run: call join first")
        return self._world


def _rank():
    """The rank of this worker and the number of ranks, if it is one of a world."""
    place = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
    if None in place:
        return None
    try:
        return tuple(int(number) for number in place)
    except ValueError:
        raise ArgumentError(f"RANK and WORLD_SIZE in the environment are {place}: they must be numbers") from None


def _detached(result):
    if isinstance(result, torch.Tensor):
        return result.detach()
    if isinstance(result, (list, tuple)):
        # A named tuple goes over the wire as a tuple.
        return (list if isinstance(result, list) else tuple)(_detached(value) for value in result)
    if isinstance(result, dict):
        return {name: _detached(value) for name, value in result.items()}
    return result
