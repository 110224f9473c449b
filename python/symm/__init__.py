"""Symmetric heaps for Triton and Gluon kernels: load, store, signal and wait across GPUs.

`symm.triton` and `symm.gluon` hold the ops for kernels. Importing `symm` itself imports neither Triton nor torch.
"""

from ._symm import __version__
from .errors import CompileError, MissingDependencyError, SymmError, SymmWarning, UntestedVersionWarning

__all__ = [
    "CompileError",
    "MissingDependencyError",
    "SymmError",
    "SymmWarning",
    "UntestedVersionWarning",
    "__version__",
]
