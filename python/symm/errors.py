"""Every exception and warning of this package."""

from __future__ import annotations


class SymmError(Exception):
    """What this package raises: catch it to catch all of them."""


class ArgumentError(SymmError, ValueError):
    """A function of the host API was given what it does not take."""


class DtypeError(ArgumentError, TypeError):
    """A collective was given tensors of a type that it does not take: ArgumentError."""


class StagingError(ArgumentError):
    """What a communicator may use of the heap is too small: an ArgumentError."""


class ClosedError(SymmError):
    """A communicator was used after it was closed."""


class MissingDependencyError(SymmError, ImportError):
    """A package that this part of symm needs is not installed."""


class LocatedError(SymmError):
    """CompileError, NotSymmetricError or RankRangeError.

    `message` says what; `file` and `line` (from 1) are the Python line of the op in a kernel, or None where it is not
    known or the host API has raised it.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None):
        super().__init__(message, file, line)
        self.message = message
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return self.message if self.file is None else f"{self.file}:{self.line}: {self.message}"


class CompileError(LocatedError):
    """A symm op in a kernel is wrong, or cannot be compiled for the target: a LocatedError."""


class SymmWarning(UserWarning):
    """What the compiler repaired in a kernel, such as a scope too narrow for another GPU."""


class UntestedVersionWarning(SymmWarning):
    """This version of Triton is outside the tested range."""


class HeapExhaustedError(SymmError, MemoryError):
    """The symmetric heap has no room: free tensors, or give symm.init a larger heap_size."""


class NotSymmetricError(LocatedError, ValueError):
    """Memory that is not on this rank's symmetric heap."""


class RankRangeError(LocatedError, ValueError):
    """A rank that does not exist."""


class MismatchError(SymmError):
    """Ranks called different things, or made tensors of different shapes or dtypes: the message has each rank's line.

    The ranks are out of step then, so the run is over: what they call next raises RankFailedError.
    """


class CallMismatchError(MismatchError):
    """Ranks of a communicator called different collectives, or with other sizes, dtypes or roots: each rank's line.

    It is raised in its debug mode only. Nothing was communicated, and the communicator can be used again.
    """


class UnsupportedError(SymmError, RuntimeError):
    """Something that Iris does and `symm.iris` does not, or an argument that Iris would refuse too."""


class BootstrapError(SymmError):
    """A rank could not join: others are missing, were started differently, or it has no GPU."""


class DeviceError(SymmError):
    """A GPU's driver has failed, or cannot do what was asked."""


class RankFailedError(SymmError):
    """Another rank has failed or did not come; its own output says why."""


class ForkedError(SymmError, RuntimeError):
    """This process was forked from a rank's, and is no rank itself."""
