"""torch's own samples of its ops (op_db), on a worker: values, strides and gradients as on the CPU here.

It runs with `--long`, on the first sample of each op; with `--long --all` on all of them. Ops that are not as here are in
remote_op_db.txt, each with its reason.
"""

import itertools
import pathlib
import sys
import types
import unittest

import pytest

torch = pytest.importorskip("torch")

from symm import remote  # noqa: E402
from torch.utils._pytree import tree_leaves, tree_map  # noqa: E402

# Torch's samples import it for their own tests, of which none runs here.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

pytestmark = pytest.mark.long
DEVICE = remote.launch(1, remote.InProcess())[0]
REASONS = pathlib.Path(__file__).with_name("remote_op_db.txt")
DTYPES = torch.float32, torch.int64
# Without values, or with those of another stream: their metadata is compared.
SHAPES_ONLY = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}


def name_of(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def refused():
    """The ops that are known not to be as on the CPU, and why."""
    lines = (line for line in REASONS.read_text().splitlines() if line and not line.startswith("#"))
    return dict(line.split(": ", 1) for line in lines)


def there(value):
    if isinstance(value, torch.Tensor):
        return value.detach().to(DEVICE).requires_grad_(value.requires_grad)
    return DEVICE if value == "cpu" or isinstance(value, torch.device) else value


def copied(value):
    return value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


def tensors(value, condition=lambda tensor: True):
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor) and condition(leaf)]


def outcome(op, arguments, gradients):
    """The op's result, and the gradients of its inputs."""
    args, kwargs = arguments
    torch.manual_seed(0)
    result = op.op(*args, **kwargs)
    if not gradients:
        return result, []
    outputs = tensors(result, lambda tensor: tensor.requires_grad)
    inputs = tensors(arguments, lambda tensor: tensor.requires_grad and tensor.is_leaf)
    if not outputs or not inputs:
        return result, []
    total = sum(output.abs().sum() if output.is_complex() else output.sum() for output in outputs)
    return result, list(torch.autograd.grad(total, inputs, allow_unused=True))


def local(value):
    return value.detach().cpu() if isinstance(value, torch.Tensor) else value


def compare(op, sample, gradients):
    arguments = (sample.input, *sample.args), sample.kwargs
    try:
        want, want_gradients = outcome(op, tree_map(copied, arguments), gradients)
    except Exception:
        return  # Not on the CPU either.
    assert all(tensor.layout is torch.strided for tensor in tensors(want)), "a result is sparse"
    found, found_gradients = outcome(op, tree_map(there, arguments), gradients)
    close = {"equal_nan": True, "rtol": 1e-4, "atol": 1e-5}
    if op.name not in SHAPES_ONLY:
        torch.testing.assert_close(tree_map(local, found), tree_map(local, want), **close)
    for one, other in zip(tensors(found), tensors(want), strict=True):
        assert one.shape == other.shape and one.dtype is other.dtype
        assert one.numel() == 0 or one.stride() == other.stride(), f"strides {one.stride()}, here {other.stride()}"
    torch.testing.assert_close(tree_map(local, found_gradients), want_gradients, **close)


def failures(op, dtype, limit):
    gradients = dtype.is_floating_point and op.supports_autograd
    for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=gradients), limit):
        try:
            compare(op, sample, gradients)
        except Exception as error:
            return f"{name_of(op)} {dtype}: {type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("letter", sorted({op.name[0] for op in op_db}))
def test_ops_are_as_here(letter, request):
    limit = None if request.config.getoption("--all") else 1
    known = refused()
    wrong = []
    for op in op_db:
        if op.name[0] == letter and name_of(op) not in known:
            found = (failures(op, dtype, limit) for dtype in DTYPES if dtype in op.supported_dtypes("cpu"))
            wrong += [failure for failure in found if failure]
    assert not wrong, "\n".join(wrong)


def test_at_least_97_percent_are_as_here():
    names = {name_of(op) for op in op_db}
    assert refused().keys() <= names
    assert len(refused()) <= 0.03 * len(names)
