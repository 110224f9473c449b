"""NVSHMEM's device library is trimmed to what kernels call, once, by one of the ranks that need it."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
from symm import _engine
from triton import knobs


@pytest.mark.parametrize("seconds", [0, 0.2])
def test_what_takes_long_is_said_once(seconds, tmp_path, monkeypatch, capfd):
    (tmp_path / "device.bc").touch()
    monkeypatch.setattr(_engine, "LONG", 0.05)
    monkeypatch.setattr(_engine, "_symm", mock.Mock(far_library=lambda _: time.sleep(seconds) or b"made"))
    assert _engine._trimmed(str(tmp_path / "device.bc")) == b"made"
    time.sleep(0.1)
    said = f"symm: trimming {tmp_path}/device.bc to what kernels call, once, which takes some seconds\n"
    assert capfd.readouterr().err == (said if seconds else "")


@pytest.fixture
def trimmed(tmp_path, monkeypatch):
    """The times that a library has been trimmed, by any thread; its lock and its file."""
    times = []

    def far_library(_):
        times.append(time.monotonic())
        time.sleep(0.2)
        return b"made"

    stand_in = mock.Mock(far_library=far_library, far_is_whole=b"made".__eq__, far_sends_from_gpu=lambda: False)
    monkeypatch.setattr(_engine, "_symm", stand_in)
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path / "cache"))
    (tmp_path / "device.bc").touch()
    return times, Path(_engine._library.__wrapped__(str(tmp_path / "device.bc"), False))


def test_of_several_ranks_one_trims_the_library(trimmed, tmp_path, monkeypatch):
    """What one process is to another with a lock, a thread is to another."""
    times, kept = trimmed
    kept.unlink()
    times.clear()
    with ThreadPoolExecutor(4) as ranks:
        made = ranks.map(lambda _: _engine._library.__wrapped__(str(tmp_path / "device.bc"), False), range(4))
        assert set(made) == {str(kept)}
    assert len(times) == 1
    # Where the file system has no locks each makes its own.
    kept.unlink()
    monkeypatch.setattr(_engine.fcntl, "flock", mock.Mock(side_effect=OSError))
    assert _engine._library.__wrapped__(str(tmp_path / "device.bc"), False) == str(kept) and len(times) == 2


def test_a_rank_that_dies_while_it_trims_leaves_that_to_the_next(trimmed, tmp_path):
    times, kept = trimmed
    kept.unlink()
    holds = "import fcntl, sys; file = open(sys.argv[1], 'a'); fcntl.flock(file, 2); print(flush=True); input()"
    lock = kept.with_suffix(".lock")
    first = subprocess.Popen([sys.executable, "-c", holds, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert first.stdout.readline() == b"\n"
    with ThreadPoolExecutor(1) as ranks:
        made = ranks.submit(_engine._library.__wrapped__, str(tmp_path / "device.bc"), False)
        with pytest.raises(TimeoutError):
            made.result(timeout=0.3)
        first.kill()
        first.wait()
        assert made.result(timeout=10) == str(kept) and len(times) == 2
