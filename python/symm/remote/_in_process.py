"""A worker in this process: the same interface as a link to one elsewhere, without a wire.

It runs ops when they are called, and still raises what goes wrong there when the client waits, as other workers do. Its
random numbers are this process's.
"""

import itertools
import os
import platform
import sys
from typing import NamedTuple

import torch
from torch.utils._pytree import tree_leaves

from ..errors import WorkerError
from ._tensor import RemoteTensor


class GeneratorId(int):
    """A generator of the worker, as an argument."""


class Described(NamedTuple):
    """A tensor of the worker: its id, and what it looks like."""

    id: int | None
    dtype: torch.dtype
    shape: tuple
    strides: tuple
    offset: int


class InProcessLink:
    """Tensors on torch's device `device` of this process, by id.

    `call` and the other methods are those of `symm._symm.Link`, where they are described.
    """

    generator_id = GeneratorId

    def __init__(self, device: str = "cpu"):
        self.device = device
        self.address = self.inside = "this process"
        self.pid, self.host, self.torch = os.getpid(), platform.node(), torch.__version__
        self.rank = self.num_ranks = None
        self.alive = True
        self.deadline = 600.0
        self._own = torch.device(device)
        self._tensors = {}
        self._generators = {}
        self._pending = None
        self.specs = {}

    def call(self, op, args, kwargs, outputs, place):
        self._check(args, kwargs)
        try:
            result = self._execute(op, args, kwargs)
            found = _positions(result)
            if outputs and len(found) != len(outputs):
                raise RuntimeError(f"{len(outputs)} ids for {len(found)} tensors")
        except WorkerError as error:
            self._poison(outputs, error)
        except Exception as error:
            error = self._error(op, place, error)
            self._pending = self._pending or error
            self._poison(outputs, error)
        else:
            for id, tensor in zip(outputs, found, strict=False):
                if id is not None and tensor is not None:
                    self._tensors[id] = tensor

    def ask(self, op, args, kwargs, outputs, place, deadline=None):
        self._check(args, kwargs)
        self._raise_pending()
        try:
            result = self._execute(op, args, kwargs)
        except WorkerError:
            raise
        except Exception as error:
            raise self._error(op, place, error) from None
        return self._describe(result, iter(outputs))

    def drop(self, ids):
        for id in ids if isinstance(ids, (list, tuple)) else (ids,):
            self._tensors.pop(id, None)

    def flush(self):
        pass

    def sync(self, deadline=None):
        if self._own.type == "cuda":
            torch.cuda.synchronize(self._own)
        self._raise_pending()

    def meta(self, id, deadline=None):
        self._raise_pending()
        return _described(id, self._get(id))

    def fetch(self, id, into, deadline=None, progress=None):
        self._raise_pending()
        with torch.no_grad():
            into.copy_(self._get(id))

    def upload(self, id, tensor, deadline=None, progress=None):
        self._tensors[id] = tensor.to(self._own, copy=True)

    def copy(self, id, target, new_id, place):
        tensor = self._get(id)
        if isinstance(target, InProcessLink):
            target._tensors[new_id] = tensor.to(target._own, copy=True, memory_format=torch.contiguous_format)
        else:
            target.upload(new_id, tensor.cpu().contiguous())

    def run_function(self, module, name, args, kwargs, first_id, place, deadline=None):
        self._raise_pending()
        function = getattr(sys.modules[module], name).__symm_remote_function__
        try:
            with torch.enable_grad():
                result = function(*self._local(args), **self._local(kwargs))
        except Exception as error:
            raise self._error(f"{module}.{name}", place, error) from None
        return self._describe(result, itertools.count(first_id))

    def seed(self, seed, generator=None):
        if generator is None:
            torch.default_generator.manual_seed(seed)
            if self._own.type == "cuda":
                torch.cuda.manual_seed(seed)
        else:
            self._generators[generator].manual_seed(seed)

    def new_generator(self, id, seed):
        self._generators[id] = torch.Generator(self._own).manual_seed(seed)

    def drop_generator(self, id):
        self._generators.pop(id, None)

    def generator_state(self, generator=None):
        self._raise_pending()
        if generator is not None:
            return bytes(self._generators[generator].get_state().numpy())
        state = torch.cuda.get_rng_state(self._own) if self._own.type == "cuda" else torch.get_rng_state()
        return bytes(state.numpy())

    def set_generator_state(self, state, generator=None):
        state = torch.frombuffer(bytearray(state), dtype=torch.uint8)
        if generator is not None:
            self._generators[generator].set_state(state)
        elif self._own.type == "cuda":
            torch.cuda.set_rng_state(state, self._own)
        else:
            torch.set_rng_state(state)

    def close(self):
        self.alive = False
        self._tensors.clear()
        self._generators.clear()

    def _error(self, op, place, error):
        kind = type(error).__name__.lstrip("_")
        return WorkerError.of(kind)(str(error), self.address, op, place, kind)

    def _execute(self, op, args, kwargs):
        namespace, _, name = op.partition("::")
        name, _, overload = name.partition(".")
        function = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
        args = self._local(args)
        kwargs = self._local(kwargs or {})
        with torch._C.DisableTorchFunction(), torch.no_grad():
            return function(*args, **kwargs)

    def _local(self, value):
        if isinstance(value, RemoteTensor):
            return self._get(value._id)
        if isinstance(value, GeneratorId):
            return self._generators[value]
        if isinstance(value, torch.device):
            return self._own
        if isinstance(value, (list, tuple)):
            return [self._local(part) for part in value]
        if isinstance(value, dict):
            return {name: self._local(part) for name, part in value.items()}
        return value

    def _check(self, args, kwargs):
        for value in tree_leaves((args, kwargs)):
            if isinstance(value, RemoteTensor):
                other = None if value._link is self else value.device
            elif isinstance(value, torch.Tensor):
                other = None if value.dim() == 0 else value.device
            else:
                continue
            if other is not None:
                raise RuntimeError(
                    f"Expected all tensors to be on the same device, but found at least two: one is on {other}"
                )

    def _get(self, id):
        tensor = self._tensors.get(id)
        if tensor is None:
            raise RuntimeError(f"no tensor {id}")
        if isinstance(tensor, WorkerError):
            raise tensor
        return tensor

    def _poison(self, ids, error):
        for id in ids:
            if id is not None:
                self._tensors[id] = error

    def _raise_pending(self):
        error, self._pending = self._pending, None
        if error is not None:
            raise error

    def _describe(self, value, ids):
        if isinstance(value, torch.Tensor):
            id = next(ids)
            if id is not None:
                self._tensors[id] = value.detach()
            return _described(id, value)
        if isinstance(value, (list, tuple)):
            return (list if isinstance(value, list) else tuple)(self._describe(part, ids) for part in value)
        if isinstance(value, dict):
            return {name: self._describe(part, ids) for name, part in value.items()}
        return value


def _described(id, tensor):
    if tensor.layout is not torch.strided:
        raise RuntimeError(f"a result has the layout {tensor.layout}: tensors on workers are strided")
    return Described(id, tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())


def _positions(result):
    if result is None or isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in _positions(part)]
    return []
