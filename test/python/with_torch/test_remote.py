"""Tensors on workers: made, viewed, changed, copied, printed, saved, and given back."""

import copy
import gc
import io
import pickle
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import symm  # noqa: E402
from symm import remote  # noqa: E402
from symm.remote import _metadata  # noqa: E402

FIRST = remote.launch(1, remote.InProcess())[0]
SECOND = remote.launch(1, remote.InProcess())[0]


def values(tensor):
    return tensor.detach().cpu()


def test_factories_and_products():
    x = torch.arange(6.0, device=FIRST).view(2, 3)
    assert torch.equal(values(x @ x.t()), torch.tensor([[5.0, 14.0], [14.0, 50.0]]))
    assert torch.tensor([1, 2], device=FIRST).device == FIRST
    assert torch.zeros_like(x, device=SECOND).device == SECOND
    assert torch.empty_like(x, device="cpu").device.type == "cpu"


def test_a_device_without_an_index_is_the_current_one():
    assert torch.zeros(2, device="remote").device == FIRST
    with torch.remote.device(1):
        assert torch.zeros(2, device="remote").device == SECOND
    with torch.device("remote:1"):
        assert torch.nn.Linear(2, 2).weight.device == SECOND


def test_a_device_that_is_not_there():
    with pytest.raises(symm.ArgumentError, match="no device remote:77"):
        torch.zeros(2, device="remote:77")


def test_views_share_memory_on_the_worker():
    x = torch.zeros(3, 4, device=FIRST)
    x[1].add_(3)
    x[:, 2] = 7
    x.t()[0] = 5
    want = torch.zeros(3, 4)
    want[1].add_(3)
    want[:, 2] = 7
    want.t()[0] = 5
    assert torch.equal(values(x), want)


def test_views_that_conjugate():
    x = torch.tensor([1 + 2j, 3 - 1j], device=FIRST)
    view = x.conj()
    assert view.is_conj() and not x.is_conj()
    view.mul_(2j)
    want = torch.tensor([1 + 2j, 3 - 1j])
    want.conj().mul_(2j)
    assert torch.equal(values(x), want)
    assert torch.equal(values(view.imag), want.conj().imag)


def test_in_place_ops_that_change_the_shape():
    x = torch.arange(6.0, device=FIRST).view(2, 3)
    other = x.detach()
    x.t_()
    assert x.shape == (3, 2) and x.stride() == (1, 3) and other.shape == (2, 3)
    x.unsqueeze_(0)
    assert torch.equal(values(x), torch.arange(6.0).view(2, 3).t().unsqueeze(0))
    y = torch.arange(6.0, device=FIRST)
    alias = y.detach()
    y.resize_(2, 5)
    y.zero_()
    assert y.shape == (2, 5) and alias.shape == (6,)
    out = torch.empty(0, device=FIRST)
    torch.add(alias, 1, out=out)
    assert torch.equal(values(out), torch.ones(6))


def test_data_can_be_replaced():
    x = torch.ones(3, device=FIRST, requires_grad=True)
    x.data = torch.zeros(2, device=FIRST)
    assert torch.equal(values(x), torch.zeros(2)) and x.requires_grad
    with pytest.raises(TypeError, match="not on cpu"):
        x.data = torch.zeros(2)


def test_shapes_that_depend_on_values():
    x = torch.tensor([0.0, 2.0, 0.0, 3.0], device=FIRST)
    assert torch.equal(values(x.nonzero()), torch.tensor([[1], [3]]))
    assert torch.equal(values(x[x > 1]), torch.tensor([2.0, 3.0]))
    out = torch.empty(0, dtype=torch.int64, device=FIRST)
    torch.nonzero(x, out=out)
    assert out.shape == (2, 1) and out.tolist() == [[1], [3]]
    assert torch.equal(values(torch.unique(x)), torch.tensor([0.0, 2.0, 3.0]))
    assert torch.equal(x, x.clone()) and x.sum().item() == 5


def test_indices_may_be_here():
    x = torch.arange(3.0, device=FIRST)
    assert torch.equal(values(x[torch.tensor([2, 0])]), torch.tensor([2.0, 0.0]))
    x[torch.tensor([1])] = 9
    assert x.tolist() == [0, 9, 2]


