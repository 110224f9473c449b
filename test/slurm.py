"""Slurm on this host alone: a cluster of one node for a while, in a folder of its own."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ["munged", "slurmctld", "slurmd", "srun"]
SECONDS_TO_COME_UP = 60
# Where daemons are that no ordinary user has in his path.
SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin"
SETTINGS = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdSpoolDir={folder}/node
StateSaveLocation={folder}/controller
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@contextlib.contextmanager
def cluster():
    """The environment in which `srun` starts ranks here; None, and a line that says why, where it cannot."""
    path = f"{os.environ['PATH']}:{SYSTEM}"
    missing = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    if missing or os.geteuid() != 0:
        print(f"srun: left out: {'needs root' if not missing else 'no ' + ', '.join(missing)}", flush=True)
        yield None
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as daemons:
        environment = os.environ | {"PATH": path, "SLURM_CONF": f"{folder}/slurm.conf"}
        start(Path(folder), environment, daemons)
        yield environment if starts_ranks(environment) else None


def start(folder, environment, daemons):
    """Starts the daemons, which end with `daemons`."""
    host = socket.gethostname().partition(".")[0]
    ports = dict(zip(("controller_port", "node_port"), free_ports(2)))
    told = SETTINGS.format(folder=folder, host=host, processors=os.cpu_count(), **ports)
    (folder / "slurm.conf").write_text(told)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o600)
    for name in ("node", "controller"):
        (folder / name).mkdir()
    # Munge takes nothing from a folder that others may write to, and others have to get at its socket.
    folder.chmod(0o755)
    files = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid", "log-file": "munge.log",
             "seed-file": "munge.seed"}  # fmt: skip
    munge = ["munged", "--foreground", "--force", *(f"--{what}={folder / name}" for what, name in files.items())]
    for line in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(line, env=environment, **quiet)
        daemons.callback(end, process)


def end(process):
    process.terminate()
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def starts_ranks(environment):
    """Whether srun starts a command here and connects it by PMIx, once the daemons have found each other."""
    until = time.monotonic() + SECONDS_TO_COME_UP
    while True:
        line = ["timeout", "20", "srun", "--mpi=pmix", "-n", "1", "true"]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return True
        if "PMIx" in done.stderr or time.monotonic() > until:
            # Debian's plug-in needs a link that is in libpmix-dev.
            print(f"srun: left out: {done.stderr.strip()}", flush=True)
            return False
        time.sleep(0.2)


def free_ports(count):
    with contextlib.ExitStack() as open_ones:
        found = [open_ones.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in found]
