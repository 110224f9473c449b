"""The interface of Iris (github.com/ROCm/iris) on symm: `import symm.iris as iris`.

`iris(heap_size)` joins the ranks; kernels call the functions of this module with the heap bases, or make a
`DeviceContext`. Gluon kernels take `IrisDeviceCtx` from `symm.iris.gluon` or `symm.iris.experimental.iris_gluon`.
"""

import dis
import importlib
import sys
from typing import TYPE_CHECKING

# First what says that Triton is missing.
from .. import _need_triton, _seam  # noqa: F401
from ._bench import do_bench
from ._context import Context, DeviceContext
from ._left_out import OF_THE_MODULE, missing
from ._logging import DEBUG, ERROR, INFO, WARNING, logger, set_logger_level
from ._ops import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_sub,
    atomic_xchg,
    atomic_xor,
    copy,
    get,
    load,
    put,
    store,
)
from ._platform import get_device_id_for_rank, is_simulation_env, tensor_from_ptr
from ._tiles import TensorView, Tile, TileView, make_tensor_view

# From the module of this name, so that the name is the function: a later `import symm.iris.iris` leaves it that.
from .iris import Iris, iris

if TYPE_CHECKING:
    from . import ccl as ccl
    from . import context as context
    from . import experimental as experimental
    from . import gluon as gluon

__all__ = [
    "DEBUG",
    "ERROR",
    "INFO",
    "WARNING",
    "Context",
    "DeviceContext",
    "Iris",
    "TensorView",
    "Tile",
    "TileView",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_sub",
    "atomic_xchg",
    "atomic_xor",
    "copy",
    "do_bench",
    "get",
    "get_device_id_for_rank",
    "iris",
    "is_simulation_env",
    "load",
    "logger",
    "make_tensor_view",
    "put",
    "set_logger_level",
    "store",
    "tensor_from_ptr",
]

_seam.install()

# Modules that come with the first use: not all of them are there with each version of Triton.
MODULES = ("ccl", "context", "experimental", "gluon")

if not TYPE_CHECKING:

    def __getattr__(name):
        if name in MODULES:
            return importlib.import_module(f"{__name__}.{name}")
        error, caller = missing(name, OF_THE_MODULE, "symm.iris"), sys._getframe(1)
        # `from symm.iris import …` would drop what an AttributeError says.
        if name in OF_THE_MODULE and caller.f_code.co_code[caller.f_lasti] == dis.opmap["IMPORT_FROM"]:
            raise ImportError(str(error), name=__name__)
        raise error
