"""Memory: a client has only metadata, and a worker gives back what nobody has any more."""

import gc
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from symm import remote  # noqa: E402

MEGABYTE = 1 << 20
# Torch gives memory of this size back to the system when its tensor goes.
PART = 100 * MEGABYTE


def size(pid, kind):
    """Bytes of a process: VmSize is what it has asked for, VmRSS what it has, VmHWM the most that it had."""
    return int(re.search(rf"{kind}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) << 10


def falls_below(pid, limit):
    """Whether a process soon has less than that: a tensor goes some time after its last reference."""
    end = time.monotonic() + 20
    while size(pid, "VmSize") >= limit and time.monotonic() < end:
        time.sleep(0.02)
    return size(pid, "VmSize") < limit


@pytest.fixture(scope="module")
def worker():
    """A device, its worker's process and its address."""
    with remote.launch(1) as cluster:
        torch.ones(PART, dtype=torch.uint8, device=cluster[0]).sum().item()
        yield cluster[0], cluster._links[0].pid, cluster._links[0].address


def test_ten_gigabytes_of_tensors_are_metadata_here(worker):
    device, pid, _ = worker
    here, there = size(os.getpid(), "VmRSS"), size(pid, "VmSize")
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew.
    # The worker asks the system for their memory, and touches none of it.
    tensors = [torch.empty(PART, dtype=torch.uint8, device=device) for _ in range(100)]
    views = [tensor.view(100, -1)[1:].t() for tensor in tensors]
    torch.remote.synchronize()
    assert size(pid, "VmSize") - there >= 100 * PART
    for _ in range(5):
        assert torch.ones(PART, dtype=torch.uint8, device=device).sum().item() == PART
    assert size(os.getpid(), "VmHWM") - here < 100 * MEGABYTE
    del tensors
    gc.collect()
    torch.remote.synchronize()
    assert size(pid, "VmSize") - there >= 100 * PART, "a view keeps the memory"
    del views
    gc.collect()
    torch.remote.synchronize()
    assert falls_below(pid, there + PART)


def test_memory_comes_back_after_errors(worker):
    device, pid, _ = worker
    before = size(pid, "VmSize")
    x = torch.empty(PART, dtype=torch.uint8, device=device)
    wrong = torch.gather(x, 0, torch.tensor([PART], device=device))
    after = wrong.to(torch.int64).add(torch.empty(PART, dtype=torch.uint8, device=device))
    with pytest.raises(RuntimeError, match="out of bounds"):
        after.cpu()
    assert size(pid, "VmSize") > before + PART // 2
    del x, wrong, after
    gc.collect()
    torch.remote.synchronize()
    assert falls_below(pid, before + PART // 2)


@pytest.mark.parametrize("end", ["", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
def test_memory_comes_back_when_a_client_ends(worker, end):
    _, pid, address = worker
    before = size(pid, "VmSize")
    connect = f"import torch\nfrom symm import remote\ndevice = remote.connect({address!r})\n"
    make = (
        f"x = torch.empty({5 * PART}, dtype=torch.uint8, device=device)\ny = x.view(5,"
        " -1)[1]\ntorch.remote.synchronize()\n"
    )
    wait = "print('made', flush=True)\ninput()\n"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", connect + make + wait + end], **pipes)
    assert process.stdout.readline() == "made\n"
    assert size(pid, "VmSize") > before + 4 * PART
    process.communicate("\n")
    assert process.returncode == (-signal.SIGKILL if end else 0)
    assert falls_below(pid, before + 4 * PART)
