"""Where workers come from.

A provider has `start(count)`, which returns the links to that many workers in the order of their ranks, and `stop()`,
which ends what it has started. What `launch` needs from a link is described in `symm._symm.Link`.
"""

import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Protocol

from .. import _symm
from ..errors import ArgumentError, BootstrapError
from ._in_process import InProcessLink

_START = 60.0


class Provider(Protocol):
    """Starts workers and ends them."""

    def start(self, count: int) -> list:
        """Links to `count` workers, the one of rank 0 first."""

    def stop(self) -> None:
        """Ends the workers. Their links are closed before."""


class InProcess:
    """Workers in this process, without a wire: to try a program, and to test this package.

    They run each op when it is issued, share this process's random numbers, and are no ranks of a world.
    """

    def __init__(self, device: str = "cpu"):
        self._device = device

    def start(self, count):
        return [InProcessLink(self._device) for _ in range(count)]

    def stop(self):
        pass


class Processes:
    """Workers as processes on this host, which are ranks of one world and end with this process.

    `device` is "cpu" or "cuda"; with "cuda" the worker of rank r has the GPU r. `modules` are those whose remote
    functions and kernels may run; `allow_code` lets this program send source, `memory_limit` is in bytes for each worker.
    `environment` is added to this process's. A worker's messages go to this process's stderr.
    """

    def __init__(self, device="cpu", modules=(), allow_code=False, memory_limit=None, environment=None, deadline=_START):
        if device not in ("cpu", "cuda"):
            raise ArgumentError(f"device {device!r}: workers are on 'cpu' or 'cuda'")
        self._device, self._deadline = device, deadline
        self._options = [word for module in modules for word in ("--module", module)]
        self._options += ["--allow-code"] if allow_code else []
        self._options += [] if memory_limit is None else ["--memory-limit", str(memory_limit)]
        self._environment = environment or {}
        self._folder = None
        self._workers = []
        self._pipe = None

    def start(self, count):
        self._folder = tempfile.mkdtemp(prefix="symm-remote-")
        # The workers end when the last end of this pipe for writing is closed, however this process ends.
        reading, self._pipe = os.pipe()
        try:
            world = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
            for rank in range(count):
                self._workers.append(self._spawn(rank, world, reading))
            end = time.monotonic() + self._deadline
            return [_symm.Link.connect(_address(worker, rank, end)) for rank, worker in enumerate(self._workers)]
        except BaseException:
            self.stop()
            raise
        finally:
            os.close(reading)

    def stop(self):
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        for worker in self._workers:
            try:
                worker.wait(5)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
            worker.stdout.close()
        self._workers.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _spawn(self, rank, world, reading):
        device = self._device if self._device == "cpu" else f"cuda:{rank}"
        listen = f"unix:{self._folder}/{rank}"
        command = [sys.executable, "-m", "symm._worker", "--listen", listen, "--device", device]
        command += ["--parent-fd", str(reading), *self._options]
        environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), **world, **self._environment}
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, pass_fds=[reading], start_new_session=True
        )


class Running:
    """Workers that somebody has started, by their addresses: `unix:PATH` or `tcp:HOST:PORT`, rank 0 first.

    Over TCP `token` is the workers' secret and `certificate` the path of the PEM file that they were started with.
    """

    def __init__(self, *addresses: str, token: str | None = None, certificate: str | None = None):
        self._addresses, self._token, self._certificate = addresses, token, certificate

    def start(self, count):
        if count != len(self._addresses):
            raise ArgumentError(f"{count} workers are asked for, and {len(self._addresses)} addresses are given")
        return [_symm.Link.connect(address, self._token, self._certificate) for address in self._addresses]

    def stop(self):
        pass


def _address(worker, rank, end):
    """The address that a worker prints when it listens."""
    text = b""
    while not text.endswith(b"\n"):
        if not select.select([worker.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
            raise BootstrapError(f"worker {rank} does not listen after {_START:.0f} s")
        part = os.read(worker.stdout.fileno(), 4096)
        if not part:
            raise BootstrapError(f"worker {rank} has ended with status {worker.wait()}: its own messages say why")
        text += part
    return text.decode().split()[-1]


def _free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
