"""Every exception and warning of this package."""

from __future__ import annotations

import builtins
import sys
from typing import Any


class SymmError(Exception):
    """The base class of this package's exceptions."""


class ArgumentError(SymmError, ValueError):
    """A function of the host API was given an invalid argument."""


class DtypeError(ArgumentError, TypeError):
    """A collective was given tensors of a dtype that it does not take: an ArgumentError."""


class StagingError(ArgumentError):
    """A communicator's part of the heap is too small: an ArgumentError."""


class ClosedError(SymmError):
    """A World, one of its teams, or a communicator was used after it was closed."""


class MissingDependencyError(SymmError, ImportError):
    """A package that this part of symm needs is not installed."""


class LocatedError(SymmError):
    """BoundsError, CompileError, DeadlockError, FarRankError, NotSymmetricError, RankRangeError or WaitTimeoutError.

    `message` says what went wrong; `file` and `line` (from 1) are the Python line of the op in a kernel, or None if it
    is not known or the host API raised the error.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None):
        super().__init__(message, file, line)
        self.message = message
        self.file = file
        self.line = line

    def __str__(self) -> str:
        return self.message if self.file is None else f"{self.file}:{self.line}: {self.message}"

    def __repr__(self) -> str:
        # Triton's interpreter shows an exception of a kernel in this form.
        return f"{type(self).__name__}: {self}"


class BoundsError(LocatedError, IndexError):
    """With `SYMM_BOUNDS_CHECKS=1`: a kernel accesses memory outside of the tensor that its pointers come from.

    `kernel` is its name, `rank` and `program` say which program it was, `tensor` is the call that made the tensor, and
    `offset` the first byte outside, relative to the tensor. Of an interpreted kernel `tensor` is None if it is not on a
    heap, and `rank` if that is not known either.
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        kernel: str | None = None,
        rank: int | None = None,
        program: tuple[int, ...] | None = None,
        tensor: str | None = None,
        offset: int | None = None,
    ):
        super().__init__(message, file, line)
        self.args = (message, file, line, kernel, rank, program, tensor, offset)
        self.kernel, self.rank, self.program, self.tensor, self.offset = kernel, rank, program, tensor, offset


class DeadlockError(LocatedError):
    """Ranks on the CPU wait for each other forever, in interpreted kernels or host calls, in any of their Worlds.

    The message has each rank's wait. All ranks get it, and the run is over.
    """


class CompileError(LocatedError):
    """A symm op in a kernel is wrong, or cannot be compiled for the target: a LocatedError."""


class SymmWarning(UserWarning):
    """The compiler repaired a kernel, such as a scope too narrow for another GPU."""


class UntestedVersionWarning(SymmWarning):
    """This version of Triton is outside the tested range."""


class EngineError(SymmError):
    """The engine that reaches ranks of other nodes is missing, is of the wrong version, or has failed."""


class FarRankError(LocatedError, ValueError):
    """The heap of a rank is not mapped here: an engine reaches it, in kernels and by `put`, `get` and `signal`."""


class HeapExhaustedError(SymmError, MemoryError):
    """The symmetric heap is full: free tensors, or give symm.init a larger heap_size."""


class NotSymmetricError(LocatedError, ValueError):
    """Memory that is not on this rank's symmetric heap."""


class RankRangeError(LocatedError, ValueError):
    """A rank that does not exist."""


class MismatchError(SymmError):
    """Ranks made different calls, or tensors of different shapes or dtypes: the message has each rank's line.

    The ranks are then out of step, so the run is over: their next calls raise RankFailedError. If they made the same
    calls, and only disagree on the ranks of a team, the run goes on.
    """


class CallMismatchError(MismatchError):
    """Ranks of a communicator called different collectives, or with other sizes, dtypes or roots: each rank's line.

    It is raised only in a communicator's debug mode. Nothing was communicated, and the communicator stays usable.
    """


class CollectiveTimeoutError(SymmError, TimeoutError):
    """A rank of a communicator has waited for another one for longer than the communicator's `timeout`.

    `op` is the call that waited; `rank` is the number of the rank that waited and `peer` that of the rank that it
    waited for, in the communicator; `slot` is what it waited for: a flag or a line of packets of a block. `expected` is
    the number that it waited for, and `seen` the one that was there. Each is None where it is not known.

    The communicator is then broken: the outputs of its calls since are not valid, and each call raises this error
    again, on all ranks, until all of them call `Communicator.recover`.
    """

    def __init__(
        self,
        message: str,
        op: str | None = None,
        rank: int | None = None,
        peer: int | None = None,
        slot: str | None = None,
        expected: int | None = None,
        seen: int | None = None,
    ):
        super().__init__(message, op, rank, peer, slot, expected, seen)
        self.message = message
        self.op, self.rank, self.peer, self.slot = op, rank, peer, slot
        self.expected, self.seen = expected, seen

    def __str__(self) -> str:
        return self.message


