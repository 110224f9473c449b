"""Finds races, missing order and deadlocks of programs with Triton kernels, without a GPU.

All ranks, and all programs of their kernels, run in this process under the scheduler of symm's checker, which checks
each access by the rules of the memory model: `symm.check(main, ranks=2)`, and `python -m symm.check script.py`. Kernels
run in Triton's interpreter: set `TRITON_INTERPRET=1` before Triton is imported.
"""

from __future__ import annotations

import sys
import types

from ..errors import CheckError
from ._api import check, raises, run
from ._report import Allowed, Finding, Place, Report

__all__ = ["Allowed", "CheckError", "Finding", "Place", "Report", "raises", "run"]


class _Callable(types.ModuleType):
    """The module is the function too: `symm.check(main)`."""

    __call__ = staticmethod(check)


sys.modules[__name__].__class__ = _Callable
