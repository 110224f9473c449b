"""What `symm.remote.Ray` runs in a Ray actor: it starts a worker on the actor's node and ends it.

A module of its own, so that an actor imports no torch.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import _spawn


class Actor:
    """One worker. The process that has this ends it by ending itself, too."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="symm-remote-")
        self._worker = self._pipe = None

    def node(self):
        """This node's address, for others of the cluster."""
        import ray

        return ray.util.get_node_ip_address()

    def start(self, rank, secrets, device, command, options, environment, deadline):
        """Starts the worker, with these files of secrets; returns its address."""
        folder = Path(self._folder.name)
        for name, text in secrets.items():
            file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(file, text)
            os.close(file)
        reading, self._pipe = os.pipe()
        command = command or [sys.executable, "-m", "symm._worker"]
        words = [*command, *_spawn.arguments(f"tcp:{self.node()}:0", device, reading, options)]
        self._worker = subprocess.Popen(
            [*words, "--secrets", str(folder)],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment},
            pass_fds=[reading],
        )
        os.close(reading)
        return _spawn.address(self._worker, rank, time.monotonic() + deadline)

    def stop(self):
        """Ends the worker."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
            _spawn.end(self._worker)
        self._folder.cleanup()
