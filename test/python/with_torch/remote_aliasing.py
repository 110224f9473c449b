"""Programs with views, writes in place, `out=`, `resize_` and `set_`, with and without autograd."""

import copy

import torch
from remote_alike import program


def ones(device, *shape, dtype=None):
    return torch.ones(*shape, dtype=dtype).to(device)


def numbers(device, *shape):
    return torch.arange(float(torch.Size(shape).numel())).view(*shape).to(device)


@program
def views_of_views(device):
    x = numbers(device, 4, 6)
    view = x.t()[1:4].narrow(1, 1, 2)
    view.mul_(10)
    last = view.unsqueeze(0).expand(3, -1, -1)[1]
    last[0] = -1
    return x, view, last


@program
def a_view_is_written_within_a_graph(device):
    x = numbers(device, 6).requires_grad_()
    y = x * 2
    y[1:4].mul_(3)
    y[0].exp_()
    y.sum().backward()
    return x.grad, y


@program
def the_base_of_a_view_is_written_within_a_graph(device):
    x = numbers(device, 6).requires_grad_()
    y = x * 2
    view = y.view(2, 3)
    y.mul_(view.detach().reshape(-1))
    (view * view).sum().backward()
    return x.grad


@program
def a_leaf_is_written(device):
    ones(device, 3).requires_grad_().add_(1)


@program
def a_leafs_view_is_written(device):
    ones(device, 3).requires_grad_()[0] = 1


@program
def what_the_backward_pass_needs_is_written(device):
    y = ones(device, 3).requires_grad_().exp()
    y.add_(1)
    y.sum().backward()


@program
def what_the_backward_pass_needs_is_written_through_detach(device):
    y = ones(device, 3).requires_grad_().exp()
    y.detach().zero_()
    y.sum().backward()


@program
def data_has_a_version_of_its_own(device):
    x = ones(device, 3).requires_grad_()
    y = x.exp()
    y.data.zero_()
    y.sum().backward()
    return x.grad


@program
def versions_count_writes(device):
    x = ones(device, 3)
    x.add_(1)
    x[0].mul_(2)
    return x._version, x[1:]._version


@program
def one_of_many_views_is_written(device):
    first, _ = (ones(device, 2, 3).requires_grad_() * 1).unbind()
    first.add_(1)


@program
def parts_are_written_without_a_graph(device):
    x = ones(device, 6)
    with torch.no_grad():
        first, second = x.split(3)
        first.add_(1)
        second.mul_(5)
    return x


@program
def strided_windows(device):
    x = torch.zeros(8).to(device)
    x.as_strided((3, 2), (2, 1), 1).fill_(4)
    y = numbers(device, 8).requires_grad_()
    y.as_strided((3, 3), (1, 2)).pow(2).sum().backward()
    return x, y.grad


@program
def diagonals(device):
    x = torch.zeros(3, 3).to(device)
    x.diagonal().fill_(2)
    x.diagonal(1).copy_(torch.tensor([1.0, 2.0]).to(device))
    return x


@program
def memory_that_overlaps_is_written(device):
    ones(device, 1, 3).expand(2, 3).add_(1)


@program
def resized(device):
    x, whole = numbers(device, 6), numbers(device, 12)
    x.resize_(2, 2)
    small = x.clone()
    x.resize_(6)
    view = whole[2:6]
    view.resize_(2, 2).zero_()
    return small, x, view, whole


@program
def resized_within_a_graph(device):
    numbers(device, 6).requires_grad_().resize_(3)


@program
def set_to_another_tensors_memory(device):
    x, y, z = torch.zeros(2).to(device), ones(device, 3), numbers(device, 3, 4)
    x.set_(y)
    x.add_(1)
    w = torch.zeros(2).to(device)
    w.set_(z.t()[1:])
    w.mul_(2)
    return x, y, z, w, torch.ones(2).to(device).set_()


@program
def results_into_tensors_that_are_there(device):
    x, empty, total = torch.zeros(2, 3).to(device), torch.empty(0).to(device), torch.empty(3).to(device)
    torch.add(ones(device, 3), 1, out=x[1])
    torch.mm(ones(device, 2, 2), ones(device, 2, 3), out=x)
    torch.mm(ones(device, 3, 2), ones(device, 2, 2), out=(y := torch.zeros(2, 3).to(device)).t())
    torch.mul(ones(device, 2, 2), 3, out=empty)
    same = torch.add(ones(device, 3), 2, out=total) is total
    values, indices = torch.empty(3).to(device), torch.empty(3, dtype=torch.int64).to(device)
    torch.sort(torch.tensor([3.0, 1.0, 2.0]).to(device), out=(values, indices))
    places = torch.empty(0, dtype=torch.int64).to(device)
    torch.nonzero(torch.tensor([0, 1, 1]).to(device), out=places)
    return x, y, empty, total, same, values, indices, places


