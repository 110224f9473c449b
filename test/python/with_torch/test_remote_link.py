"""A link to a worker that runs torch: operations, failures, transfers, and what happens when one of the two ends."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

import remote_stopped  # noqa: E402
from symm import _symm, errors  # noqa: E402: it wants torch

HERE = Path(__file__).parent


# A handle that goes drops its tensor; here the ends of links do.
_kept = []


class Remote:
    """A tensor on a worker."""

    def __init__(self, link, id):
        self._handle = _symm.Handle(types.SimpleNamespace(link=link), id)
        _kept.append(self._handle)


class Process:
    """A worker in a process of its own."""

    def __init__(self, *arguments, folder, listen=None, **environment):
        self.socket = folder / "worker"
        command = [sys.executable, "-m", "symm._worker", "--listen", listen or f"unix:{self.socket}", *arguments]
        environment = {**os.environ, **environment}
        environment["PYTHONPATH"] = os.pathsep.join([environment.get("PYTHONPATH", ""), str(HERE)])
        self.errors = open(folder / "errors", "w+")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment
        )
        line = self.process.stdout.readline()
        self.address = line.removeprefix("symm-worker listens on ").strip()
        assert self.address, self.said()

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """Starts workers, which end with this module."""
    _symm.remote_configure(Remote)
    with contextlib.ExitStack() as stack:

        def start(*arguments, **keywords):
            process = Process(*arguments, folder=tmp_path_factory.mktemp("worker"), **keywords)
            stack.callback(process.end)
            return process

        yield start


@pytest.fixture(scope="module")
def worker(start):
    return start("--module", "remote_functions", "--allow-code")


@pytest.fixture
def link(worker):
    link = _symm.Link.connect(worker.address)
    yield link
    link.close()


def fetched(link, id, like):
    result = torch.empty_like(like)
    link.fetch(id, result)
    return result


def test_operations_give_what_torch_gives(link):
    x = torch.randn(3, 4)
    link.upload(1, x)
    link.call("aten::add.Tensor", (Remote(link, 1), 2.5), {"alpha": 2}, [2], "here")
    link.call("aten::transpose.int", (_symm.TensorId(2), 0, 1), None, [3], "here")
    link.call("aten::mul_.Tensor", (Remote(link, 3), torch.tensor(2.0)), None, [None], "here")
    assert torch.equal(fetched(link, 2, x), (x + 5) * 2)
    found = link.meta(3)
    assert (found.dtype, found.shape, found.strides, found.offset) == (torch.float32, (4, 3), (1, 4), 0)
    values, indices = link.ask("aten::max.dim", (Remote(link, 1), 1), None, [4, 5], "here")
    assert (values.id, indices.dtype, indices.shape) == (4, torch.int64, (3,))
    assert link.ask("aten::equal", (Remote(link, 1), Remote(link, 1)), None, [], "here") is True
    link.call("aten::split.Tensor", (Remote(link, 1), 2), None, [6, 7], "here")
    assert torch.equal(fetched(link, 7, x[2:]), x[2:])


@pytest.mark.parametrize("dtype", ["bool", "int64", "bfloat16", "complex64", "float8_e4m3fn"])
def test_dtypes_go_and_come(link, dtype):
    x = torch.arange(7).to(getattr(torch, dtype))
    link.upload(1, x)
    assert torch.equal(fetched(link, 1, x).float(), x.float())
    with pytest.raises(errors.RemoteError, match="not what this place holds"):
        link.fetch(1, torch.empty(7, dtype=torch.float64))


def test_views_that_conjugate_or_negate_come_as_values(link):
    x = torch.tensor([1 + 2j, 3 - 1j])
    link.upload(1, x)
    link.call("aten::_conj", (Remote(link, 1),), None, [2], "here")
    link.call("aten::_neg_view", (Remote(link, 1),), None, [3], "here")
    assert torch.equal(fetched(link, 2, x), x.conj()) and torch.equal(fetched(link, 3, x), -x)


def test_an_error_has_the_operation_and_its_place(link):
    link.upload(1, torch.ones(3, 4))
    link.call("aten::mm", (Remote(link, 1), Remote(link, 1)), None, [2], "model.py:7")
    link.call("aten::relu", (Remote(link, 2),), None, [3], "model.py:8")
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied") as raised:
        link.sync()
    error = raised.value
    assert (error.op, error.place, error.kind, error.worker) == ("aten::mm", "model.py:7", "RuntimeError", link.address)
    link.sync()
    # What should have come from it says the same, however often.
    for _ in range(2):
        with pytest.raises(errors.WorkerError, match="model.py:7"):
            link.meta(3)
    with pytest.raises(IndexError, match="index 9 out of range"):
        link.ask("aten::select.int", (Remote(link, 1), 0, 9), None, [4], "here")
    with pytest.raises(torch.linalg.LinAlgError):
        link.call("aten::zeros", ([2, 2],), None, [5], "here")
        link.ask("aten::linalg_inv_ex", (Remote(link, 5),), {"check_errors": True}, [6, 7], "here")


def test_what_cannot_be_sent_is_not_queued(link):
    link.upload(1, torch.ones(3))
    deep = []
    for _ in range(40):
        deep = [deep]
    for value, error in [
        (object(), TypeError),
        (torch.ones(3), RuntimeError),
        (Remote(None, 1), RuntimeError),
        (1 << 70, OverflowError),
        (deep, ValueError),
        ("x" * (1 << 21), ValueError),
        ([1] * 65_537, ValueError),
        (torch.device("cpu"), TypeError),
    ]:
        with pytest.raises(error):
            link.call("aten::add.Tensor", (Remote(link, 1), value), None, [2], "here")
    link.sync()


def test_more_than_a_message_holds_is_refused(link):
    """At this end: what the other end would not read ends the connection."""
    link.upload(1, torch.ones(3))
    with pytest.raises(ValueError, match="at most 65536 values"):
        link.call("aten::unbind.int", (Remote(link, 1),), None, list(range(10, 10 + 65_537)), "here")
    with pytest.raises(errors.SymmError, match="64 dimensions"):
        link.upload(2, torch.ones([1] * 65))
    link.call("aten::ones", ([1] * 65,), None, [2], "here")
    for read in (lambda: link.fetch(2, torch.ones([1] * 65)), lambda: link.meta(2)):
        with pytest.raises(errors.WorkerError, match="64 dimensions"):
            read()
    assert torch.equal(fetched(link, 1, torch.ones(3)), torch.ones(3))


@pytest.mark.parametrize("op", ["aten::save", "prims::nothing", "aten", "aten::mm.x"])
def test_only_operations_of_the_dispatcher_run(link, op):
    with pytest.raises(errors.RemoteError):
        link.ask(op, (), None, [], "here")


@pytest.mark.parametrize("op", ["aten::from_file", "profiler::_record_function_enter_new", "os::system", ""])
def test_operations_on_files_and_of_other_namespaces_are_refused(link, op):
    with pytest.raises(errors.RefusedError, match="this worker runs"):
        link.ask(op, ("name", None), None, [], "here")


def test_random_numbers_are_those_of_the_device(link):
    expected = torch.Generator().manual_seed(5)
    want = torch.randn(4, generator=expected)
    link.seed(5)
    link.call("aten::randn", ([4],), {"device": torch.device("meta")}, [1], "here")
    assert torch.equal(fetched(link, 1, want), want)
    link.new_generator(9, 5)
    link.call("aten::randn.generator", ([4],), {"generator": _symm.GeneratorId(9)}, [2], "here")
    assert torch.equal(fetched(link, 2, want), want)
    assert torch.equal(torch.frombuffer(bytearray(link.generator_state(9)), dtype=torch.uint8), expected.get_state())
    link.set_generator_state(link.generator_state(), 9)
    link.drop_generator(9)
    link.sync()


def test_remote_functions_run_by_name_only(link):
    x = torch.tensor([3.0, 4.0])
    link.upload(1, x)
    vector = Remote(link, 1)
    found = link.run_function("remote_functions", "norms", ([vector, vector],), {"scale": 2.0}, 100, "here")
    assert found["count"] == 2 and [norm.id for norm in found["norms"]] == [100, 101]
    assert fetched(link, 101, torch.zeros(())) == 10
    found = link.run_function("remote_functions", "gradient", (vector,), None, 200, "here")
    assert torch.equal(fetched(link, found.id, x), 2 * x)
    for module, name, why in [
        ("remote_functions", "private", "is not a remote function"),
        ("remote_functions", "torch", "is not a remote function"),
        ("os", "system", "not started with --module os"),
    ]:
        with pytest.raises(errors.RefusedError, match=why):
            link.run_function(module, name, (vector,), None, 300, "here")
    with pytest.raises(RuntimeError, match="^SystemExit: 3\n"):
        link.run_function("remote_functions", "leave", (), None, 400, "here")


def test_what_was_made_for_a_client_goes_with_it():
    from symm._worker_verbs import Refused, Verbs

    verbs = Verbs("cpu", [], [], allow_code=True)
    for session in (1, 2):
        verbs.new_generator(session, 5, 0)
        verbs.define(session, "kernels", "kernel = None")
    verbs.ended(1)
    with pytest.raises(RuntimeError, match="no generator 5"):
        verbs.generator(1, 5)
    assert verbs.generator(2, 5)
    for session, why in ((1, "neither sent"), (2, "not a Triton kernel")):
        with pytest.raises(Refused, match=why):
            verbs.launch(session, "kernels", "kernel", (1,), (), {})


def test_source_is_taken_only_with_allow_code(start, link):
    source = "import os"
    link.define_source("kernels", source)
    with pytest.raises(errors.RefusedError, match="not a Triton kernel"):
        link.launch("kernels", "os", (1,), (), None, "here")
        link.sync()
    careful = _symm.Link.connect(start().address)
    with pytest.raises(errors.RefusedError, match="--allow-code"):
        careful.define_source("kernels", source)
    careful.close()


def test_a_copy_goes_from_worker_to_worker(start, link):
    other = _symm.Link.connect(start().address)
    x = torch.randn(1000, 300)
    link.upload(1, x)
    link.call("aten::t", (Remote(link, 1),), None, [2], "here")
    link.copy(2, other, 7, "here")
    other.call("aten::add.Tensor", (Remote(other, 7), 1), None, [8], "here")
    assert torch.equal(fetched(other, 8, x.t().contiguous()), x.t() + 1)
    link.copy(99, other, 9, "there")
    with pytest.raises(errors.WorkerError, match="no tensor 99"):
        other.sync()
    other.close()


def test_progress_is_told(link):
    x = torch.zeros(8 << 20)
    told = []
    link.upload(1, x, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (x.nbytes, x.nbytes)
    link.fetch(1, x, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (x.nbytes, x.nbytes)


def test_a_deadline_names_the_operation_and_the_link_goes_on(start):
    process = start()
    link = _symm.Link.connect(process.address)
    link.upload(1, torch.ones(3))
    link.sync()
    remote_stopped.stop(process.process.pid)
    link.call("aten::relu", (Remote(link, 1),), None, [2], "slow.py:3")
    began = time.monotonic()
    with pytest.raises(errors.DeadlineError, match="aten::relu") as raised:
        link.sync(deadline=0.3)
    assert raised.value.place == "slow.py:3" and time.monotonic() - began < 60
    os.kill(process.process.pid, signal.SIGCONT)
    assert torch.equal(fetched(link, 2, torch.ones(3)), torch.ones(3))
    link.close()


def test_a_killed_worker_is_lost_and_others_go_on(start, link):
    process = start()
    doomed = _symm.Link.connect(process.address)
    doomed.upload(1, torch.ones(3))
    doomed.sync()
    process.process.kill()
    with pytest.raises(errors.WorkerLostError, match=process.address):
        doomed.fetch(1, torch.ones(3))
    with pytest.raises(errors.WorkerLostError):
        doomed.call("aten::relu", (Remote(doomed, 1),), None, [2], "here")
    assert not doomed.alive
    doomed.drop([1])
    doomed.close()
    link.upload(1, torch.ones(3))
    link.sync()


def test_ctrl_c_leaves_both_usable(start):
    process = start()
    link = _symm.Link.connect(process.address)
    link.upload(1, torch.ones(3))
    link.sync()
    remote_stopped.stop(process.process.pid)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        link.fetch(1, torch.empty(3), deadline=30)
    os.kill(process.process.pid, signal.SIGCONT)
    assert torch.equal(fetched(link, 1, torch.ones(3)), torch.ones(3))
    link.close()


def test_memory_beyond_the_limit_is_an_error_of_its_operation(start):
    link = _symm.Link.connect(start("--memory-limit", str(256 << 20)).address)
    link.call("aten::ones", ([1 << 30],), {"dtype": torch.float32}, [1], "large.py:1")
    with pytest.raises(torch.OutOfMemoryError, match="large.py:1"):
        link.sync()
    with pytest.raises(torch.OutOfMemoryError):
        link.upload(2, torch.zeros(256 << 20))
        link.sync()
    link.call("aten::ones", ([1 << 20],), {"dtype": torch.float32}, [3], "here")
    assert fetched(link, 3, torch.ones(1 << 20)).sum() == 1 << 20
    link.close()


def test_a_worker_ends_with_its_parent_and_its_socket_is_gone(start):
    read, write = os.pipe()
    os.set_inheritable(read, True)
    command = [sys.executable, "-m", "symm._worker", "--parent-fd", str(read)]
    path = f"/tmp/symm-test-{os.getpid()}"
    process = subprocess.Popen([*command, "--listen", f"unix:{path}"], stdout=subprocess.PIPE, pass_fds=[read])
    process.stdout.readline()
    os.close(read)
    assert Path(path).exists()
    os.close(write)
    assert process.wait(timeout=20) == 0 and not Path(path).exists()
    process.stdout.close()


def test_a_worker_that_cannot_start_says_why(tmp_path):
    command = [sys.executable, "-m", "symm._worker", "--listen"]
    for listen, reason in [("tcp:127.0.0.1:0", "tcp needs a certificate"), ("nowhere", "is not an address")]:
        done = subprocess.run([*command, listen], capture_output=True, text=True)
        assert done.returncode == 1 and reason in done.stderr, done.stderr


def test_calls_are_asynchronous(link):
    """A client does not wait for what the worker does."""
    link.call("aten::ones", ([1500, 1500],), {"dtype": torch.float64}, [1], "here")
    link.sync()
    for _ in range(20):
        link.call("aten::mm", (Remote(link, 1), Remote(link, 1)), None, [2], "here")
    with pytest.raises(errors.DeadlineError):
        link.sync(deadline=0.001)
    link.sync()


def test_two_ranks_share_symmetric_tensors(start):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    world = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = [
        start("--allow-code", TRITON_INTERPRET="1", RANK=str(rank), LOCAL_RANK=str(rank), **world) for rank in range(2)
    ]
    links = [_symm.Link.connect(rank.address) for rank in ranks]
    assert [(link.rank, link.num_ranks) for link in links] == [(0, 2), (1, 2)]
    for link in links:
        link.define_source("kernels", (HERE / "remote_tell.py").read_text())
    for link in links:
        link.join_start(64 << 20, "join")
        link.zeros(1, (4,), torch.float32, "zeros")
        link.launch("kernels", "tell", (1,), (_symm.SymmContext(), Remote(link, 1)), {"N": 4}, "launch")
        link.barrier("barrier")
    for link, other in zip(links, (1, 0), strict=True):
        link.sync(60)
        assert torch.equal(fetched(link, 1, torch.ones(4)), torch.full((4,), other + 1.0))
    for link in links:
        link.leave("leave")
    for link in links:
        link.sync(60)
        link.close()
