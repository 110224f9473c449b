"""Ops for Gluon kernels: `symm.gluon.load(ctx, ptr + offs, peer)`.

`ctx` is a `DeviceCtx`, made in the kernel from the pointer to the context table, or that pointer itself.
"""

# First what says that Triton is missing.
from .. import _flags, _need_triton, _ops, _packets, _seam  # noqa: F401
from .._context import Ops, device_context
from .._flags import *
from .._ops import *
from .._packets import *


@device_context
class DeviceCtx(Ops):
    """The context of Gluon kernels."""


__all__ = ["DeviceCtx"]
__all__ += _ops.__all__ + _flags.__all__ + _packets.__all__

_seam.install()
