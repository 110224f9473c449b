"""Where workers come from: the same for every provider."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

import remote_sshd  # noqa: E402
from symm import errors, remote  # noqa: E402

HERE = Path(__file__).parent
WORKER = [sys.executable, "-m", "symm._worker"]
# What a worker needs in its environment to find this package, the module of these tests, and no GPU.
PATHS = os.pathsep.join(
    [str(HERE), *(os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep))]
)
ENVIRONMENT = {"TRITON_INTERPRET": "1", "PYTHONPATH": PATHS, "OMP_NUM_THREADS": "1"}
USUAL = {"modules": ["remote_kernels"], "environment": ENVIRONMENT}


class Case(NamedTuple):
    provider: object
    # Whether the workers are ranks of one world, and processes that end with the cluster.
    has_ranks: bool = True
    ends: bool = True


def in_process(folder, stack):
    return Case(remote.InProcess(), has_ranks=False, ends=False)


def processes(folder, stack):
    return Case(remote.Processes(**USUAL))


def started(folder, stack, rank, *options):
    """The address of a worker that somebody has started as a rank."""
    world = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    environment = {**os.environ, **ENVIRONMENT, **world, "TORCHELASTIC_RUN_ID": str(folder)}
    command = [*WORKER, "--module", "remote_kernels", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process.stdout.readline().split()[-1]


def running(folder, stack):
    addresses = [started(folder, stack, rank, "--listen", f"unix:{folder}/{rank}") for rank in range(2)]
    return Case(remote.Running(*addresses), ends=False)


def running_tcp(folder, stack):
    secrets = folder / "secrets"
    listen = ["--listen", "tcp:127.0.0.1:0", "--secrets", str(secrets)]
    addresses = [started(folder, stack, rank, *listen) for rank in range(2)]
    token = (secrets / "token").read_text()
    return Case(remote.Running(*addresses, token=token, certificate=secrets / "certificate.pem"), ends=False)


def ssh(folder, stack):
    if remote_sshd.SSHD is None:
        pytest.skip(remote_sshd.MISSING)
    server = remote_sshd.Sshd(folder)
    stack.callback(server.end)
    # As one writes it in a shell.
    command = f"~/{os.path.relpath(sys.executable, Path('~').expanduser())} -m symm._worker"
    return Case(remote.Ssh(server.host, command=command, options=server.options, **USUAL))


def ray(folder, stack):
    pytest.importorskip("ray", reason="needs Ray")
    return Case(remote.Ray(device="cpu", **USUAL))


CASES = [in_process, processes, running, running_tcp, ssh, pytest.param(ray, marks=pytest.mark.long)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.__name__)
def case(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param.__name__)
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setattr("tempfile.tempdir", str(folder))
        case = request.param(folder, stack)
        cluster = stack.enter_context(remote.launch(2, case.provider))
        yield cluster, case


def test_tensors_ops_and_errors(case):
    (first, second), _ = case
    x = torch.arange(6.0).view(2, 3)
    assert torch.equal((x.to(second) @ x.t().to(second)).cpu(), x @ x.t())
    assert torch.ones(3, device=first).sum().item() == 3
    wrong = torch.gather(torch.ones(3, device=second), 0, torch.tensor([7], device=second))
    with pytest.raises(
        errors.WorkerError, match=r"(?s)out of bounds.*aten::gather.*test_remote_providers.py"
    ) as raised:
        wrong.cpu()
    assert raised.value.worker
    assert torch.ones(3, device=second).sum().item() == 3


def test_copies_between_workers(case):
    (first, second), _ = case
    x = torch.randn(300, 1000)
    assert torch.equal(x.to(first).to(second).t().cpu(), x.t())


def test_functions_of_a_module(case):
    from remote_kernels import doubled, thousand

    (first, second), _ = case
    assert doubled(torch.ones(2, device=second), times=2)[1].tolist() == [2, 2]
    assert thousand.on(first)().device == first


def test_a_kernel_and_collectives_on_the_ranks(case):
    cluster, case = case
    if not case.has_ranks:
        for call in (lambda: cluster.zeros(3), lambda: cluster.run("remote_kernels:greet", 1)):
            with pytest.raises(errors.UnsupportedError, match="not ranks"):
                call()
        return
    mail, arrived = cluster.zeros(8, dtype=torch.int32), cluster.zeros(1, dtype=torch.int32)
    cluster.run("remote_kernels:greet", 1, remote.Context, mail, arrived, BLOCK=8)
    cluster.barrier()
    assert [part.tolist() for part in mail] == [[100 * (1 - rank) + i for i in range(8)] for rank in range(2)]
    own = [torch.full((2,), rank + 1.0, device=cluster[rank]) for rank in range(2)]
    assert [part.tolist() for part in cluster.all_gather(own)] == [[1, 1, 2, 2]] * 2


def test_a_gpu_is_chosen_by_type_or_refused(case):
    _, case = case
    if not getattr(case.provider, "chooses_gpus", False):
        with pytest.raises(errors.ArgumentError, match=r"gpu='H200'.*cannot choose"):
            remote.launch(2, case.provider, gpu="H200")


def test_nothing_is_left(case):
    """The last test of this file: it closes the cluster."""
    cluster, case = case
    pids = {worker.link.pid for worker in cluster._workers} - {os.getpid()}
    inside = [
        Path(link.inside.removeprefix("unix:")).parent for link in cluster._links if link.inside.startswith("unix:")
    ]
    cluster.close()
    with pytest.raises(errors.ArgumentError, match="no device remote:"):
        torch.ones(1, device=cluster[0])
    if case.ends:
        assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
        assert [folder for folder in inside if folder.exists()] == []
        assert list(Path(tempfile.gettempdir()).glob("symm-remote-*")) == []
    else:
        # What somebody else has started goes on, and is free for another world.
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        with remote.launch(2, case.provider) as again:
            assert torch.ones(2, device=again[1]).tolist() == [1, 1]
            if case.has_ranks:
                assert again.zeros(2)[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        (lambda: remote.Processes(modules=["there_is_no_such_module"]), "has ended with status"),
        (lambda: remote.Ssh("127.0.0.1", options=["-F", "none", "-p", "1"]), "has ended with status 255"),
        (lambda: remote.Processes(environment={"PYTHONSTARTUP": ""}, deadline=0.0), "did not listen in time"),
    ],
)
def test_a_worker_that_does_not_start_leaves_nothing(provider, message, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    began = time.monotonic()
    with pytest.raises(errors.BootstrapError, match=message):
        remote.launch(1, provider())
    assert time.monotonic() - began < 30
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", None])
def test_the_number_of_workers_is_a_number(count):
    with pytest.raises(errors.ArgumentError, match="number of workers"):
        remote.launch(count)


def test_workers_that_are_no_ranks_of_one_world_say_so(tmp_path):
    with contextlib.ExitStack() as stack:
        command = [*WORKER, "--listen", f"unix:{tmp_path}/alone"]
        process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        stack.callback(process.terminate)
        address = process.stdout.readline().split()[-1]
        with remote.launch(1, remote.Running(address)) as cluster, pytest.raises(
            errors.ArgumentError, match="not rank 0 of 1"
        ):
            cluster.zeros(3)


@pytest.mark.long
def test_ray_chooses_gpus_by_type(monkeypatch):
    from remote_kernels import visible_gpus

    ray = pytest.importorskip("ray", reason="needs Ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray.init(num_gpus=2, resources={"accelerator_type:H200": 2}, include_dashboard=False, configure_logging=False)
    try:
        fake = [sys.executable, str(HERE / "remote_fake_gpu.py")]
        with remote.launch(2, remote.Ray(command=fake, **USUAL), gpu="H200") as cluster:
            assert sorted(visible_gpus.on(device)() for device in cluster.devices) == ["0", "1"]
        # The cluster is the program's own, and goes on.
        assert ray.is_initialized()
        with pytest.raises(errors.BootstrapError, match="no room.*B300"):
            remote.launch(1, remote.Ray(command=fake, deadline=3.0, **USUAL), gpu="B300")
    finally:
        ray.shutdown()
