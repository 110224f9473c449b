"""The ops that are not just sent: those that only this process can answer, or that change what a tensor is."""

import torch
from torch.utils._pytree import tree_map

from ..errors import UnsupportedError
from . import _cells, _copies, _random, _workers
from ._metadata import contiguous, empty, is_contiguous, meta
from ._run import run
from ._tensor import RemoteTensor, adopt, alias, wrap

aten = torch.ops.aten


def _alias(func, args, kwargs):
    return alias(args[0])


def _inplace_view(func, args, kwargs):
    """`t_` and its like: the view is made on the worker, and the tensor becomes the view."""
    packet = getattr(getattr(torch.ops, func.namespace), func._opname[:-1])
    types = [str(argument.type) for argument in func._schema.arguments]
    overloads = [getattr(packet, name) for name in packet.overloads()]
    view = next(view for view in overloads if [str(argument.type) for argument in view._schema.arguments] == types)
    adopt(args[0], run(view, args, kwargs))
    return args[0]


def _resize_(func, args, kwargs):
    tensor, size = args[0], tuple(args[1])
    if size == tensor._meta.shape:
        return tensor
    # Another tensor on the worker with the same memory, so that what else has this one's id keeps its shape.
    view = run(aten.view.default, (tensor, list(tensor._meta.shape)), {}) if is_contiguous(tensor._meta) else tensor
    like = contiguous(size, tensor.dtype)
    format = kwargs.get("memory_format")
    if format is not None:
        like = meta(size, tuple(torch.empty(size, device="meta", memory_format=format).stride()), 0, tensor.dtype)
    run(func, (view, list(size)), kwargs)
    adopt(tensor, wrap(like, view._handle))
    return tensor


def _set_tensor(func, args, kwargs):
    adopt(args[0], alias(args[1]))
    return args[0]


def _no_storage(func, args, kwargs):
    raise NotImplementedError(
        f"{func}: the memory of a tensor on {args[0].device} is on its worker; set_ takes a tensor"
    )


def _empty(func, args, kwargs):
    """A tensor without values, which a copy into it may replace."""
    worker = _workers.find(kwargs["device"])
    tensor = run(func, args, kwargs, worker)
    worker.fresh = tensor._handle
    return tensor


def _no(func, args, kwargs):
    return False


def _nothing(func, args, kwargs):
    return None


def _pin(func, args, kwargs):
    raise RuntimeError(f"cannot pin a tensor on {args[0].device}: only dense CPU tensors can be pinned")


def _indexed(func, args, kwargs):
    """Indices may be CPU tensors, as on a GPU."""
    worker = next(value for value in (args[0], *args[1]) if isinstance(value, RemoteTensor))._handle.worker
    if not isinstance(args[0], RemoteTensor):
        indices = [_copies.fetch(index) if isinstance(index, RemoteTensor) else index for index in args[1]]
        return func(args[0], indices, *args[2:], **kwargs)

    def there(index):
        return index if index is None or isinstance(index, RemoteTensor) else _copies.upload(index, worker)

    return run(func, (args[0], [there(index) for index in args[1]], *args[2:]), kwargs)


def _with_device(func, args, kwargs):
    """Makes a tensor like another one, or from numbers, on the device that `device` names."""
    tensor = args[0] if args and isinstance(args[0], RemoteTensor) else None
    device = kwargs.get("device")
    if device is None:
        return _with_generator(func, args, kwargs)
    if device.type != "remote":
        if "_like" in func._opname or func._opname.startswith("new_"):
            return func(empty(tensor._meta, device), *args[1:], **kwargs)
        local = tree_map(
            lambda value: _copies.fetch(value) if isinstance(value, RemoteTensor) else value, (args, kwargs)
        )
        return func(*local[0], **local[1])
    worker = _workers.find(device)
    if tensor is not None and tensor._handle.worker is not worker:
        tensor = run(
            aten.empty_strided.default, (tensor._meta.shape, tensor._meta.stride), _options(tensor, device), worker
        )
        args = (tensor, *args[1:])
    return _with_generator(func, args, kwargs, worker)


def _options(tensor, device):
    return {"dtype": tensor.dtype, "device": device}


def _with_generator(func, args, kwargs, worker=None):
    values = [*args, *kwargs.values()]
    generator = next((value for value in values if isinstance(value, torch.Generator)), None)
    if generator is None:
        return run(func, args, kwargs, worker)
    if worker is None:
        worker = next(value for value in values if isinstance(value, RemoteTensor))._handle.worker
    args = tuple(None if value is generator else value for value in args)
    kwargs = {name: value for name, value in kwargs.items() if value is not generator}
    return run(func, args, kwargs, worker, _random.on_wire(generator, worker))


def _no_nested(func, args, kwargs):
    raise UnsupportedError(f"{func}: nested tensors on workers have layout=torch.jagged, not a layout of their own")


def _no_quantized(func, args, kwargs):
    raise UnsupportedError(f"{func}: tensors on workers are not quantized")


def _decomposed(func, args, kwargs):
    return func.decompose(*args, **kwargs)


SPECIAL = {
    aten.detach.default: _alias,
    aten.alias.default: _alias,
    aten.lift_fresh.default: _alias,
    aten.copy_.default: _copies.copy_,
    aten._to_copy.default: _copies.to_copy,
    aten.resize_.default: _resize_,
    aten.set_.source_Tensor: _set_tensor,
    aten.set_.source_Storage: _no_storage,
    aten.set_.source_Storage_storage_offset: _no_storage,
    aten.empty.memory_format: _empty,
    aten.empty_strided.default: _empty,
    aten.is_pinned.default: _no,
    # Whether a mask fits a nested tensor: torch's encoders would make one.
    aten._nested_tensor_from_mask_left_aligned.default: _no,
    aten.record_stream.default: _nothing,
    aten._pin_memory.default: _pin,
    aten.index.Tensor: _indexed,
    aten._unsafe_index.Tensor: _indexed,
    aten.index_put.default: _indexed,
    aten.index_put_.default: _indexed,
    aten._index_put_impl_.default: _indexed,
    aten._pack_padded_sequence.default: _cells.pack_padded_sequence,
    aten._thnn_fused_lstm_cell.default: _cells.lstm,
    aten._thnn_fused_lstm_cell_backward_impl.default: _cells.lstm_backward,
    aten._thnn_fused_gru_cell.default: _cells.gru,
    aten._thnn_fused_gru_cell_backward.default: _cells.gru_backward,
}


def route(func):
    """What runs an op that comes here."""
    own = SPECIAL.get(func)
    if own is not None:
        return own
    if func._opname.startswith("_nested_"):
        return _no_nested
    if func._opname.startswith("quantize_"):
        return _no_quantized
    if torch.Tag.inplace_view in func.tags:
        return _inplace_view
    if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
        return _decomposed
    names = {argument.name for argument in func._schema.arguments}
    if "device" in names:
        return _with_device
    return _with_generator if "generator" in names else run
