"""Workers as processes on this host."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from .. import _spawn, _symm


class Processes:
    """Workers as processes on this host, which are ranks of one world and end with this process.

    `device` is "cpu" or "cuda"; with "cuda" the worker of rank r has the GPU r. `modules` are those whose remote
    functions and kernels may run; `allow_code` lets this program send source, `memory_limit` is in bytes for each
    worker. `environment` is added to this process's; `deadline` is for the start, in seconds. A worker's messages go to
    this process's stderr.
    """

    def __init__(
        self, device="cpu", modules=(), allow_code=False, memory_limit=None, environment=None, deadline=_spawn.START
    ):
        self._options = _spawn.options(device, modules, allow_code, memory_limit)
        self._device, self._deadline, self._environment = device, deadline, environment or {}
        self._folder = None
        self._workers = []
        self._pipe = None

    def start(self, count):
        self._folder = tempfile.mkdtemp(prefix="symm-remote-")
        # The workers end when the last end of this pipe for writing is closed, however this process ends.
        reading, self._pipe = os.pipe()
        try:
            for rank, environment in enumerate(_spawn.worlds(count, self._environment)):
                self._workers.append(self._spawn(rank, environment, reading))
            end = time.monotonic() + self._deadline
            addresses = [_spawn.address(worker, rank, end) for rank, worker in enumerate(self._workers)]
            return [_symm.Link.connect(address) for address in addresses]
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
            _spawn.end(worker)
        self._workers.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _spawn(self, rank, environment, reading):
        device = self._device if self._device == "cpu" else f"cuda:{rank}"
        arguments = _spawn.arguments(f"unix:{self._folder}/{rank}", device, reading, self._options)
        return subprocess.Popen(
            [sys.executable, "-m", "symm._worker", *arguments],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment},
            pass_fds=[reading],
            start_new_session=True,
        )
