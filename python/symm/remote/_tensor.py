"""The tensor: metadata here, values on a worker."""

import collections
import copy
import sys

import torch

from .. import _symm
from ..errors import UnsupportedError
from ._metadata import Meta

make = torch.Tensor._make_wrapper_subclass


class RemoteTensor(torch.Tensor):
    """A torch tensor on a device `remote:N`.

    `_handle` keeps it on its worker, `_meta` is this tensor's metadata.
    """

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise NotImplementedError("symm.remote._backend puts its own here")

    @property
    def _id(self):
        return self._handle.id

    @property
    def _link(self):
        return self._handle.link

    def __repr__(self, *, tensor_contents=None):
        text = _values(self.detach())
        suffixes = [f"device='{self.device}'"]
        if self.numel() == 0 and self.dim() != 1:
            suffixes.append(f"size={tuple(self.shape)}")
        usual = torch.get_default_dtype()
        if self.dtype not in (usual, usual.to_complex(), torch.int64, torch.bool):
            suffixes.append(f"dtype={self.dtype}")
        if self.grad_fn is not None:
            suffixes.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            suffixes.append("requires_grad=True")
        text = torch._tensor_str._add_suffixes("tensor(" + text, suffixes, len("tensor("), force_newline=False)
        return f"Parameter containing:\n{text}" if isinstance(self, torch.nn.Parameter) else text

    def __reduce_ex__(self, protocol):
        if not _is_saving():
            raise UnsupportedError(
                f"a tensor on {self.device} is not pickled: its values are on a worker. Use torch.save, or pickle"
                " tensor.cpu()"
            )
        if isinstance(self, torch.nn.Parameter):
            return torch._utils._rebuild_parameter, (self.data, self.requires_grad, collections.OrderedDict())
        rebuild = torch._utils._rebuild_device_tensor_from_cpu_tensor
        return rebuild, (self.detach().cpu(), self.dtype, str(self.device), self.requires_grad)

    def __copy__(self):
        made = alias(self).requires_grad_(self.requires_grad)
        if isinstance(self, torch.nn.Parameter):
            made._is_param = True
        vars(made).update(_of_program(self))
        return made

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the"
                " moment."
            )
        with torch.no_grad():
            made = self.detach().clone(memory_format=torch.preserve_format).requires_grad_(self.requires_grad)
        memo[id(self)] = made
        if isinstance(self, torch.nn.Parameter):
            # Torch copies neither the gradient nor the attributes of a parameter.
            made._is_param = True
            return made
        if self.grad is not None:
            made.grad = copy.deepcopy(self.grad, memo)
        vars(made).update(copy.deepcopy(_of_program(self), memo))
        return made

    def tolist(self):
        return self.detach().cpu().tolist()

    def numpy(self, *, force=False):
        if not force:
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() first.")
        return self.detach().cpu().numpy(force=True)

    def __array__(self, dtype=None, copy=None):
        return self.numpy()

    def __format__(self, spec):
        return self.item().__format__(spec) if self.dim() == 0 else object.__format__(self, spec)

    def data_ptr(self):
        raise RuntimeError(f"a tensor on {self.device} has no address in this process: use Tensor.cpu()")

    @property
    def data(self):
        # As in torch: with a version of its own.
        return alias(self)

    @data.setter
    def data(self, other):
        if not isinstance(other, RemoteTensor):
            raise TypeError(
                f"the data of a tensor on {self.device} is not on {other.device}: use other.to('{self.device}')"
            )
        adopt(self, other)


def parts(meta: Meta, worker) -> tuple:
    """What `make` takes for a tensor of this metadata that does not conjugate or negate."""
    return RemoteTensor, meta.shape, meta.stride, meta.offset, None, meta.dtype, torch.strided, worker.device


def wrap(meta: Meta, handle: _symm.Handle) -> RemoteTensor:
    """The tensor of this metadata that a handle keeps."""
    if meta.conj or meta.neg:
        tensor = _make_view(handle.worker, meta)
    else:
        tensor = make(*parts(meta, handle.worker))
    tensor._handle = handle
    tensor._meta = meta
    return tensor


def _make_view(worker, meta):
    keys = torch._C._dispatch_keys(torch.empty(0))
    keys = keys - keys
    for is_set, key in ((meta.conj, torch._C.DispatchKey.Conjugate), (meta.neg, torch._C.DispatchKey.Negative)):
        keys = keys.add(key) if is_set else keys
    metadata = {"dtype": meta.dtype, "device": worker.device, "_extra_dispatch_keys": keys}
    return make(RemoteTensor, meta.shape, meta.stride, meta.offset, None, **metadata)


def adopt(tensor: RemoteTensor, other: RemoteTensor) -> None:
    """Makes `tensor` have the values and the metadata of `other`, and stay the same object."""
    torch._C.TensorBase.data.__set__(tensor, wrap(other._meta, other._handle))
    tensor._handle, tensor._meta = other._handle, other._meta


def alias(tensor: RemoteTensor) -> RemoteTensor:
    """Another tensor object for the same tensor of the worker."""
    tensor._handle.worker.fresh = None
    return wrap(tensor._meta, tensor._handle)


def _of_program(tensor) -> dict:
    """The attributes that the program has given to a tensor."""
    return {name: value for name, value in vars(tensor).items() if name not in ("_handle", "_meta", "_is_param")}


def _values(tensor) -> str:
    """What torch prints of a tensor's values. Of a large one only what is printed is fetched."""
    shown = torch._tensor_str.PRINT_OPTS
    if tensor.numel() <= shown.threshold:
        return torch._tensor_str._tensor_str(tensor.cpu(), len("tensor("))
    edge = shown.edgeitems
    for dim, size in enumerate(tensor.shape):
        if size > 2 * edge + 1:
            # One between the edges is what dots stand for.
            tensor = torch.cat([tensor.narrow(dim, 0, edge + 1), tensor.narrow(dim, size - edge, edge)], dim)
    with torch._tensor_str.printoptions(threshold=0):
        return torch._tensor_str._tensor_str(tensor.cpu(), len("tensor("))


def _is_saving() -> bool:
    frame = sys._getframe(1)
    saving = torch.serialization._save.__code__, torch.serialization._legacy_save.__code__
    while frame is not None:
        if frame.f_code in saving:
            return True
        frame = frame.f_back
    return False
