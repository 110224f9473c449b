"""What an op's results look like, found out without running it.

`Meta` is shape, strides, offset and dtype; equal ones are the same object, as long as there are not too many.
`infer` runs an op on tensors without data, as if they were on the worker's own device.
"""

import itertools
import logging

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map

_metas = {}
_numbers = itertools.count()
# It prints what it raises.
_log = logging.getLogger("torch._subclasses.fake_tensor")


class Meta:
    """Shape, strides and offset in elements, dtype, and whether it is a view that conjugates or negates.

    `number` is its own: no other one of this process has had it.
    """

    __slots__ = ("conj", "dtype", "neg", "number", "offset", "shape", "stride")

    def __init__(self, shape, stride, offset, dtype, conj, neg):
        self.number = next(_numbers)
        self.shape, self.stride, self.offset, self.dtype, self.conj, self.neg = shape, stride, offset, dtype, conj, neg


def meta(shape, stride, offset, dtype, conj=False, neg=False) -> Meta:
    """The one Meta of these values."""
    key = (shape, stride, offset, dtype, conj, neg)
    found = _metas.get(key)
    if found is None:
        if len(_metas) > 100_000:
            _metas.clear()
        found = _metas[key] = Meta(*key)
    return found


def meta_of(tensor: torch.Tensor) -> Meta:
    """The Meta that describes a tensor."""
    return meta(
        tuple(tensor.shape),
        tuple(tensor.stride()),
        tensor.storage_offset(),
        tensor.dtype,
        tensor.is_conj(),
        tensor.is_neg(),
    )


def contiguous(shape, dtype) -> Meta:
    """The Meta of a contiguous tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return meta(tuple(shape), tuple(reversed(strides)), 0, dtype)


def is_contiguous(shape: Meta) -> bool:
    """Whether a tensor has its elements in order, without gaps, from the start of its memory."""
    like = contiguous(shape.shape, shape.dtype)
    # A Meta may be older than what is remembered.
    return shape is like or (shape.stride, shape.offset, shape.conj, shape.neg) == (like.stride, 0, False, False)


def empty(like: Meta, device) -> torch.Tensor:
    """A tensor of that metadata with no values in it."""
    if like.offset == 0:
        tensor = torch.empty_strided(like.shape, like.stride, dtype=like.dtype, device=device)
    else:
        last = sum((size - 1) * stride for size, stride in zip(like.shape, like.stride, strict=True))
        whole = torch.empty(max(like.offset + 1 + last, like.offset), dtype=like.dtype, device=device)
        tensor = whole.as_strided(like.shape, like.stride, like.offset)
    tensor = torch._conj(tensor) if like.conj else tensor
    return torch._neg_view(tensor) if like.neg else tensor


def infer(func, args, kwargs, device, remote):
    """The op's result on tensors without data, and its arguments after it: `(result, args, kwargs)`.

    `remote` is the class whose tensors are on the worker, `device` the worker's own device.
    """
    if _only_views(func):
        return _on_meta(func, args, kwargs, remote)
    mode = FakeTensorMode(allow_non_fake_inputs=False)

    def local(value):
        if isinstance(value, remote):
            return empty(value._meta, device)
        if isinstance(value, torch.Tensor):
            return mode.from_tensor(value)
        return device if isinstance(value, torch.device) else value

    disabled, _log.disabled = _log.disabled, True
    try:
        with torch._C.DisableTorchFunction(), mode:
            args, kwargs = tree_map(local, (tuple(args), kwargs or {}))
            return func(*args, **kwargs), args, kwargs
    finally:
        _log.disabled = disabled


def _only_views(func) -> bool:
    returns = func._schema.returns
    return bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)


def _on_meta(func, args, kwargs, remote):
    def local(value):
        return empty(value._meta, "meta") if isinstance(value, remote) else value

    args, kwargs = tree_map(local, (tuple(args), kwargs or {}))
    return func(*args, **kwargs), args, kwargs
