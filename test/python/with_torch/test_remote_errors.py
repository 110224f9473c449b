"""What goes wrong on a worker is raised as torch raises it, with the op and the line that issued it."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from symm import errors, remote  # noqa: E402

DEVICE = remote.launch(1, remote.InProcess())[0]


def line():
    return sys._getframe(1).f_lineno


def test_wrong_arguments_are_raised_at_once():
    x = torch.ones(3, device=DEVICE)
    with pytest.raises(RuntimeError, match=r"must match the size of tensor b \(4\)") as raised:
        at = line() + 1
        x + torch.ones(4, device=DEVICE)
    assert isinstance(raised.value, errors.WorkerError)
    assert "aten::add.Tensor" in str(raised.value) and f"test_remote_errors.py:{at}" in str(raised.value)


def test_what_only_the_values_show_is_raised_when_the_client_waits():
    x = -torch.eye(3, device=DEVICE)
    at = line() + 1
    y = torch.linalg.cholesky_ex(x, check_errors=False).L
    index = torch.tensor([5], device=DEVICE)
    at = line() + 1
    picked = torch.gather(torch.ones(3, device=DEVICE), 0, index)
    later = picked + y[0]
    with pytest.raises(RuntimeError) as raised:
        later.cpu()
    assert "aten::gather" in str(raised.value) and f"test_remote_errors.py:{at}" in str(raised.value)
    # The worker goes on.
    assert (x + x).sum().item() == -6


def test_the_type_is_torchs():
    with pytest.raises(torch.linalg.LinAlgError):
        torch.linalg.cholesky(-torch.eye(3, device=DEVICE)).cpu()
    with pytest.raises(IndexError):
        torch.ones(3, device=DEVICE)[7]


def test_errors_in_the_backward_pass_name_the_line_that_asked_for_it():
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x.clone()

        @staticmethod
        def backward(context, grad):
            return torch.gather(grad, 0, torch.tensor([9, 9], device=DEVICE))

    x = torch.ones(2, device=DEVICE, requires_grad=True)
    Bad.apply(x).sum().backward()
    with pytest.raises(RuntimeError, match=r"aten::gather.*test_remote_errors.py"):
        x.grad.cpu()


LATE = """
import warnings, torch
from symm import remote
assert torch._C._get_privateuse1_backend_name() == "privateuseone"
before = torch.accelerator.current_accelerator()
assert before is None or before.type != "remote"
assert not torch.__future__.get_swap_module_params_on_conversion()
torch.cuda.is_initialized = lambda: True
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(2):
        remote.launch(1, remote.InProcess())
said = [str(warning.message).split(":")[0] for warning in seen]
print(said, seen[0].filename, torch.accelerator.current_accelerator())
"""


def test_torch_learns_of_the_device_at_the_first_launch():
    run = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    warning = "from here on, backward passes of tensors on a GPU of this process fail within torch"
    assert run.stdout == f"['{warning}'] <string> remote\n"


PROGRAM = """
import torch
from symm import remote
device = remote.launch(1, remote.InProcess())[0]
x = torch.ones(3, device=device)
torch.gather(x, 0, torch.tensor([5], device=device))
print("issued")
"""


@pytest.mark.parametrize("synchronous", [False, True])
def test_synchronous_mode_raises_at_the_op(synchronous):
    environment = {**os.environ, "SYMM_REMOTE_SYNC": "1" if synchronous else "0"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode != 0) == synchronous
    assert ("issued" in run.stdout) != synchronous
    if synchronous:
        assert "aten::gather" in run.stderr
