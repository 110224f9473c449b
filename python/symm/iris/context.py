"""Iris' device contexts by the names of its module `iris.context`."""

from ._context import Context as TritonContext
from ._context import IrisDeviceCtx as GluonContext

__all__ = ["GluonContext", "TritonContext"]
