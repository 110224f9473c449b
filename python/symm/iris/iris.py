"""What Iris has in its module `iris.iris`, too: `from symm.iris.iris import Iris`."""

from ._context import DeviceContext
from ._host import Iris, iris
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
    "get",
    "iris",
    "load",
    "put",
    "store",
]