class WaitTimeoutError(LocatedError, TimeoutError):
    """A wait in a kernel has taken longer than its time-out: `World.timeout`, `symm.init` or the wait's own.

    `kernel` is the kernel's name, and `file` and `line` are the wait's; `rank` and `program`, its numbers along the
    axes of the grid, say who waited. `flag` is the element and the tensor that it waited for. `expected` is the value
    that it was compared with, and `seen` the one that was there. `others` has a text for each other program and rank:
    what it waits for, or does. Each is None where it is not known.
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        kernel: str | None = None,
        rank: int | None = None,
        program: tuple[int, ...] | None = None,
        flag: str | None = None,
        expected: int | None = None,
        seen: int | None = None,
        others: tuple[str, ...] = (),
    ):
        super().__init__(message, file, line)
        self.args = (message, file, line, kernel, rank, program, flag, expected, seen, others)
        self.kernel, self.rank, self.program, self.flag = kernel, rank, program, flag
        self.expected, self.seen, self.others = expected, seen, others


class CheckError(SymmError):
    """`symm.check` has findings: `report` is its Report, or None if the program could not be checked."""

    def __init__(self, message: str, report: Any = None):
        super().__init__(message, report)
        self.message, self.report = message, report

    def __str__(self) -> str:
        return self.message


class UnsupportedError(SymmError, RuntimeError):
    """symm does not support something that Iris or torch does, or they would reject the argument too."""


class BootstrapError(SymmError):
    """A rank could not join: others are missing, were started differently, or it has no GPU."""


class DeviceError(SymmError):
    """A GPU's driver has failed, or cannot do what was asked."""


class RankFailedError(SymmError):
    """Another rank has failed or did not come; its own output says why."""


class ForkedError(SymmError, RuntimeError):
    """This process was forked from a rank, and is not a rank itself."""


class RemoteError(SymmError, RuntimeError):
    """Something went wrong between this process and a worker.

    `worker` is its address. `op` is the operation and `place` where the program asked for it; each is None where no
    operation is known.
    """

    def __init__(self, text: str, worker: str, op: str | None = None, place: object = None):
        super().__init__(text, worker, op, place)
        self.text = text
        self.worker = worker
        self.op = op
        self.place = place

    def __str__(self) -> str:
        issued = "" if self.place is None else f", issued at {self.place}"
        return f"{self.text}\n  [{self.op or 'link'} on {self.worker}{issued}]"


class WorkerError(RemoteError):
    """An operation failed on a worker. It is also an exception of the type that torch raised there.

    `kind` is that type's name, `text` torch's own text.
    """

    def __init__(
        self, text: str, worker: str, op: str | None = None, place: object = None, kind: str = "RuntimeError"
    ):
        super().__init__(text, worker, op, place)
        self.kind = kind

    @staticmethod
    def of(kind: str) -> type[WorkerError]:
        """The subclass that is also the exception of this name."""
        if kind not in _KINDS:
            base = _exception(kind)
            if base is None or issubclass(WorkerError, base):
                _KINDS[kind] = WorkerError
            else:
                _KINDS[kind] = type(f"Worker{kind}", (WorkerError, base), {})
        return _KINDS[kind]


class WorkerLostError(RemoteError, ConnectionError):
    """A worker has died, or cannot be reached: its tensors are gone. Its own output says why."""


class DeadlineError(RemoteError, TimeoutError):
    """A worker has not answered in time. The link is still usable, and the late answer is ignored."""


class RefusedError(RemoteError, PermissionError):
    """A worker rejects this client or its request."""


_KINDS: dict[str, type[WorkerError]] = {}


def _exception(kind: str) -> type[Exception] | None:
    torch: Any = sys.modules.get("torch")
    if torch is not None and kind == "OutOfMemoryError":
        return torch.OutOfMemoryError
    if torch is not None and kind == "LinAlgError":
        return torch.linalg.LinAlgError
    found = globals().get(kind) or getattr(builtins, kind, None)
    plain = isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, RemoteError)
    return found if plain else None
