"""Where workers come from: what a provider is, workers of this process, and those that somebody else has started.

`symm.remote.launch` asks a provider for links. What it needs from a link is described in `symm._symm.Link`.
"""

from typing import Protocol

from .. import _symm
from ..errors import ArgumentError
from ._in_process import InProcessLink


class Provider(Protocol):
    """Starts workers and ends them.

    One that can choose GPUs by type has `chooses_gpus = True`, and takes the type, such as "H200", as a second argument
    of `start`.
    """

    def start(self, count: int) -> list:
        """Links to `count` workers, the one of rank 0 first. What it has started is ended if it raises."""

    def stop(self) -> None:
        """Ends the workers, if there are any. Their links are closed before."""


class InProcess:
    """Workers in this process, without a wire: to try a program, and to test this package.

    They run each op when it is issued, share this process's random numbers, and are not ranks of a world.
    """

    def __init__(self, device: str = "cpu"):
        self._device = device

    def start(self, count):
        return [InProcessLink(self._device) for _ in range(count)]

    def stop(self):
        pass


class Running:
    """Workers that somebody has started, by their addresses: `unix:PATH` or `tcp:HOST:PORT`, rank 0 first.

    Over TCP `token` is the workers' secret and `certificate` the path of the PEM file that they were started with.
    """

    def __init__(self, *addresses: str, token: str | None = None, certificate: str | None = None):
        self._addresses, self._token, self._certificate = addresses, token, certificate

    def start(self, count):
        if count != len(self._addresses):
            raise ArgumentError(f"launch asks for {count} workers, but Running has {len(self._addresses)} addresses")
        return [_symm.Link.connect(address, self._token, self._certificate) for address in self._addresses]

    def stop(self):
        pass
