"""Host operations in the order of a stream: copies to and from other ranks, signals and waits."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal

from ._memory import integer, text_of, torch
from ._open import rank_text, shown
from .errors import ArgumentError, NotSymmetricError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.cuda import Stream

COMPARISONS, KINDS = ("eq", "ne", "lt", "le", "gt", "ge"), ("set", "add")


class Streams:
    """Operations of a World or a Team in the order of `stream`, by default torch's current one.

    All of them can be captured in a CUDA graph. Signals and waits are small kernels.
    """

    # A World's and a Team's.
    _place: Any

    if TYPE_CHECKING:

        def as_remote(self, tensor: Tensor, rank: int) -> Tensor: ...
        def is_near(self, rank: int) -> bool: ...
        def check(self) -> None: ...

    def put(self, src: Tensor, dst: Tensor, rank: int, stream: Stream | None = None) -> None:
        """Copies the local `src` to `dst` of `rank`: a tensor on the heap, of the same shape and dtype."""
        to = self._counterpart("put", "dst", dst, rank)
        self._copied("put", src, dst, (to, src), rank, stream)

    def get(self, src: Tensor, dst: Tensor, rank: int, stream: Stream | None = None) -> None:
        """Copies `src` of `rank`, a tensor on the heap, to the local `dst`, of the same shape and dtype."""
        source = self._counterpart("get", "src", src, rank)
        self._copied("get", src, dst, (dst, source), rank, stream)

    def signal(
        self, flag: Tensor, value: int, rank: int, op: Literal["set", "add"] = "set", stream: Stream | None = None
    ) -> None:
        """Sets the flag of `rank` to `value`, or adds `value` to it (`op="add"`), when all earlier work is done.

        `flag` is a tensor on the heap with one element, int32 or int64. Whoever waits for the signal, here or in a
        kernel, sees what this rank's stream did before.
        """
        from . import _host_kernels

        if op not in KINDS:
            raise ArgumentError(f"signal: op must be 'set' or 'add', not {text_of(op)}")
        self._counterpart("signal", "flag", flag, rank)
        call, kernel = f"{type(self).__name__}.signal", _host_kernels.stream_signal
        _host_kernels.launch(call, kernel, stream, *self._flag("signal", flag, value), int(rank), op)

    def wait(
        self,
        flag: Tensor,
        value: int,
        compare: Literal["eq", "ne", "lt", "le", "gt", "ge"] = "ge",
        stream: Stream | None = None,
    ) -> None:
        """Makes the stream, not the host, wait until the local flag satisfies a comparison with `value`.

        `flag` is as for `signal`. Time-outs are those of kernels.
        """
        from . import _host_kernels

        if compare not in COMPARISONS:
            raise ArgumentError(f"wait: compare must be one of {', '.join(COMPARISONS)}, not {text_of(compare)}")
        self._counterpart("wait", "flag", flag, 0)
        call, kernel = f"{type(self).__name__}.wait", _host_kernels.stream_wait
        _host_kernels.launch(call, kernel, stream, *self._flag("wait", flag, value), compare)

    def _flag(self, call, flag, value):
        """The common arguments of a signal and a wait."""
        self.check()
        bits = {torch().int32: 32, torch().int64: 64}.get(flag.dtype)
        if bits is None or flag.numel() != 1:
            raise ArgumentError(f"{call}: flag must be one int32 or int64, not {tuple(flag.shape)} of {flag.dtype}")
        number = integer(value)
        if number is None or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise ArgumentError(f"{call}: value must be an integer of {bits} bits, not {text_of(value)}")
        return self, flag, number

    def _counterpart(self, call, name, tensor, rank):
        """The counterpart of an argument of a call on a rank's heap; None for a far rank."""
        world, _ = self._place()
        if not isinstance(tensor, torch().Tensor) or not world.is_symmetric(tensor):
            wanted = "must be a tensor on this World's symmetric heap"
            raise NotSymmetricError(f"{call}: {name} {wanted}, not {shown(tensor, self)}")
        if not self.is_near(rank):
            return None
        return self.as_remote(tensor, rank)

    def _copied(self, call, src, dst, ends, rank, stream):
        self.check()
        for name, tensor in (("src", src), ("dst", dst)):
            if not isinstance(tensor, torch().Tensor):
                raise NotSymmetricError(f"{call}: {name} must be a tensor, not {shown(tensor, self._place()[0])}")
        if tuple(src.shape) != tuple(dst.shape) or src.dtype != dst.dtype:
            said = [
                f"{name} is {tuple(tensor.shape)} of {tensor.dtype}" for name, tensor in (("src", src), ("dst", dst))
            ]
            raise ArgumentError(f"{call}: {' and '.join(said)}: they must be the same")
        to, source = ends
        if to is None or source is None:
            return self._copied_far(call, src, dst, rank, stream)
        self._copy(to, source, stream)

    def _copy(self, to, source, stream):
        with on(stream):
            to.copy_(source)

    def _copied_far(self, call, src, dst, rank, stream):
        """Likewise to or from a far rank, by a kernel."""
        from . import _host_kernels

        if not src.is_contiguous() or not dst.is_contiguous():
            raise ArgumentError(f"{call}: {rank_text(self, int(rank))} is far, so both tensors must be contiguous")
        if src.numel():
            source, to = (tensor.view(-1).view(torch().uint8) for tensor in (src, dst))
            _host_kernels.copy_far(self, source, to, int(rank), call == "put", stream)


def checked(stream, has="cuda_stream"):
    """A stream that the caller has given, if any."""
    if stream is not None and not hasattr(stream, has):
        raise ArgumentError(f"stream must be a torch stream, not {text_of(stream)}")
    return stream


def on(stream):
    """In the order of a stream: torch's current one without it."""
    return contextlib.nullcontext() if checked(stream) is None else torch().cuda.stream(stream)
