"""What programs do with torch beside plain ops, on a worker as here; and what is refused, in words that help.

The programs on views and writes are in remote_aliasing.py.
"""

import threading

import pytest

torch = pytest.importorskip("torch")

import remote_aliasing  # noqa: E402, F401: its programs
from remote_alike import PROGRAMS, check, program  # noqa: E402
from symm import UnsupportedError, errors, remote  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils import checkpoint, data  # noqa: E402

DEVICE = remote.launch(1)[0]


def randn(device, *shape):
    return torch.randn(*shape).to(device)


@program
def hooks(device):
    x, seen = torch.ones(2).to(device).requires_grad_(), []
    y = x * 2
    y.register_hook(lambda gradient: gradient * 3)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.clone()))
    y.retain_grad()
    y.sum().backward()
    layer = nn.Linear(2, 2).to(device)
    layer.register_full_backward_hook(lambda layer, inputs, outputs: seen.extend(outputs))
    layer.register_forward_pre_hook(lambda layer, args: (args[0] * 2,))
    layer(x).sum().backward()
    return x.grad, y.grad, seen


@program
def what_is_saved_goes_to_the_cpu(device):
    x = torch.arange(3.0).to(device).requires_grad_()
    with torch.autograd.graph.save_on_cpu():
        y = x.exp() * x
    y.sum().backward()
    return x.grad


@program
def checkpoints_draw_the_same_numbers_again(device):
    x, found = randn(device, 4, 4).requires_grad_(), []
    for reentrant in (True, False):
        body = lambda x: functional.dropout(x @ x, 0.5)  # noqa: E731
        torch.manual_seed(1)
        checkpoint.checkpoint(body, x, use_reentrant=reentrant).sum().backward()
        found.append(x.grad.clone())
    return found


@program
def zeros_without_memory(device):
    x = torch._efficientzerotensor((2, 3), device=device)
    return x, x + 1


@program
def all_at_once(device):
    many = [torch.ones(2).to(device), torch.arange(3.0).to(device)]
    torch._foreach_add_(many, 1)
    torch._foreach_mul_(many, [2.0, 3.0])
    torch._foreach_addcdiv_(many, many, many, 0.5)
    roots = torch._foreach_sqrt(many)
    torch._foreach_lerp_(many, roots, 0.3)
    torch._foreach_copy_(roots, many)
    return many, roots, torch._foreach_norm(many), torch._foreach_max(many)


@program
def optimizers_of_all_kinds(device):
    found = []
    kinds = (
        lambda parameters: torch.optim.Adam(parameters, 1e-2, foreach=True, amsgrad=True),
        lambda parameters: torch.optim.Adam(parameters, torch.tensor(1e-2), foreach=False),
        lambda parameters: torch.optim.Adam(parameters, 1e-2, fused=True),
        lambda parameters: torch.optim.SGD(parameters, 1e-2, 0.9, nesterov=True, fused=True),
        lambda parameters: torch.optim.Adafactor(parameters, 1e-2),
        lambda parameters: torch.optim.Adadelta(parameters, 1.0),
    )
    for make in kinds:
        model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2)).to(device)
        optimizer, x = make(model.parameters()), randn(device, 5, 4)
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
            optimizer.step()
        found.append([parameter.detach() for parameter in model.parameters()])
    return found


@program
def an_optimizer_that_looks_at_values(device):
    x = torch.tensor([1.0, -1.0]).to(device).requires_grad_()
    optimizer = torch.optim.LBFGS([x], max_iter=5)

    def loss():
        optimizer.zero_grad()
        value = ((x - 3) ** 2).sum()
        value.backward()
        return value

    optimizer.step(loss)
    return x


@program
def derivatives_of_all_kinds(device):
    x = torch.arange(3.0).to(device).requires_grad_()
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    first.pow(2).sum().backward()
    y, rows = torch.arange(3.0).to(device), torch.arange(6.0).view(2, 3).to(device)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(y, torch.ones_like(y))
        forward = torch.autograd.forward_ad.unpack_dual(dual.exp() * dual).tangent
    each = torch.vmap(torch.func.grad(lambda row: (row**2).sum()))(rows)
    hessian = torch.func.hessian(lambda x: (x**3).sum())(y)
    return (
        first,
        x.grad,
        forward,
        each,
        hessian,
        torch.func.jacfwd(lambda x: x * x)(y),
        torch.vmap(torch.dot)(rows, rows),
    )


@program
def a_function_that_writes_its_argument(device):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(context, gradient):
            return gradient * 7

    x = torch.ones(2).to(device).requires_grad_()
    Doubled.apply(x * 1).sum().backward()
    return x.grad


@program
def modules_come_to_a_device_in_all_ways(device):
    state = {name: value.to(device) for name, value in nn.Linear(3, 2).state_dict().items()}
    with torch.device("meta"):
        assigned, filled = nn.Linear(3, 2), nn.Linear(3, 2)
    assigned.load_state_dict(state, assign=True)
    filled.to_empty(device=device)
    with torch.no_grad():
        for parameter in filled.parameters():
            parameter.fill_(1)
    normed = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)).to(device)
    spectral = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2)).to(device)
    average = torch.optim.swa_utils.AveragedModel(assigned)
    average.update_parameters(filled)
    x = torch.ones(1, 3).to(device)
    return assigned(x), filled(x), normed(x), spectral(x), average(x), assigned.half().weight


