"""torch's own samples of its ops (op_db), on a worker: values, strides and gradients as on the CPU here.

Always the first sample of some ops; with `--long` that of every op, with `--long --all` all samples. Ops that are not
as here are in remote_op_db.txt, each with its reason.
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

DEVICE = remote.launch(1, remote.Processes(environment={"OMP_NUM_THREADS": "1"}))[0]
# Without --long, one op in this many.
EACH = 16
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


def wrong(ops, limit):
    found = (failures(op, dtype, limit) for op in ops for dtype in DTYPES if dtype in op.supported_dtypes("cpu"))
    return [failure for failure in found if failure]


@pytest.mark.parametrize("start", [0, EACH // 2])
def test_some_ops_are_as_here(start):
    known = refused()
    found = wrong([op for op in op_db[start::EACH] if name_of(op) not in known], 1)
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("letter", sorted({op.name[0] for op in op_db}))
def test_ops_are_as_here(letter, request):
    known = refused()
    ops = [op for op in op_db if op.name[0] == letter and name_of(op) not in known]
    found = wrong(ops, None if request.config.getoption("--all") else 1)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", refused())
def test_what_is_listed_is_not_as_here(name):
    assert wrong([op for op in op_db if name_of(op) == name], None), f"{name} is as on the CPU: take it off the list"


def test_at_least_97_percent_are_as_here():
    names = {name_of(op) for op in op_db}
    assert refused().keys() <= names
    assert len(refused()) <= 0.03 * len(names)