@program
def results_into_a_tensor_of_another_type(device):
    torch.add(ones(device, 3), 2.5, out=torch.empty(3, dtype=torch.int32).to(device))


@program
def results_into_a_tensor_with_a_gradient(device):
    torch.add(ones(device, 3), 2, out=torch.empty(3).to(device).requires_grad_())


@program
def views_of_complex_numbers(device):
    x = torch.tensor([1 + 2j, 3 - 1j]).to(device)
    torch.view_as_real(x)[0, 1] = 7
    x.real.mul_(2)
    x.imag = torch.tensor([5.0, 6.0]).to(device)
    negated = x.conj().imag
    negated.add_(1)
    return x, x.conj().imag, negated.clone(), negated.is_neg(), x @ x.conj(), x.conj() * 2


@program
def views_of_another_type(device):
    x = torch.arange(4, dtype=torch.int32).to(device)
    view = x.view(torch.int16)
    view[0] = 5
    return x, view, x.view(torch.uint8)


@program
def indices_of_all_kinds(device):
    x = numbers(device, 3, 4, 5)
    at = torch.tensor([0, 2]).to(device)
    read = x[..., 1], x[None, 1:, ::2], x[[0, 2], :, [1, 3]], x[at, at], x[:, at, None], x[x > 30], x[-1, -2:, 1::3]
    y = torch.zeros(3, 4).to(device)
    y[[0, 1], [1, 2]] = torch.tensor([5.0, 6.0]).to(device)
    y[y == 0] = -1
    y[2, ...] = 3
    y[:, None] += 1
    y[torch.tensor([0, 0]).to(device)] += 1
    y.index_put_((torch.tensor([0, 0]).to(device),), ones(device, 4), accumulate=True)
    y[0, 0] = 7
    y[1:2] = torch.tensor(4)
    return read, y


@program
def an_index_out_of_range(device):
    return ones(device, 3)[5]


@program
def no_elements(device):
    x = torch.empty(0, 3).to(device)
    at = torch.zeros(0, dtype=torch.int64).to(device)
    return (
        x.sum(),
        x.mean(0),
        torch.cat([x, ones(device, 1, 3)]),
        x @ ones(device, 3, 2),
        x[at],
        x.reshape(3, 0),
        x.nonzero(),
    )


@program
def no_dimensions(device):
    x, y = torch.tensor(3.0).to(device), numbers(device, 4)
    y += x
    y[1] = x
    y[2] += 1
    mixed = y.clone()
    mixed[1] = torch.tensor(9.0)
    mixed.mul_(torch.tensor(3))
    return (
        x[()],
        x[None],
        y,
        mixed,
        torch.where(y > 1, y, 0.0),
        torch.tensor(2) + x,
        2**x,
        torch.lerp(y, mixed, torch.tensor(0.5)),
    )


@program
def shallow_copies_share_memory(device):
    x = ones(device, 2).requires_grad_()
    other = copy.copy(x)
    with torch.no_grad():
        other.add_(1)
    parameter = copy.copy(torch.nn.Parameter(ones(device, 2)))
    return x, other, other.requires_grad, isinstance(parameter, torch.nn.Parameter)


@program
def parameters_get_other_data(device):
    parameter = torch.nn.Parameter(torch.zeros(2, 3).to(device))
    parameter.data[0] = 5
    parameter.data = parameter.data.t()
    parameter.data.mul_(2)
    layer = torch.nn.Linear(2, 2).to(device)
    torch.nn.utils.vector_to_parameters(numbers(device, 6), layer.parameters())
    return parameter, list(layer.parameters())


@program
def tensors_change_places(device):
    x, y = ones(device, 2), torch.zeros(3).to(device)
    torch.utils.swap_tensors(x, y)
    return x, y


@program
def strides_stay(device):
    x = torch.randn(1, 2, 3, 4).to(device).to(memory_format=torch.channels_last)
    made = x, x.relu(), x.contiguous(), x.clone(), torch.empty_like(x), x.permute(0, 2, 3, 1), x + 1, x.double()
    return [tensor.stride() for tensor in made], [x.cpu().stride(), x._is_view(), x[0]._is_view(), x[0]._base is x]
