"""Attention on a worker with a CPU: its fused kernel, where torch takes it for tensors on this process's CPU.

Torch itself asks only its own devices which kernel they have, and takes a product, a softmax and a product on all
others.
"""

import torch
from torch.nn.attention import SDPBackend

from ._metadata import empty
from ._tensor import RemoteTensor

aten = torch.ops.aten
_cuda = torch.backends.cuda
_LIMIT = 10_000
_fused = {}


def attention(query, key, value, mask=None, dropout=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """`scaled_dot_product_attention`."""
    arguments = query, key, value, mask, dropout, is_causal
    named = {"scale": scale, "enable_gqa": enable_gqa}
    if not _is_fused(arguments, named):
        return aten.scaled_dot_product_attention.default.decompose(*arguments, **named)
    if mask is not None and mask.dtype is torch.bool:
        mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(mask.logical_not(), float("-inf"))
    fused = aten._scaled_dot_product_flash_attention_for_cpu.default
    return fused(query, key, value, dropout, is_causal, attn_mask=mask, scale=scale)[0]


def _is_fused(arguments, named):
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    if not all(isinstance(tensor, RemoteTensor) and tensor._handle.worker.kind == "cpu" for tensor in tensors):
        return False
    allowed = _cuda.flash_sdp_enabled(), _cuda.math_sdp_enabled(), torch.is_grad_enabled()
    key = (*allowed, *map(_described, arguments), *named.values())
    found = _fused.get(key)
    if found is None:
        if len(_fused) > _LIMIT:
            _fused.clear()
        here = (_without_values(value) if isinstance(value, RemoteTensor) else value for value in arguments)
        choice = torch._fused_sdp_choice(*here, **named)
        found = _fused[key] = choice == int(SDPBackend.FLASH_ATTENTION)
    return found


def _described(value):
    return (value._meta, value.requires_grad) if isinstance(value, RemoteTensor) else value


def _without_values(tensor):
    return empty(tensor._meta, "cpu").requires_grad_(tensor.requires_grad)
