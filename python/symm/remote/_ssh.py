"""Workers on a host that ssh reaches."""

import shlex
import shutil
import subprocess
import tempfile
import time
import uuid

from .. import _spawn, _symm

# The connection counts as lost after this many seconds without a sign of life.
_ALIVE = ["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "-o", "ConnectTimeout=10"]
# It asks nothing, and is this program's alone.
_OWN = ["-T", "-o", "BatchMode=yes", "-o", "ControlPath=none", "-o", "ExitOnForwardFailure=yes"]
# In a folder that only its user can enter, which goes with the worker.
_SCRIPT = "umask 077; mkdir {folder} || exit 1; trap 'rm -rf {folder}' EXIT; trap 'exit 1' HUP INT TERM; {command}"


class Ssh:
    """Workers on a host that `ssh` reaches, which are ranks of one world and end with this program.

    `host` is what ssh takes: a name of ~/.ssh/config, or "user@host". Ssh asks for nothing, so it needs a key or an
    agent, and it has to know the host's key. `options` are further words for it, such as `["-p", "2222"]`. `command`
    starts a worker there, as one writes it in a shell: `symm-worker`, or where that is. Everything goes through ssh's
    connections, one for each worker.

    `device`, `modules`, `allow_code`, `memory_limit` and `deadline` are those of `Processes`; `environment` is the
    workers'.
    """

    def __init__(
        self,
        host,
        device="cpu",
        command="symm-worker",
        options=(),
        modules=(),
        allow_code=False,
        memory_limit=None,
        environment=None,
        deadline=_spawn.START,
    ):
        self._ssh = ["ssh", *_OWN, *_ALIVE, *options]
        self._options = _spawn.options(device, modules, allow_code, memory_limit)
        self._host, self._command, self._device = host, command, device
        self._deadline, self._environment = deadline, environment or {}
        self._folder = None
        self._started = []
        self._pids = {}

    def start(self, count):
        self._folder = tempfile.mkdtemp(prefix="symm-remote-")
        run = uuid.uuid4().hex
        try:
            for rank, environment in enumerate(_spawn.worlds(count, self._environment)):
                self._started.append(self._spawn(rank, f"/tmp/symm-remote-{run}-{rank}", environment))
            end = time.monotonic() + self._deadline
            inside = [_spawn.address(worker, rank, end) for rank, worker in enumerate(self._started)]
            links = [
                _symm.Link.connect(f"unix:{self._folder}/{rank}", inside=there) for rank, there in enumerate(inside)
            ]
        except BaseException:
            self.stop()
            raise
        self._pids = {worker: link.pid for worker, link in zip(self._started, links, strict=True)}
        return links

    def stop(self):
        for worker in self._started:
            worker.stdin.close()
        for worker in self._started:
            if not _spawn.end(worker) and worker in self._pids:
                # One that hangs does not see that its input has ended.
                kill = [*self._ssh, self._host, f"kill -9 {self._pids[worker]}"]
                subprocess.run(kill, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30, check=False)
        self._started.clear()
        self._pids.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _spawn(self, rank, folder, environment):
        device = self._device if self._device == "cpu" else f"cuda:{rank}"
        variables = shlex.join(f"{name}={value}" for name, value in environment.items())
        arguments = shlex.join(_spawn.arguments(f"unix:{folder}/worker", device, 0, self._options))
        script = _SCRIPT.format(folder=folder, command=f"env {variables} {self._command} {arguments}")
        forward = f"{self._folder}/{rank}:{folder}/worker"
        return subprocess.Popen(
            [*self._ssh, "-L", forward, self._host, f"sh -c {shlex.quote(script)}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
