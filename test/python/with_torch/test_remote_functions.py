"""Functions of modules that the worker has."""

import collections

import pytest

torch = pytest.importorskip("torch")

import symm  # noqa: E402
from symm import remote  # noqa: E402

DEVICE = remote.launch(1, remote.InProcess())[0]


@remote.function
def norms(rows, *, power=2.0):
    assert not isinstance(rows, remote.RemoteTensor)
    return {"each": [row.norm(power) for row in rows], "count": len(rows)}


@remote.function
def ones(count):
    return torch.ones(count)


@remote.function
def fails():
    raise IndexError("no such thing")


def test_tensors_and_values_come_back():
    result = norms(torch.eye(3, device=DEVICE) * 2, power=1.0)
    assert result["count"] == 3
    assert [tensor.device for tensor in result["each"]] == [DEVICE] * 3
    assert [tensor.item() for tensor in result["each"]] == [2, 2, 2]


def test_without_tensors_the_device_is_named():
    assert ones(2).device.type == "cpu"
    assert torch.equal(ones.on(DEVICE)(2).cpu(), torch.ones(2))


@remote.function
def named():
    return collections.namedtuple("Pair", "a b")(torch.ones(1), [2])


def test_named_tuples_come_as_tuples():
    pair = named.on(DEVICE)()
    assert tuple(pair)[0].item() == 1 and tuple(pair)[1] == [2]


def test_a_function_that_no_worker_can_find_is_refused(monkeypatch):
    def local():
        pass

    for wrong in (local, len, 3):
        with pytest.raises(symm.ArgumentError, match="top of a module"):
            remote.function(wrong)
    monkeypatch.setattr(ones.__symm_remote_function__, "__module__", "__main__")
    with pytest.raises(symm.ArgumentError, match="ones is in the program itself"):
        ones.on(DEVICE)(2)


def test_its_error_names_it_and_the_line():
    with pytest.raises(IndexError, match=r"no such thing\n.*fails.*test_remote_functions.py"):
        fails.on(DEVICE)()
