"""Generators on workers. `torch.manual_seed` reaches the default ones of all workers by itself."""

import weakref

import torch

from .. import _symm
from . import _workers

_generators = weakref.WeakValueDictionary()


class Generator(torch.Generator):
    """A source of random numbers on a device: what torch.Generator is for torch's own.

    Torch's class has no place for other devices, so this one stands for it wherever an op takes `generator`.
    """

    def __new__(cls, device):
        return super().__new__(cls)

    def __init__(self, device):
        worker = _workers.find(torch.device(device))
        self._link, self._device, self._id = worker.link, worker.device, _symm.reserve_ids(1)
        self._link.new_generator(self._id, super().initial_seed())
        _generators[self._cdata] = self

    @property
    def device(self):
        return self._device

    def manual_seed(self, seed: int):
        """Starts the stream of this seed, as the worker's device has it."""
        super().manual_seed(seed)
        self._link.seed(seed, self._id)
        return self

    def seed(self) -> int:
        """Starts the stream of a random seed, and returns the seed."""
        self.manual_seed(super().seed())
        return self.initial_seed()

    def get_state(self) -> torch.Tensor:
        """The state on the worker, as torch.Generator gives it there. Waits for the worker."""
        return torch.frombuffer(bytearray(self._link.generator_state(self._id)), dtype=torch.uint8)

    def set_state(self, state: torch.Tensor) -> None:
        """Continues from a state that `get_state` gave."""
        self._link.set_generator_state(bytes(state.numpy()), self._id)

    def __del__(self):
        link = getattr(self, "_link", None)
        if link is not None:
            link.drop_generator(self._id)


def on_wire(generator: torch.Generator, worker):
    """What the worker takes for a generator."""
    own = _generators.get(generator._cdata)
    if own is None:
        raise RuntimeError(
            f"Expected a 'remote' device type for generator but found '{generator.device.type}': use"
            " symm.remote.Generator"
        )
    if own._link is not worker.link:
        raise RuntimeError(f"Expected a generator on {worker.device} but found one on {own.device}")
    return worker.generator_id(own._id)
