"""Models on a worker train as they do here."""

import contextlib

import pytest

torch = pytest.importorskip("torch")

from symm import remote  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

# Autograd on an index other than 0 is a case of its own.
DEVICE = remote.launch(2)[1]
STEPS = 50


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cells, self.out = kind(3, 8, 2, batch_first=True, bidirectional=True), nn.Linear(16, 3)

    def forward(self, x):
        return self.out(self.cells(x.flatten(2).transpose(1, 2)[:, :4])[0].mean(1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.enter, self.layers, self.out = nn.Linear(3, 8), nn.TransformerEncoder(layer, 2), nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.layers(self.enter(x.flatten(2).transpose(1, 2))).mean(1))


def convolutions():
    features = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.1)
    return nn.Sequential(*features, nn.Flatten(), nn.Linear(32, 3))


MODELS = {
    "lstm": lambda: Recurrent(nn.LSTM),
    "gru": lambda: Recurrent(nn.GRU),
    "cnn": convolutions,
    "transformer": Transformer,
}


def losses(model, optimizer, device):
    torch.manual_seed(3)
    model = MODELS[model]().to(device)
    optimizer = optimizer(model.parameters())
    torch.manual_seed(4)
    x, target = torch.randn(6, 3, 4, 4).to(device), (torch.arange(6) % 3).to(device)
    # A worker's stream is its own: nothing was drawn from it for what came from here.
    torch.manual_seed(5)
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        found.append(loss.detach())
    return torch.stack(found).cpu()


