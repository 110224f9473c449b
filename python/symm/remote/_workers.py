"""The workers that this process drives: which link a device's index means, and what its tensors' ids are."""

import atexit
import os

import torch

from .. import _symm
from ..errors import ArgumentError

_workers = []
_current = 0
# Whether each op waits for the worker, so that what goes wrong is raised where it was issued.
synchronous = os.environ.get("SYMM_REMOTE_SYNC", "") not in ("", "0")
last_seed = None
# The longest wait for a worker, in seconds.
deadline = 600.0


class Worker:
    """One device `remote:index` and the link to it.

    `kind` is the type of the worker's own device, "cpu" or "cuda". `fresh` is the tensor that the last op has made
    without values: a copy into it needs no second tensor.
    """

    def __init__(self, link, index: int):
        self.link = link
        self.index = index
        self.device = torch.device("remote", index)
        self.own_device = torch.device(link.device)
        self.kind = self.own_device.type
        self.fresh = None
        # What ops return here, by their keys.
        self.cache = link.specs
        # The argument that means a generator of the worker, made of its id.
        self.generator_id = link.generator_id if hasattr(link, "generator_id") else _symm.GeneratorId

        self.call = self._call_and_wait if synchronous else link.call

    def _call_and_wait(self, *call):
        self.link.call(*call)
        self.link.sync()

    def __repr__(self) -> str:
        return f"<remote:{self.index} at {self.link.address}, {self.link.device}>"


def attach(link) -> Worker:
    """Makes a link the next device: the first is `remote:0`."""
    index = next((i for i, worker in enumerate(_workers) if worker is None), len(_workers))
    worker = Worker(link, index)
    if index == len(_workers):
        _workers.append(worker)
    else:
        _workers[index] = worker
    link.deadline = deadline
    if last_seed is not None:
        link.seed(last_seed)
    return worker


def detach(device) -> None:
    """Closes a device's link. Its tensors are gone; the index is free for the next worker."""
    remove(find(torch.device(device)))


def remove(worker) -> None:
    """Closes a worker's link, if that has not been done."""
    if worker.index < len(_workers) and _workers[worker.index] is worker:
        _workers[worker.index] = worker.fresh = None
        worker.link.close()


def find(device) -> Worker:
    """The worker of a device; without an index, of the current one."""
    index = _current if device.index is None else device.index
    worker = _workers[index] if 0 <= index < len(_workers) else None
    if worker is None:
        raise ArgumentError(
            f"there is no device remote:{index}: connect to a worker with symm.remote.connect or symm.remote.launch"
        )
    return worker


def alive() -> list:
    """All workers, in the order of their indices."""
    return [worker for worker in _workers if worker is not None]


def count() -> int:
    """One more than the highest index of a device."""
    return len(_workers)


def current() -> int:
    """The index that `remote` without one means."""
    return _current


def set_current(index: int) -> None:
    """Makes `remote` mean another index."""
    global _current
    _current = index


def seed_all(seed: int) -> None:
    """Seeds every worker that is not lost, and those that come later."""
    global last_seed
    last_seed = seed
    for worker in alive():
        if worker.link.alive:
            worker.link.seed(seed)


def set_deadline(seconds: float) -> None:
    """Sets the longest wait for each worker, and for those that come later."""
    global deadline
    deadline = seconds
    for worker in alive():
        worker.link.deadline = seconds


@atexit.register
def _close() -> None:
    for worker in alive():
        worker.link.close()
