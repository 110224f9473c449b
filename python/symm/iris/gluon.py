"""Iris' interface for Gluon kernels: `from symm.iris.gluon import IrisDeviceCtx`."""

from ._context import IrisDeviceCtx
from ._host import Iris as IrisGluon
from ._host import iris

__all__ = ["IrisDeviceCtx", "IrisGluon", "iris"]