@pytest.mark.parametrize("model", MODELS)
def test_losses_of_fifty_steps_are_as_here(model):
    adam = lambda parameters: torch.optim.Adam(parameters, 1e-2)  # noqa: E731
    torch.testing.assert_close(losses(model, adam, DEVICE), losses(model, adam, "cpu"), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["SGD", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adamax", "Rprop"])
def test_optimizers(name):
    kind = getattr(torch.optim, name)
    make = lambda parameters: kind(parameters, lr=1e-3)  # noqa: E731
    torch.testing.assert_close(losses("cnn", make, DEVICE), losses("cnn", make, "cpu"), rtol=1e-4, atol=1e-5)


ATTENTION = {
    "plain": {},
    "causal": {"is_causal": True},
    "grouped": {"grouped": True},
    "bias": {"mask": lambda: torch.randn(6, 6)},
    "mask": {"mask": lambda: torch.randn(2, 4, 6, 6) > 0},
    "bias with a gradient": {"mask": lambda: torch.randn(6, 6).requires_grad_()},
    "bfloat16": {"dtype": torch.bfloat16},
    "three dimensions": {"shape": (4, 6, 8)},
    "no queries": {"shape": (2, 4, 0, 8)},
    "only its product": {"kernel": SDPBackend.MATH},
}


def attention(device, shape=(2, 4, 6, 8), dtype=torch.float32, mask=None, grouped=False, kernel=None, is_causal=False):
    torch.manual_seed(2)
    few = (2, 2, 6, 8) if grouped else shape
    made = [torch.randn(sizes, dtype=dtype, requires_grad=True) for sizes in (shape, few, few)] + (
        [mask()] if mask else []
    )
    inputs = [tensor.detach().to(device).requires_grad_(tensor.requires_grad) for tensor in made]
    with sdpa_kernel(kernel) if kernel else contextlib.nullcontext():
        output = nn.functional.scaled_dot_product_attention(*inputs, is_causal=is_causal, enable_gqa=grouped)
    gradients = torch.autograd.grad(output.square().sum(), [tensor for tensor in inputs if tensor.requires_grad])
    return [tensor.detach().cpu() for tensor in (output, *gradients)], output.stride(), type(output.grad_fn)


@pytest.mark.parametrize("case", ATTENTION)
def test_attention_takes_the_kernel_that_it_takes_here(case):
    (found, *how), (want, *how_here) = (attention(device, **ATTENTION[case]) for device in (DEVICE, "cpu"))
    torch.testing.assert_close(found, want)
    assert how == how_here


@pytest.mark.parametrize("foreach", [True, False])
def test_what_a_step_returns_is_worked_out_once(foreach, monkeypatch):
    """Adam has other numbers in each step, in lists or alone."""
    from symm.remote import _run

    x, worked_out = torch.ones(3, device=DEVICE, requires_grad=True), []
    optimizer = torch.optim.Adam([x, torch.ones(2, 2, device=DEVICE, requires_grad=True)], foreach=foreach)
    infer = _run.infer
    monkeypatch.setattr(_run, "infer", lambda func, *rest: worked_out.append(func) or infer(func, *rest))
    for step in range(6):
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()
        if step == 1:
            worked_out.clear()
    assert not worked_out


def test_autocast():
    layer, x = nn.Linear(4, 4).to(DEVICE), torch.randn(4, 4, device=DEVICE)
    with torch.autocast("remote", dtype=torch.bfloat16):
        y = layer(x)
        assert y.dtype is torch.bfloat16
        z = y.softmax(-1)
        assert z.dtype is torch.float32
        assert torch.cat([x, y]).dtype is torch.float32
    assert layer(x).dtype is torch.float32
    z.sum().backward()
    assert layer.weight.grad.dtype is torch.float32


def test_scaled_gradients():
    x = torch.ones(3, device=DEVICE, requires_grad=True)
    scaler, optimizer = torch.amp.GradScaler("remote"), torch.optim.SGD([x], 0.1)
    scaler.scale((x * x).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(x.detach().cpu(), torch.full((3,), 0.8))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile(backend):
    torch._dynamo.reset()
    layer, x = nn.Linear(4, 4).to(DEVICE), torch.randn(4, 4, device=DEVICE)
    compiled = torch.compile(lambda x: layer(x).relu().sum(), backend=backend)
    compiled(x).backward()
    found = layer.weight.grad.cpu()
    layer.zero_grad()
    layer(x).relu().sum().backward()
    torch.testing.assert_close(found, layer.weight.grad.cpu())


def test_checkpointed_layers_draw_the_same_numbers_again():
    from torch.utils.checkpoint import checkpoint

    def gradient(device, run):
        x = torch.arange(16.0).view(4, 4).to(device).requires_grad_()
        torch.manual_seed(7)
        body = lambda x: nn.functional.dropout(x @ x, 0.5).sum()  # noqa: E731
        run(body, x).backward()
        return x.grad.cpu()

    again = gradient(DEVICE, lambda body, x: checkpoint(body, x, use_reentrant=False))
    torch.testing.assert_close(again, gradient("cpu", lambda body, x: body(x)))


def test_transforms_of_functions():
    x = torch.randn(3, 4, device=DEVICE)
    torch.testing.assert_close(torch.vmap(lambda row: row.sin().sum())(x).cpu(), x.cpu().sin().sum(1))
    torch.testing.assert_close(torch.func.grad(lambda x: (x * x).sum())(x).cpu(), 2 * x.cpu())
    torch.autograd.gradcheck(
        lambda x: x.sin().exp(), torch.randn(3, dtype=torch.float64, device=DEVICE).requires_grad_()
    )


def test_inference_mode():
    model = Transformer().eval()
    x = torch.randn(2, 3, 4, 4)
    with torch.inference_mode():
        want = model(x)
        torch.testing.assert_close(model.to(DEVICE)(x.to(DEVICE)).cpu(), want, rtol=1e-4, atol=1e-5)


def test_packed_sequences():
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    cells, x, lengths = nn.LSTM(3, 5), torch.randn(4, 2, 3), torch.tensor([4, 2])
    with torch.no_grad():
        want, _ = pad_packed_sequence(cells(pack_padded_sequence(x, lengths))[0])
    cells.to(DEVICE)
    found, _ = pad_packed_sequence(cells(pack_padded_sequence(x.to(DEVICE), lengths))[0])
    torch.testing.assert_close(found.detach().cpu(), want, rtol=1e-4, atol=1e-5)
