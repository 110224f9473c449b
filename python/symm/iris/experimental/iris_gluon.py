"""Iris' interface for Gluon kernels, under the name that it has there."""

from ..gluon import IrisDeviceCtx, IrisGluon, iris

__all__ = ["IrisDeviceCtx", "IrisGluon", "iris"]
