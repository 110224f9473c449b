"""Torch tensors on other machines: the device `remote`.

`symm.remote.launch(1)` starts a worker, and `torch.randn(3, device="remote:0")` is then a tensor of that worker: only
its metadata is here, and operations on it run there. Importing this module registers the device with torch.
"""

from .. import _need_torch as _need_torch
from ._cluster import Cluster, Context, Ranked, connect, launch
from ._deadline import deadline
from ._functions import function
from ._processes import Processes
from ._providers import InProcess, Provider, Running
from ._progress import progress
from ._random import Generator
from ._ray import Ray
from ._ssh import Ssh
from ._tensor import RemoteTensor
from ._workers import detach

__all__ = [
    "Cluster",
    "Context",
    "Generator",
    "InProcess",
    "Processes",
    "Provider",
    "Ranked",
    "Ray",
    "RemoteTensor",
    "Running",
    "Ssh",
    "connect",
    "deadline",
    "detach",
    "function",
    "launch",
    "progress",
]