def test_copies_between_workers_and_from_here():
    x = torch.randn(3, 4, device=FIRST)
    y = x.t().to(SECOND)
    assert y.device == SECOND and torch.equal(values(y), values(x).t())
    target = torch.zeros(3, 4, device=SECOND)
    target.copy_(x)
    target[0] = torch.ones(4)
    want = values(x).clone()
    want[0] = 1
    assert torch.equal(values(target), want)
    assert x.to(SECOND, torch.float64).dtype is torch.float64
    local = torch.zeros(3, 4).t().contiguous().t()
    assert torch.equal(local.copy_(x), values(x))


def test_other_devices_are_refused_at_once():
    x = torch.ones(3, device=FIRST)
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(3, device=SECOND)
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(3)
    here = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"same device.* on cpu"):
        here += x
    assert torch.equal(values(x + torch.tensor(2.0)), torch.full((3,), 3.0))


@pytest.mark.parametrize("shape", [(2000,), (1001, 1), (50, 60), (7, 8, 3, 9), (1, 3000), (2, 600)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64, torch.bool])
def test_printing_a_large_tensor_fetches_what_is_printed(shape, dtype, monkeypatch):
    from symm.remote import _copies

    fetched, fetch = [], _copies.fetch
    monkeypatch.setattr(_copies, "fetch", lambda tensor: fetched.append(tensor.numel()) or fetch(tensor))
    x = (torch.randn(shape) * 100).to(dtype)
    # On one line with the device, which makes it longer.
    with torch._tensor_str.printoptions(linewidth=300):
        assert repr(x.to(FIRST)).replace(", device='remote:0'", "") == repr(x)
    assert sum(fetched) < 7 ** len(shape) + 2


def test_printing():
    x = torch.tensor([[1.0, 2.5]], device=FIRST)
    assert repr(x) == "tensor([[1.0000, 2.5000]], device='remote:0')"
    assert repr(x.requires_grad_()) == "tensor([[1.0000, 2.5000]], device='remote:0', requires_grad=True)"
    assert f"{x[0, 1]:.2f}" == "2.50"
    assert repr(torch.nn.Parameter(x.detach())).startswith("Parameter containing:\ntensor(")


def test_values_come_by_the_ways_that_cuda_has():
    x = torch.tensor([1.0, 2.0], device=FIRST)
    assert x.tolist() == [1, 2] and x.numpy(force=True).sum() == 3 and float(x[0]) == 1
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\) first"):
        x.numpy()
    with pytest.raises(RuntimeError, match="has no address"):
        x.data_ptr()


def test_a_tensor_of_numbers_that_are_tensors_themselves():
    losses = [torch.tensor(2.5, device=FIRST), torch.tensor(4, device=SECOND), 1]
    assert torch.tensor(losses).tolist() == [2.5, 4, 1]
    assert torch.tensor(losses, device=SECOND).tolist() == [2.5, 4, 1]


def test_metadata_that_is_older_than_what_is_remembered():
    x = torch.arange(4.0, device=FIRST)
    same = x.detach()
    _metadata._metas.clear()
    x.resize_(2)
    assert same.tolist() == [0, 1, 2, 3] and x.tolist() == [0, 1]


def test_saved_and_loaded():
    layer = torch.nn.Linear(3, 2).to(SECOND)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["weight"].device == SECOND
    layer.load_state_dict(loaded)
    file.seek(0)
    assert torch.equal(torch.load(file, map_location="cpu")["weight"], values(layer.weight))
    file.seek(0)
    with pytest.raises(NotImplementedError, match="map_location='cpu'"):
        torch.load(file, map_location="remote:0")


def test_a_parameter_is_saved_as_one():
    for trained in (True, False):
        file = io.BytesIO()
        torch.save(torch.nn.Parameter(torch.arange(3.0, device=SECOND), trained), file)
        file.seek(0)
        loaded = torch.load(file)
        assert isinstance(loaded, torch.nn.Parameter) and loaded.requires_grad is trained
        assert loaded.device == SECOND and loaded.tolist() == [0, 1, 2]


def test_pickling_is_refused_and_says_what_works():
    with pytest.raises(symm.UnsupportedError, match=r"torch.save, or pickle tensor.cpu\(\)"):
        pickle.dumps(torch.ones(2, device=FIRST))


def test_deepcopy():
    layer = torch.nn.Linear(3, 2).to(SECOND)
    other = copy.deepcopy(layer)
    assert isinstance(other.weight, torch.nn.Parameter) and other.weight is not layer.weight
    with torch.no_grad():
        other.weight.zero_()
    assert values(layer.weight).any() and not values(other.weight).any()
    output = layer(torch.ones(3, device=SECOND))
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(output)


