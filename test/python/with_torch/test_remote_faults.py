"""What fails around a worker: each ends in time with an error that names the worker, and nothing is left behind."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

import remote_stopped  # noqa: E402
from symm import errors, remote  # noqa: E402

WORKER = [sys.executable, "-m", "symm._worker"]


@pytest.fixture(scope="module")
def cluster():
    with remote.launch(2, remote.Processes(environment={"OMP_NUM_THREADS": "1"})) as cluster:
        # What the first ops import takes seconds.
        for device in cluster.devices:
            (torch.ones(2, device=device) + 1).relu().cpu()
        yield cluster


def count(x):
    return len(x)


class Stopped:
    """A worker that hangs, within a `with`."""

    def __init__(self, link):
        self.link = link

    def __enter__(self):
        remote_stopped.stop(self.link.pid)
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        os.kill(self.link.pid, signal.SIGCONT)

    def seconds(self):
        return time.monotonic() - self.began


LATE = {
    "fetch": lambda first, second, x: x.cpu(),
    "item": lambda first, second, x: x.sum().item(),
    "values tell the shape": lambda first, second, x: x.nonzero(),
    "upload": lambda first, second, x: torch.zeros(16 << 20).to(second),
    "synchronize": lambda first, second, x: torch.remote.synchronize(),
    "copy from it": lambda first, second, x: x.to(first).cpu(),
    "copy to it": lambda first, second, x: torch.ones(3, device=first).to(second).cpu(),
    "function": lambda first, second, x: remote.function(count).on(second)(x),
}


@pytest.mark.parametrize("wait", LATE)
def test_a_worker_that_hangs(cluster, wait):
    first, second = cluster.devices
    x = torch.ones(4, device=second)
    torch.remote.synchronize()
    with Stopped(cluster._links[1]) as stopped, remote.deadline(0.5):
        y = x.relu()
        with pytest.raises(errors.RemoteError, match=cluster._links[1].address) as raised:
            LATE[wait](first, second, y)
        assert isinstance(raised.value, TimeoutError) and stopped.seconds() < 40
        # Others go on, also the one that had waited for it; it tells of its copy at the next wait.
        with contextlib.suppress(TimeoutError):
            torch.remote.synchronize(first)
        assert torch.ones(3, device=first).sum().item() == 3
    # So does this one.
    with contextlib.suppress(TimeoutError):
        torch.remote.synchronize(second)
    assert y.tolist() == [1, 1, 1, 1]


def test_deadlines_name_the_op_and_its_line(cluster):
    x = torch.ones(4, device=cluster[1])
    torch.remote.synchronize()
    with Stopped(cluster._links[1]), remote.deadline(0.3):
        y = x.relu()
        with pytest.raises(errors.DeadlineError, match="aten::relu") as raised:
            (y + 1).cpu()
        assert "test_remote_faults.py" in raised.value.place and raised.value.op == "aten::relu"


def test_deadlines_are_nested_and_last(cluster):
    link = cluster._links[0]
    before = link.deadline
    with remote.deadline(7):
        assert link.deadline == 7
        with remote.deadline(2.5):
            assert link.deadline == 2.5
        assert link.deadline == 7
        with remote.launch(1, remote.InProcess()) as later:
            assert later._links[0].deadline == 7
    assert link.deadline == before
    for wrong in (0, -1, float("nan"), float("inf"), "1", None, True):
        with pytest.raises(errors.ArgumentError, match="number of seconds"):
            remote.deadline(wrong)


def test_a_rank_that_hangs_is_named():
    with remote.launch(2) as cluster, remote.deadline(3):
        cluster.join()
        cluster.barrier()
        with Stopped(cluster._links[1]) as stopped:
            with pytest.raises(errors.SymmError, match=r"rank 1") as raised:
                cluster.barrier()
            assert stopped.seconds() < 40, raised.value


def test_ctrl_c_leaves_both_usable(cluster):
    x = torch.ones(16 << 20, device=cluster[1])
    torch.remote.synchronize()
    for wait in (
        lambda: x.cpu(),
        lambda: torch.zeros(32 << 20).to(cluster[1]),
        cluster.synchronize,
        lambda: x.sum().item(),
    ):
        with Stopped(cluster._links[1]):
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                wait()
        assert x[:3].tolist() == [1, 1, 1]
        assert (torch.arange(3).to(cluster[1]) + 1).tolist() == [1, 2, 3]


INTERRUPTED = """
import os, signal, threading, time, torch
from symm import remote
cluster = remote.launch(1)
layer, x = torch.nn.Linear(8, 8).to(cluster[0]), torch.ones(4, 8, device=cluster[0])
layer(x).sum().backward()
for number in range(40):
    loss = [layer(x).sum() for _ in range(200)]
    threading.Timer(0.02 + 0.002 * number, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        for one in loss:
            one.backward()
        time.sleep(5)
    except KeyboardInterrupt:
        pass
print(torch.ones(3, device=cluster[0]).tolist(), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_ctrl_c_within_a_backward_pass():
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout == "[1.0, 1.0, 1.0] True\n", run.stderr


def test_a_worker_that_is_killed(cluster):
    with remote.launch(2) as doomed:
        x = [torch.ones(2, device=device) for device in doomed.devices]
        doomed.join()
        address = doomed._links[1].address
        os.kill(doomed._links[1].pid, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(errors.WorkerLostError, match=address):
                (x[1] + 1).cpu()
        # A rank of its world says that it has gone, and so does what all do.
        with pytest.raises(errors.SymmError, match="rank 1"):
            doomed.barrier()
        with pytest.raises(errors.WorkerLostError, match=address):
            x[1].to(doomed[0]).cpu()
        assert x[0].tolist() == [1, 1]
        pids, folder = [link.pid for link in doomed._links], Path(address.removeprefix("unix:")).parent
    assert not folder.exists() and not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert torch.ones(1, device=cluster[0]).item() == 1


def test_a_worker_that_hangs_is_ended_with_the_cluster():
    cluster = remote.launch(1)
    pid = cluster._links[0].pid
    remote_stopped.stop(pid)
    began = time.monotonic()
    cluster.close()
    assert time.monotonic() - began < 60 and not Path(f"/proc/{pid}").exists()


def test_memory_beyond_the_limit():
    with remote.launch(1, remote.Processes(memory_limit=256 << 20)) as cluster:
        x = torch.ones(1 << 30, device=cluster[0])
        with pytest.raises(torch.OutOfMemoryError, match=r"(?s)aten::.*test_remote_faults.py") as raised:
            x.sum().item()
        assert raised.value.worker.startswith(cluster._links[0].address)
        with pytest.raises(torch.OutOfMemoryError):
            torch.zeros(100 << 20).to(cluster[0]).sum().item()
        assert torch.ones(1 << 20, device=cluster[0]).sum().item() == 1 << 20


CLIENT = """
import os, sys, torch
from symm import remote
cluster = remote.launch(2)
x = cluster.zeros(1 << 20)
cluster.barrier()
# One worker is within an op that takes long.
y = torch.ones(3000, 3000, device=cluster[1], dtype=torch.float64)
for _ in range(50):
    y = y @ y
torch.ones(1, device=cluster[0]).cpu()
print(cluster._links[0].address, *(link.pid for link in cluster._links), flush=True)
sys.stdin.read()
"""


def test_a_client_that_is_killed_leaves_nothing(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    address, *pids = client.stdout.readline().split()
    assert Path(address.removeprefix("unix:")).exists()
    client.kill()
    client.communicate()
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert list(tmp_path.iterdir()) == []
    assert [name for name in os.listdir("/dev/shm") if any(pid in name for pid in pids)] == []


def can_make_networks():
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None:
        return False
    probe = f"symm-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False).returncode == 0
    if made:
        subprocess.run(["ip", "netns", "delete", probe], check=True)
    return made


class Network:
    """A worker behind a network of its own, which can be cut and slowed."""

    def __init__(self, folder):
        number = os.getpid()
        self.name, self.here, self.there = f"symm-{number}", f"sy{number}a", f"sy{number}b"
        subnet = f"10.{200 + number % 50}.{number // 50 % 250}"
        self.run("ip", "netns", "add", self.name)
        self.run("ip", "link", "add", self.here, "type", "veth", "peer", "name", self.there, "netns", self.name)
        self.run("ip", "address", "add", f"{subnet}.1/24", "dev", self.here)
        self.run("ip", "link", "set", self.here, "up")
        self.inside("ip", "address", "add", f"{subnet}.2/24", "dev", self.there)
        self.inside("ip", "link", "set", self.there, "up")
        self.inside("ip", "link", "set", "lo", "up")
        secrets = folder / "secrets"
        command = [
            "ip",
            "netns",
            "exec",
            self.name,
            *WORKER,
            "--listen",
            f"tcp:{subnet}.2:0",
            "--secrets",
            str(secrets),
        ]
        self.worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        address = self.worker.stdout.readline().split()[-1]
        token = (secrets / "token").read_text()
        self.device = remote.connect(address, token, secrets / "certificate.pem")

    def run(self, *command):
        subprocess.run(command, check=True)

    def inside(self, *command):
        self.run("ip", "netns", "exec", self.name, *command)

    def slow(self, *how):
        """For instance `rate 4mbit burst 16k latency 400ms`, in both directions; with nothing, as fast as ever."""
        for side, device in ((self.run, self.here), (self.inside, self.there)):
            side(
                "tc", "qdisc", "replace", "dev", device, "root", *(("tbf", *how) if how else ("pfifo", "limit", "1000"))
            )

    def cut(self, is_cut=True):
        self.run("ip", "link", "set", self.here, "down" if is_cut else "up")

    def end(self):
        self.cut(False)
        remote.detach(self.device)
        self.worker.kill()
        self.worker.wait()
        self.worker.stdout.close()
        subprocess.run(["ip", "netns", "delete", self.name], check=True)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    if not can_make_networks():
        pytest.skip("needs the right to make network namespaces (root), and ip and tc: apt-get install iproute2")
    network = Network(tmp_path_factory.mktemp("network"))
    yield network
    network.end()


def test_a_network_that_is_slow(network):
    x = torch.arange(1 << 17, dtype=torch.float32)
    network.slow("rate", "4mbit", "burst", "16k", "latency", "400ms")
    with remote.deadline(0.5), pytest.raises(errors.DeadlineError, match="tcp:10"):
        x.to(network.device).cpu()
    # With more time it is only slow.
    assert torch.equal(x.to(network.device).cpu(), x)
    network.slow()


def test_a_network_that_loses_packets(network):
    # What does not fit into so little is lost.
    network.slow("rate", "20mbit", "burst", "4k", "limit", "16k")
    x = torch.randn(1 << 18)
    assert torch.equal((x.to(network.device) * 2).cpu(), x * 2)
    network.slow()


def test_a_network_that_is_cut_for_a_while(network):
    x = torch.ones(4, device=network.device)
    x.cpu()
    network.cut()
    began = time.monotonic()
    with remote.deadline(1), pytest.raises(errors.DeadlineError, match="tcp:10"):
        (x + 1).cpu()
    assert time.monotonic() - began < 25
    network.cut(False)
    assert (x + 2).tolist() == [3, 3, 3, 3]


def test_a_network_that_is_cut_for_long(network, cluster):
    """The last test with this network: the connection is lost after half a minute of silence."""
    x = torch.ones(4, device=network.device)
    x.cpu()
    network.cut()
    began = time.monotonic()
    with pytest.raises(errors.WorkerLostError, match="tcp:10"):
        (x + 1).cpu()
    assert 10 < time.monotonic() - began < 120
    assert torch.ones(1, device=cluster[0]).item() == 1
