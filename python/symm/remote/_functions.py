"""Functions of modules that a worker has, called from here by name."""

import functools
import inspect

import torch
from torch.utils._pytree import tree_leaves

from .. import _symm
from ..errors import ArgumentError
from . import _workers
from ._place import place
from ._run import received
from ._tensor import RemoteTensor

# Ids that a result may take.
_RESERVED = 65536


def function(plain):
    """Makes a function one that runs on the worker of its tensors; no code is sent.

    The worker has the same module and was started with `--module` and its name. Arguments and results are tensors and
    plain values, in lists, tuples and dictionaries with strings as keys. Without tensors, `device` says where:
    `f.on(device)(3)`. The call waits for the worker; on a worker, and on local tensors, it is the plain function.
    """
    if not inspect.isfunction(plain) or "." in plain.__qualname__:
        raise ArgumentError(
            f"{plain!r} is not at the top of a module: a worker finds a remote function by its name there"
        )

    @functools.wraps(plain)
    def call(*args, **kwargs):
        found = next((leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, RemoteTensor)), None)
        if found is None:
            return plain(*args, **kwargs)
        return _call(plain, found._handle.worker, args, kwargs)

    def on(device):
        worker = _workers.find(torch.device(device))
        return lambda *args, **kwargs: _call(plain, worker, args, kwargs)

    call.on = on
    call.__symm_remote_function__ = plain
    return call


def _call(plain, worker, args, kwargs):
    if plain.__module__ == "__main__":
        name = plain.__name__
        raise ArgumentError(
            f"{name} is in the program itself, and no code is sent: put it into a module that the worker has"
        )
    first = _symm.reserve_ids(_RESERVED)
    result = worker.link.run_function(plain.__module__, plain.__name__, args, kwargs, first, place())
    return received(result, worker)
