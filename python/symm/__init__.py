"""Symmetric heaps for Triton and Gluon kernels: load, store, signal and wait across GPUs.

`symm.init` joins the ranks and gives torch tensors on the heap; `symm.triton` and `symm.gluon` hold the ops for
kernels. Importing `symm` itself imports neither Triton nor torch.
"""

from typing import TYPE_CHECKING

from ._symm import __version__
from ._team import Team
from ._trace import trace
from ._world import World, init
from .errors import (
    ArgumentError,
    BootstrapError,
    BoundsError,
    CallMismatchError,
    CheckError,
    ClosedError,
    CompileError,
    EngineError,
    FarRankError,
    DeadlockError,
    DeviceError,
    DtypeError,
    ForkedError,
    HeapExhaustedError,
    LocatedError,
    MismatchError,
    MissingDependencyError,
    NotSymmetricError,
    RankFailedError,
    RankRangeError,
    StagingError,
    SymmError,
    SymmWarning,
    UnsupportedError,
    UntestedVersionWarning,
    WaitTimeoutError,
)

if TYPE_CHECKING:
    # A module that can be called, which type checkers have no word for.
    from .check._api import checker as check
else:
    from . import check

__all__ = [
    "ArgumentError",
    "BootstrapError",
    "BoundsError",
    "CallMismatchError",
    "CheckError",
    "ClosedError",
    "CompileError",
    "EngineError",
    "FarRankError",
    "DeadlockError",
    "DeviceError",
    "DtypeError",
    "ForkedError",
    "HeapExhaustedError",
    "LocatedError",
    "MismatchError",
    "MissingDependencyError",
    "NotSymmetricError",
    "RankFailedError",
    "RankRangeError",
    "StagingError",
    "SymmError",
    "SymmWarning",
    "Team",
    "UnsupportedError",
    "UntestedVersionWarning",
    "WaitTimeoutError",
    "World",
    "__version__",
    "check",
    "init",
    "trace",
]
