"""Workers that are processes on this host, as ranks of one world."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")

import symm  # noqa: E402
from symm import _worker, remote  # noqa: E402

HERE = str(pathlib.Path(__file__).parent)
RANKS = 2


@pytest.fixture(scope="module")
def cluster():
    path = os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")])
    environment = {"TRITON_INTERPRET": "1", "PYTHONPATH": path}
    provider = remote.Processes(modules=["remote_kernels"], allow_code=True, environment=environment)
    with remote.launch(RANKS, provider) as cluster:
        yield cluster


def test_tensors_and_copies_between_workers(cluster):
    first, second = cluster.devices
    x = torch.arange(6.0, device=first).view(2, 3)
    y = x.t().to(second)
    assert torch.equal((y @ x.to(second)).cpu(), x.cpu().t() @ x.cpu())
    big = torch.randn(1 << 20)
    assert torch.equal(big.to(first).to(second).cpu(), big)
    with pytest.raises(RuntimeError):
        x + y.t()


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1])
def test_numbers_of_64_bits_without_a_sign(cluster, number):
    x = torch.full((2,), number, dtype=torch.uint64, device=cluster[0])
    assert x[0].item() == number and (torch.ones_like(x) * number).tolist() == [number] * 2
    assert torch.ops.aten.item(x[1]) == number
    with pytest.raises(OverflowError, match=f"{2**64 + number} is not a number of 64 bits"):
        cluster.run("remote_kernels:none", 1, 2**64 + number)


def test_seeds_and_generators(cluster):
    torch.manual_seed(3)
    x = torch.rand(4, device=cluster[1])
    torch.manual_seed(3)
    assert torch.equal(x.cpu(), torch.rand(4))
    generator = remote.Generator(cluster[1]).manual_seed(9)
    here = torch.Generator().manual_seed(9)
    assert torch.equal(torch.randn(3, generator=generator, device=cluster[1]).cpu(), torch.randn(3, generator=here))
    state = torch.remote.get_rng_state(cluster[0])
    x = torch.rand(4, device=cluster[0])
    torch.remote.set_rng_state(state, cluster[0])
    assert torch.equal(x, torch.rand(4, device=cluster[0]))


def test_training_is_as_here(cluster):
    def losses(device):
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
        optimizer, x = torch.optim.Adam(model.parameters(), 1e-2), torch.randn(16, 4).to(device)
        found = []
        for _ in range(50):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            found.append(loss.detach())
        return torch.stack(found).cpu()

    torch.testing.assert_close(losses(cluster[1]), losses("cpu"))


def test_errors_name_the_op_the_worker_and_the_line(cluster):
    x = torch.gather(torch.ones(3, device=cluster[1]), 0, torch.tensor([5], device=cluster[1]))
    with pytest.raises(symm.errors.WorkerError, match=r"(?s)out of bounds.*aten::gather.*test_remote_processes.py"):
        (x + 1).cpu()
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.cholesky(-torch.eye(3, device=cluster[1])).cpu()
    assert torch.ones(2, device=cluster[1]).sum().item() == 2


@pytest.mark.parametrize("sent", [False, True])
def test_a_kernel_runs_on_all_ranks(cluster, sent):
    mail, arrived = cluster.zeros(8, dtype=torch.int32), cluster.zeros(1, dtype=torch.int32)
    kernel = "remote_kernels:greet"
    if sent:
        import remote_kernels

        kernel = remote_kernels.greet
    cluster.run(kernel, 1, remote.Context, mail, arrived, BLOCK=8)
    cluster.barrier()
    assert [part.tolist() for part in mail] == [
        [100 * ((rank - 1) % RANKS) + i for i in range(8)] for rank in range(RANKS)
    ]


def test_functions_of_the_workers_modules(cluster):
    from remote_kernels import doubled, thousand

    found = doubled(torch.ones(2, device=cluster[1]), times=2)
    assert [part.device for part in found] == [cluster[1]] * 2 and found[1].tolist() == [2, 2]
    assert thousand.on(cluster[0])().tolist() == [1000, 1000]


def test_code_is_refused_without_leave():
    import remote_kernels

    with remote.launch(1) as cluster:
        with pytest.raises(symm.errors.RefusedError, match="--allow-code"):
            cluster.run(remote_kernels.greet, 1, remote.Context)


def test_a_worker_that_dies_is_named_and_the_others_go_on():
    with remote.launch(2) as cluster:
        x = [torch.ones(2, device=device) for device in cluster.devices]
        x[0].cpu()
        os.kill(cluster._links[0].pid, signal.SIGKILL)
        with pytest.raises(symm.errors.WorkerLostError, match=cluster._links[0].address):
            x[0].cpu()
        assert x[1].tolist() == [1, 1]


def test_workers_end_with_the_cluster():
    with remote.launch(1) as cluster:
        pid = cluster._links[0].pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_running_worker_is_reached_by_its_address():
    with remote.launch(1) as cluster:
        device = remote.connect(cluster._links[0].address)
        assert torch.ones(2, device=device).tolist() == [1, 1]
        remote.detach(device)
        assert torch.ones(2, device=cluster[0]).tolist() == [1, 1]


def test_a_forked_process_has_no_links(cluster):
    x, (read, write) = torch.ones(2, device=cluster[0]), os.pipe()
    child = os.fork()
    if child == 0:
        said, _ = [], remote.deadline(20)
        for use in (
            lambda: x + 1,
            x.cpu,
            lambda: torch.ones(2, device=cluster[0]),
            lambda: torch.ones(2).to(cluster[0]),
        ):
            try:
                said.append(str(use()))
            except symm.errors.WorkerLostError as error:
                said.append("forked" if "this process was forked" in str(error) else str(error))
        os.write(write, " ".join(said).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000) == b"forked forked forked forked"
    os.close(read)
    os.close(write)
    assert (x + 1).tolist() == [2, 2]


def test_a_worker_that_does_not_start():
    with pytest.raises(symm.BootstrapError, match="has ended with status"):
        remote.launch(1, remote.Processes(modules=["there_is_no_such_module"]))


@pytest.mark.parametrize("count", [0, -1, True, "2", 1.0, None])
def test_no_number_of_workers(count):
    with pytest.raises(symm.ArgumentError, match="the number of workers, at least one"):
        remote.launch(count)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "1", 1 << 63])
def test_no_limit_on_memory(limit, capsys):
    with pytest.raises(symm.ArgumentError, match=r"memory_limit must be a number of bytes from 1 to 2\*\*62, not "):
        remote.Processes(memory_limit=limit)
    if limit == "1":
        return
    with pytest.raises(SystemExit):
        _worker._options(["--listen", "unix:w", f"--memory-limit={limit}"])
    said = f"argument --memory-limit: takes a number of bytes from 1 to 2**62, not '{limit}'"
    assert said in capsys.readouterr().err


def test_a_rank_that_is_no_number(capfd):
    with pytest.raises(symm.BootstrapError, match="its own messages say why"):
        remote.launch(1, remote.Processes(environment={"RANK": "first"}))
    messages = capfd.readouterr().err
    assert "symm-worker: RANK and WORLD_SIZE in the environment are ('first', '1')" in messages
    assert "Traceback" not in messages


def test_a_worker_that_crashes_says_where(capfd):
    with remote.launch(1) as cluster:
        x = torch.ones(2, device=cluster[0])
        x.cpu()
        os.kill(cluster._links[0].pid, signal.SIGSEGV)
        with pytest.raises(symm.errors.WorkerLostError, match="its output says why"):
            # It may answer until it has written its last words.
            for _ in range(1000):
                x.cpu()
                time.sleep(0.01)
    assert "Segmentation fault" in capfd.readouterr().err


def test_the_page_of_the_docs(tmp_path):
    page = pathlib.Path(HERE, "../../../docs/remote.md").read_text()
    program = tmp_path / "greet.py"
    program.write_text("# greet.py" + page.split("```python\n# greet.py")[1].split("```")[0])
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "0 [300, 301, 302, 303, 304, 305, 306, 307]"
