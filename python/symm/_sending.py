"""Tensors of the heap that torch.multiprocessing sends to another process.

It would move their memory into shared memory of its own: the tensor in this process would lose its place on the heap,
without a word. What is sent is a copy instead.
"""

from multiprocessing.reduction import ForkingPickler

from ._memory import torch


def install(is_ours):
    """Sends copies of the tensors of which `is_ours` says that they are on a heap; once."""
    if getattr(install, "done", False) or not hasattr(torch(), "multiprocessing"):
        return
    install.done = True
    for kind in (torch().Tensor, torch().nn.Parameter):
        # As registered by torch, or by another package after it.
        before = ForkingPickler._extra_reducers.get(kind)
        if before is not None:
            ForkingPickler.register(kind, _copying(before, is_ours))


def _copying(reduce, is_ours):
    def reduce_copy(tensor):
        # Torch refuses what has a history, with its own words.
        if not is_ours(tensor) or (tensor.requires_grad and not tensor.is_leaf):
            return reduce(tensor)
        copy = tensor.detach().clone()
        if isinstance(tensor, torch().nn.Parameter):
            return reduce(type(tensor)(copy, tensor.requires_grad))
        return reduce(copy.requires_grad_(tensor.requires_grad))

    return reduce_copy
