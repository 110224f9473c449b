"""Ops for Gluon kernels: `symm.gluon.load(ctx, ptr + offs, peer)`.

`ctx` is the World that the kernel was given, or the context table; or a `DeviceContext` made of it in the kernel.
"""

# First what says that Triton is missing.
from .. import _need_triton  # noqa: F401
from .. import _flags, _floats, _ops, _packets, _seam, _signals
from .._context import Ops, device_context
from .._flags import *
from .._floats import *
from .._ops import *
from .._packets import *
from .._signals import *
from .._switches import options


@device_context
class DeviceContext(Ops):
    """The context of Gluon kernels."""


__all__ = ["DeviceContext", "options"]
__all__ += _ops.__all__ + _signals.__all__ + _flags.__all__ + _packets.__all__ + _floats.__all__

_seam.install()