@pytest.mark.parametrize("device", ["cpu", FIRST])
def test_what_copies_have_besides_values(device):
    made = torch.nn.Parameter(torch.ones(2, device=device)), torch.ones(2, device=device, requires_grad=True)
    for tensor in made:
        tensor.grad, tensor.mine = torch.ones(2, device=device), [1]
    parameter, plain = (copy.deepcopy(tensor) for tensor in made)
    assert parameter.grad is None and not hasattr(parameter, "mine")
    assert plain.grad.tolist() == [1, 1] and plain.mine == [1]
    plain.grad.zero_()
    plain.mine.clear()
    assert made[1].grad.tolist() == [1, 1] and made[1].mine == [1]
    for tensor in made:
        same = copy.copy(tensor)
        assert same.grad is None and same.mine is tensor.mine and type(same) is type(tensor)
        assert isinstance(same, torch.nn.Parameter) is isinstance(tensor, torch.nn.Parameter)


def test_modules_move_with_their_ties_and_optimizers():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3, bias=False), torch.nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model.to(FIRST)
    assert model[1].weight is model[0].weight
    model(torch.ones(3, device=FIRST)).sum().backward()
    before = values(model[0].weight)
    optimizer.step()
    assert not torch.equal(values(model[0].weight), before)
    assert model.cpu()[0].weight.device.type == "cpu"


def test_memory_comes_back_with_the_last_reference():
    tensors = remote._workers.find(FIRST).link._tensors
    gc.collect()
    before = len(tensors)
    x = torch.randn(10, device=FIRST, requires_grad=True)
    loss = (x * 2 + 1).sum()
    loss.backward()
    assert len(tensors) > before
    del x, loss
    gc.collect()
    assert len(tensors) == before
    with pytest.raises(RuntimeError):
        torch.linalg.cholesky(-torch.eye(3, device=FIRST)).cpu()
    gc.collect()
    assert len(tensors) == before


THREADS = """
import threading
import torch
from symm import remote

def make(size):
    found.append(torch.ones(size, device=device).sum().item())

found, device = [], remote.launch(1, remote.InProcess())[0]
for size in range(100):
    thread = threading.Thread(target=make, args=(size,))
    thread.start()
    thread.join()
assert found == list(range(100))
"""


def test_threads_come_and_go():
    run = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_copy_into_a_new_tensor_keeps_what_it_is():
    x = torch.empty(3, dtype=torch.int64, device=FIRST)
    x.copy_(torch.tensor([1.7, 2.0, 3.0]))
    assert x.dtype is torch.int64 and x.tolist() == [1, 2, 3]
    y = torch.empty(2, 3, device=FIRST)
    y.copy_(torch.ones(3))
    assert y.tolist() == [[1, 1, 1]] * 2


def test_a_copy_into_a_new_tensor_reaches_its_aliases():
    x = torch.empty(3, device=FIRST)
    alias = x.detach()
    x.copy_(torch.ones(3))
    assert alias.tolist() == [1, 1, 1]


def test_a_generator_of_another_worker_is_refused():
    with pytest.raises(RuntimeError, match="Expected a generator on remote:0 but found one on remote:1"):
        torch.rand(3, device=FIRST, generator=remote.Generator(SECOND))


def test_sparse_results_are_refused_by_name():
    with pytest.raises(RuntimeError, match="layout torch.sparse_coo"):
        torch.eye(2, device=FIRST).to_sparse()
    with pytest.raises(symm.UnsupportedError, match="layout torch.sparse_coo"):
        torch.eye(2).to_sparse().to(FIRST)
    # Torch itself puts one of these together; no op takes it.
    rows = torch.eye(2).to_sparse_csr().to(FIRST)
    with pytest.raises(symm.UnsupportedError, match=r"aten::\w+: an argument is not a strided tensor on a worker"):
        torch.sparse.mm(rows, torch.ones(2, 2, device=FIRST), "mean")


def test_a_detached_device_is_gone():
    device = remote.launch(1, remote.InProcess())[0]
    x = torch.ones(2, device=device)
    link = remote._workers.find(device).link
    remote.detach(device)
    assert not link.alive
    with pytest.raises(symm.ArgumentError):
        torch.ones(2, device=device)
    del x
    assert remote.launch(1, remote.InProcess())[0] == device
    remote.detach(device)