@program
def losses(device):
    x = randn(device, 4, 3).requires_grad_()
    target, other = torch.tensor([0, 1, 2, 1]).to(device), x.detach() + 1
    found = [
        functional.cross_entropy(x, target, label_smoothing=0.1, weight=torch.ones(3).to(device)),
        functional.binary_cross_entropy_with_logits(x, other.sigmoid()),
        functional.kl_div(x.log_softmax(1), other.softmax(1), reduction="batchmean"),
        functional.triplet_margin_loss(x, other, other - 2),
    ]
    for lengths in (torch.tensor([6]), torch.tensor([2])), (torch.tensor([6]).to(device), torch.tensor([2]).to(device)):
        scores = (x[:1, None] * torch.ones(6, 1, 1).to(device)).log_softmax(2)
        found.append(functional.ctc_loss(scores, torch.tensor([[1, 2]]).to(device), *lengths))
    sum(found).backward()
    return found, x.grad


@program
def layers(device):
    attention, found = nn.MultiheadAttention(8, 2, batch_first=True).to(device), []
    x = randn(device, 2, 3, 8).requires_grad_()
    found.extend(attention(x, x, x))
    for layer, shape in (
        (nn.LSTM(4, 6, proj_size=2), (3, 2, 4)),
        (nn.RNN(4, 5), (3, 2, 4)),
        (nn.GRUCell(3, 4), (2, 3)),
        (nn.ConvTranspose2d(3, 2, 3), (1, 3, 4, 4)),
        (nn.Conv3d(1, 2, 2), (1, 1, 3, 3, 3)),
        (nn.GroupNorm(1, 3), (2, 3, 4, 4)),
        (nn.Upsample(scale_factor=2, mode="bilinear"), (1, 1, 2, 2)),
        (nn.MaxPool2d(2, return_indices=True), (1, 1, 4, 4)),
    ):
        result = layer.to(device)(randn(device, *shape))
        found.append(result)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1).to(device).eval()
    padding = torch.tensor([[False, False, True], [False] * 3]).to(device)
    found.append(encoder(torch.ones(2, 3, 8).to(device), src_key_padding_mask=padding))
    with torch.no_grad():
        found.append(encoder(torch.ones(2, 3, 8).to(device)))
        # Here torch leaves what is padded out, and puts zeros there.
        found.append(encoder(torch.ones(2, 3, 8).to(device), src_key_padding_mask=padding)[~padding])
    return found


@program
def threads(device):
    found = [None] * 4

    def work(number):
        x = torch.full((3,), float(number)).to(device).requires_grad_()
        for _ in range(50):
            loss = (x * x).sum()
        loss.backward()
        found[number] = x.grad

    running = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return found


@program
def texts(device):
    values = torch.arange(2000.0), torch.tensor([1 + 2j]), torch.tensor([True]), torch.empty(0, 2), torch.tensor(3)
    return [hash(repr(value.to(device)).replace(f", device='{device}'", "")) for value in values]


@program
def tensors_as_python_numbers(device):
    x = torch.tensor(3).to(device)
    return (
        int(x),
        [10, 11, 12, 13][x],
        len(range(x)),
        2.0 in torch.arange(3.0).to(device),
        len(torch.ones(4, 2).to(device)),
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_here(name):
    check(PROGRAMS[name], DEVICE)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda x: x.to_sparse(), "layout torch.sparse_coo: tensors on workers are strided"),
        (lambda x: x.to_sparse_csr(), "layout torch.sparse_csr: tensors on workers are strided"),
        (lambda x: torch.sparse_coo_tensor([[0]], [1.0], (2,), device=x.device), "tensors on workers are strided"),
        (lambda x: torch.eye(2).to_sparse().to(x.device), "tensors on workers are strided"),
        (lambda x: x.to_mkldnn(), "tensors on workers are strided"),
        (lambda x: torch.nested.nested_tensor([x[0], x[1]]), "layout=torch.jagged"),
        (lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), "not quantized"),
    ],
)
def test_what_is_not_strided_is_refused(make, words):
    with pytest.raises((UnsupportedError, errors.WorkerError, TypeError), match=words):
        make(torch.eye(2, device=DEVICE))
    assert torch.ones(2, device=DEVICE).sum().item() == 2


def test_gradients_that_are_sparse_are_refused():
    layer = nn.Embedding(4, 2, sparse=True).to(DEVICE)
    with pytest.raises((UnsupportedError, errors.WorkerError), match="tensors on workers are strided"):
        layer(torch.tensor([1, 2], device=DEVICE)).sum().backward()


@pytest.mark.parametrize("pin", [False, True])
def test_data_comes_from_processes(pin):
    # They are forked from this one, and torch seeds all devices there.
    batches = data.DataLoader(data.TensorDataset(torch.arange(4.0)), 2, num_workers=1, pin_memory=pin)
    assert [(batch.to(DEVICE) * 2).tolist() for (batch,) in batches] == [[0, 2], [4, 6]]
