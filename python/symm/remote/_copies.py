"""Tensors between this process and workers, and from worker to worker."""

import torch

from .. import _symm
from . import _workers
from ._metadata import contiguous, is_contiguous
from ._place import place
from ._progress import bar
from ._run import run
from ._tensor import RemoteTensor, adopt, wrap

aten = torch.ops.aten
_OWN_ADDRESSES = ("unix:", "tcp:127.", "tcp:localhost:", "tcp:[::1]:")


def fetch(tensor: RemoteTensor) -> torch.Tensor:
    """The values, in a CPU tensor with the same strides if they leave no gaps. Waits for the worker."""
    like = tensor._meta
    local = torch.empty(like.shape, dtype=like.dtype)
    tensor._link.fetch(tensor._id, local, progress=bar("from", tensor.device, local.nbytes))
    if is_contiguous(like) or like.offset == 0 and local.stride() == like.stride:
        return local
    ordered = torch.empty_like(
        torch.empty_strided(like.shape, like.stride, dtype=like.dtype, device="meta"), device="cpu"
    )
    return local if ordered.stride() == local.stride() else ordered.copy_(local)


def upload(local: torch.Tensor, worker) -> RemoteTensor:
    """A contiguous copy on a worker of a CPU tensor."""
    local = local.detach().resolve_conj().resolve_neg().contiguous()
    handle = _symm.Handle(worker)
    worker.link.upload(handle.id, local, progress=bar("to", worker.device, local.nbytes))
    worker.fresh = None
    return wrap(contiguous(local.shape, local.dtype), handle)


def transfer(tensor: RemoteTensor, worker) -> RemoteTensor:
    """A contiguous copy on another worker, which gets it from the tensor's own if that can reach it."""
    if type(tensor._link) is not type(worker.link) or not _reaches(tensor._link, worker.link):
        return upload(fetch(tensor), worker)
    handle = _symm.Handle(worker)
    like = tensor._meta
    tensor._link.copy(tensor._id, worker.link, handle.id, place())
    worker.fresh = None
    return wrap(contiguous(like.shape, like.dtype), handle)


def _reaches(link, other):
    """Whether a worker can connect to another: an address of this host's own is one of its own host's only."""
    return link.host == other.host or not other.inside.startswith(_OWN_ADDRESSES)


def copy_(func, args, kwargs):
    """`target.copy_(source)`, where one of them is on a worker."""
    target, source = args[0], args[1]
    if not isinstance(target, RemoteTensor):
        target.copy_(fetch(source))
        return target
    worker = target._handle.worker
    if isinstance(source, RemoteTensor):
        if source._link is not target._link:
            source = transfer(source, worker)
    elif source.device.type == "cpu":
        same = source.shape == target.shape and source.dtype == target.dtype
        if same and worker.fresh is target._handle and is_contiguous(target._meta):
            adopt(target, upload(source, worker))
            return target
        source = upload(source, worker)
    else:
        source = upload(source.cpu(), worker)
    run(func, (target, source, *args[2:]), kwargs)
    return target


def to_copy(func, args, kwargs):
    """`_to_copy`: another dtype, layout of memory, or device."""
    source = args[0]
    device = kwargs.get("device")
    if device is None or (device.type == "remote" and device.index in (None, source._handle.worker.index)):
        return run(func, args, {name: value for name, value in kwargs.items() if name != "device"})
    rest = {name: value for name, value in kwargs.items() if name not in ("device", "non_blocking")}
    if device.type != "remote":
        local = fetch(source)
        same = rest.get("dtype") in (None, source.dtype) and rest.get("memory_format") in (None, torch.preserve_format)
        # A second copy would take longer than the first: its memory is new too.
        is_done = device.type == "cpu" and same and not rest.get("pin_memory")
        return local if is_done else aten._to_copy.default(local, device=device, **rest)
    moved = transfer(source, _workers.find(device))
    if rest.get("dtype") not in (None, source.dtype) or rest.get("memory_format") not in (None, torch.preserve_format):
        return run(func, (moved,), rest)
    return moved
