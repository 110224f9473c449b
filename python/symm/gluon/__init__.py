"""Ops for Gluon kernels: `symm.gluon.load(ctx, ptr + offs, peer)`.

`ctx` is a `DeviceCtx`, made in the kernel from the pointer to the context table, or that pointer itself.
"""

# First what says that Triton is missing.
from .. import _need_triton, _seam  # noqa: F401
from .._context import device_context
from .._ops import (
    as_remote,
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_sub,
    atomic_xchg,
    atomic_xor,
    barrier,
    copy,
    fence,
    get,
    load,
    num_ranks,
    put,
    put_signal,
    rank,
    signal,
    store,
    wait,
)

DeviceCtx = device_context("DeviceCtx", __name__)

__all__ = [
    "DeviceCtx",
    "as_remote",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xchg",
    "atomic_xor",
    "barrier",
    "copy",
    "fence",
    "get",
    "load",
    "num_ranks",
    "put",
    "put_signal",
    "rank",
    "signal",
    "store",
    "wait",
]

_seam.install()
