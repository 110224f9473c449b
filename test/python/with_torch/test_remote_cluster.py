"""What a cluster does on all ranks at once: collectives, kernels, barriers; and what it does not take."""

import contextlib
import io
import os
import re
import signal
import sys
import threading

import pytest

torch = pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

import symm.triton as st  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from symm import errors, remote  # noqa: E402

RANKS = 2


@pytest.fixture(scope="module")
def cluster():
    environment = {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    with remote.launch(RANKS, remote.Processes(allow_code=True, environment=environment)) as cluster:
        cluster.join()
        yield cluster


@triton.jit
def number(table, out, plus: tl.constexpr):
    ctx = st.DeviceContext(table)
    tl.store(out, ctx.rank() + plus)


@triton.autotune(configs=[triton.Config({"plus": 7})], key=[])
@triton.jit
def tuned(out, plus: tl.constexpr):
    tl.store(out, plus)


@triton.jit
def fails_on(table, bad: tl.constexpr):
    ctx = st.DeviceContext(table)
    if ctx.rank() == bad:
        tl.static_assert(False, "this rank fails")


def on_ranks(cluster, made):
    return [tensor.to(device) for tensor, device in zip(made, cluster.devices, strict=True)]


EXPECTED = {
    "all_reduce": lambda parts: [sum(parts)] * RANKS,
    "broadcast": lambda parts: [parts[0]] * RANKS,
    "reduce_scatter": lambda parts: list(sum(parts).chunk(RANKS)),
    "all_gather": lambda parts: [torch.cat(parts)] * RANKS,
    "all_to_all": lambda parts: [
        torch.cat(column) for column in zip(*(part.chunk(RANKS) for part in parts), strict=True)
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_collectives(cluster, name):
    parts = [torch.randint(100, (4, 3)) for _ in range(RANKS)]
    own = on_ranks(cluster, parts)
    found = getattr(cluster, name)(own)
    assert [tensor.device for tensor in found] == cluster.devices
    for tensor, expected in zip(found, EXPECTED[name](parts), strict=True):
        assert tensor.shape == expected.shape and torch.equal(tensor.cpu(), expected)
    if name in ("all_reduce", "broadcast"):
        assert all(a is b for a, b in zip(found, own, strict=True))
    # A result is a tensor like any other.
    assert torch.equal((found[1] + 1).t().cpu(), (EXPECTED[name](parts)[1] + 1).t())


def test_collectives_with_a_root(cluster):
    parts = [torch.arange(4.0) + rank for rank in range(RANKS)]
    own = on_ranks(cluster, parts)
    gathered = cluster.gather(own, root=1)
    assert gathered.device == cluster[1] and torch.equal(gathered.cpu(), torch.cat(parts))
    assert [part.tolist() for part in cluster.scatter(gathered, root=1)] == [
        part.tolist() for part in torch.cat(parts).chunk(RANKS)
    ]
    largest = cluster.reduce(own, root=1, op="max")
    assert largest.device == cluster[1] and largest.tolist() == parts[1].tolist()


def test_collectives_on_symmetric_tensors_and_views(cluster):
    zeros = cluster.zeros(2, 4)
    for rank, part in enumerate(zeros):
        part += rank + 1
    cluster.all_reduce([part.t() for part in zeros])
    assert [part.tolist() for part in zeros] == [[[3.0] * 4] * 2] * RANKS


def test_what_collectives_do_not_take(cluster):
    x, y = (torch.ones(4, device=device) for device in cluster.devices)
    for wrong, error, message in [
        (lambda: cluster.all_reduce([x]), errors.ArgumentError, "each of the 2 ranks"),
        (lambda: cluster.all_reduce(x), errors.ArgumentError, "each of the 2 ranks"),
        (lambda: cluster.all_reduce([y, x]), errors.ArgumentError, "rank 0 must be on remote:0, not remote:1"),
        (lambda: cluster.all_reduce([x, torch.ones(4)]), errors.ArgumentError, "rank 1 must be on remote:1, not cpu"),
        (lambda: cluster.all_reduce([x, None]), errors.ArgumentError, "rank 1 must be on remote:1, not None"),
        (lambda: cluster.all_gather([x, y[:2]]), errors.ArgumentError, "all must have one shape and dtype"),
        (lambda: cluster.all_gather([x, y.int()]), errors.ArgumentError, "all must have one shape and dtype"),
        (lambda: cluster.reduce_scatter([x[:3], y[:3]]), errors.ArgumentError, "does not have 2 equal parts"),
        (lambda: cluster.broadcast([x, y], root=2), errors.RankRangeError, r"out of range \[0, 2\)"),
        (lambda: cluster.gather([x, y], root="0"), errors.ArgumentError, "number of a rank"),
        (lambda: cluster.scatter(x, root=1), errors.ArgumentError, "must be on remote:1"),
    ]:
        with pytest.raises(error, match=message):
            wrong()
    # What only the workers know is wrong on all of them, and nothing hangs.
    cluster.all_reduce([x, y], op="median")
    with pytest.raises(ValueError, match="median"):
        cluster.synchronize()
    with contextlib.suppress(errors.WorkerError):
        cluster.synchronize()
    assert cluster.all_reduce([x, y])[1].tolist() == [2] * 4


def test_kernels_by_source(cluster):
    out = cluster.zeros(1, dtype=torch.int32)
    for plus in (10, 20):
        cluster.run(number, (1,), remote.Context, out, plus=plus)
        assert [part.item() for part in out] == [plus, plus + 1]
    cluster.run(tuned, 1, out)
    assert [part.item() for part in out] == [7, 7]


def test_what_run_does_not_take(cluster):
    out = cluster.zeros(1, dtype=torch.int32)
    for wrong, error, message in [
        (lambda: cluster.run(len, 1), errors.ArgumentError, "neither a Triton kernel"),
        (lambda: cluster.run(None, 1), errors.ArgumentError, "neither a Triton kernel"),
        (lambda: cluster.run(number, lambda meta: (1,), remote.Context, out), errors.ArgumentError, "grid"),
        (lambda: cluster.run(number, None, remote.Context, out), errors.ArgumentError, "up to three numbers: not None"),
        (lambda: cluster.run(number, "1", remote.Context, out), errors.ArgumentError, "not '1'"),
        (lambda: cluster.run(number, -1, remote.Context, out), errors.ArgumentError, "not -1"),
        (lambda: cluster.run(number, (), remote.Context, out), errors.ArgumentError, r"not \(\)"),
        (lambda: cluster.run(number, (1,) * 4, remote.Context, out), errors.ArgumentError, r"not \(1, 1, 1, 1\)"),
        (
            lambda: cluster.run(number, 1, remote.Context, out[0], 1),
            errors.ArgumentError,
            "rank 1 is given a tensor of remote:0",
        ),
        (
            lambda: cluster.run(number, 1, remote.Context, remote.Ranked(out[:1]), 1),
            errors.ArgumentError,
            "for 1 ranks",
        ),
        (lambda: cluster.run(number, 1, remote.Context, out, object()), TypeError, "object"),
    ]:
        with pytest.raises(error, match=message):
            wrong()
    cluster.run("no_such_module:kernel", 1)
    with pytest.raises(errors.RefusedError, match="no_such_module"):
        cluster.synchronize()


def test_what_zeros_does_not_take(cluster):
    for wrong, message in [
        (lambda: cluster.zeros("3"), r"integers, 0 or more, not \('3',\)"),
        (lambda: cluster.zeros(2, -1), r"not \(2, -1\)"),
        (lambda: cluster.zeros((2, 1.5)), r"not \(2, 1.5\)"),
        (lambda: cluster.zeros(2, dtype=int), "a torch dtype"),
    ]:
        with pytest.raises(errors.ArgumentError, match=message):
            wrong()
    # No rank has heard of any of these.
    cluster.synchronize()
    assert [part.shape for part in cluster.zeros(0)] == [(0,)] * RANKS


def test_the_rank_that_fails_is_named(cluster):
    for bad in range(RANKS):
        cluster.run(fails_on, 1, remote.Context, bad=bad)
        with pytest.raises(errors.WorkerError, match="this rank fails") as raised:
            cluster.barrier()
        assert raised.value.worker.endswith(f"(rank {bad})") and "test_remote_cluster.py" in raised.value.place
        cluster.barrier()


def test_source_that_is_refused_is_refused_again():
    with remote.launch(1) as careful:
        for _ in range(2):
            with pytest.raises(errors.RefusedError, match="--allow-code"):
                careful.run(number, 1, remote.Context)


def test_a_bar_for_large_transfers(monkeypatch):
    """In this process, where a transfer is one call: what a bar draws is seen by calling it."""
    from symm.remote import _progress

    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    large = 1 << 30
    assert _progress.bar("to", "remote:0", large) is None
    try:
        remote.progress(True)
        assert _progress.bar("to", "remote:0", 1 << 20) is None
        bar = _progress.bar("to", "remote:0", large)
        bar(large, large)
        assert shown.getvalue() == ""
        for done in (large // 2, large):
            bar(done, large)
        halfway, whole = shown.getvalue().split("\r")[1:]
        assert re.match(r"to remote:0 \[#{15} {15}\] 537 of 1074 MB, \d+ MB/s, \d+ s left", halfway)
        assert re.match(r"to remote:0 \[#{30}\] 1074 of 1074 MB, \d+ MB/s *\n$", whole)
        remote.progress(False)
        monkeypatch.setattr(shown, "isatty", lambda: True)
        assert _progress.bar("to", "remote:0", large) is None
        remote.progress(None)
        assert _progress.bar("to", "remote:0", large) is not None
    finally:
        remote.progress(None)


def test_a_transfer_draws_its_bar(cluster, capfd):
    remote.progress(True)
    try:
        x = torch.ones(96 << 20, dtype=torch.uint8)
        pid = cluster._links[0].pid
        # A transfer that takes less than a tenth of a second draws none.
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(0.5, os.kill, (pid, signal.SIGCONT)).start()
        assert x.to(cluster[0])[-1].item() == 1
    finally:
        remote.progress(None)
    drawn = capfd.readouterr().err.split("\r")
    assert len(drawn) > 2 and drawn[-1].startswith("to remote:0 [##############################] 101 of 101 MB")
