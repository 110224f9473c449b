"""The interface of Iris (github.com/ROCm/iris) on symm: `import symm.iris as iris`.

`iris(heap_size)` joins the ranks; kernels call the functions of this module with the heap bases, or make a
`DeviceContext`. Gluon kernels take `IrisDeviceCtx` from `symm.iris.gluon` or `symm.iris.experimental.iris_gluon`.
"""

# First what says that Triton is missing.
from .. import _need_triton, _seam  # noqa: F401
from ._bench import do_bench
from ._context import Context, DeviceContext
from ._host import Iris, iris
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

__all__ = [
    "DEBUG",
    "ERROR",
    "INFO",
    "WARNING",
    "Context",
    "DeviceContext",
    "Iris",
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
    "iris",
    "load",
    "logger",
    "put",
    "set_logger_level",
    "store",
]

_seam.install()
