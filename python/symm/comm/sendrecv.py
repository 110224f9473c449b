"""Messages between two ranks and all-to-all, with hooks that are fused into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._memory import torch
from ..errors import ArgumentError, DtypeError
from ._messages import check_hooks, written_by
from ._transfers import Transfer
from .transport import P2pTransport

if TYPE_CHECKING:
    from torch import Tensor
    from torch import dtype as Dtype


def send(
    transport: P2pTransport, tensor: Tensor, peer: int, *, channel: int = 0, rows: int | None = None,
    produce: Any = None, extra: tuple = (), wire: Dtype | None = None, blocks: int | None = None,
) -> None:  # fmt: skip
    """Sends a tensor to a rank, which receives it with `recv` or `sendrecv`.

    `produce(c)` is called in the kernel for each tile, and returns its values, of the type `wire` (by default the
    tensor's); `extra` are tensors and numbers that it gets as `c.extra`. With `rows` the message is a matrix of that
    many rows, and is sent in tiles of rows and columns: the tensor may then have any strides. Both sides give the same
    number of bytes, `rows`, `blocks` and channel, and elements of the same size.

    It runs in the order of torch's current stream, and may be captured in a CUDA graph.
    """
    call = Transfer("send", transport, channel, rows, wire, blocks, extra)
    to = call.peer(peer)
    message = call.message(tensor, "tensor")
    check_hooks("send", produce)
    call.run(message, None, to, to, produce, None)


def recv(
    transport: P2pTransport, tensor: Tensor, peer: int, *, channel: int = 0, rows: int | None = None,
    consume: Any = None, extra: tuple = (), wire: Dtype | None = None, blocks: int | None = None,
) -> Tensor:  # fmt: skip
    """Receives from a rank into a tensor, and returns it.

    `consume(c, value)` is called in the kernel for each tile with its values. Everything else is as for `send`.
    """
    call = Transfer("recv", transport, channel, rows, wire, blocks, extra)
    source = call.peer(peer)
    check_hooks("recv", None, consume)
    message = call.message(tensor, "tensor", written_by(consume))
    call.run(None, message, source, source, None, consume)
    return message.written()


def sendrecv(
    transport: P2pTransport, tensor: Tensor, to: int, out: Tensor, source: int, *, channel: int = 0,
    rows: int | None = None, produce: Any = None, consume: Any = None, extra: tuple = (), wire: Dtype | None = None,
    blocks: int | None = None,
) -> Tensor:  # fmt: skip
    """Sends `tensor` to a rank while it receives `out` from the same or another rank, and returns `out`.

    The two may have different numbers of elements; each matches its other side. A rank may send to itself.
    """
    call = Transfer("sendrecv", transport, channel, rows, wire, blocks, extra)
    to, source = call.peer(to, itself=True), call.peer(source, itself=True)
    if (to == transport.me) != (source == transport.me):
        raise ArgumentError("sendrecv: a rank that sends to itself receives from itself")
    check_hooks("sendrecv", produce, consume)
    sent, received = call.message(tensor, "tensor"), call.message(out, "out", written_by(consume))
    sent.keep_apart(received.memory)
    call.run(sent, received, to, source, produce, consume)
    return received.written()


def all_to_all(
    transport: P2pTransport, tensor: Tensor, *, out: Tensor | None = None, rows: int | None = None, channel: int = 0,
    produce: Any = None, consume: Any = None, extra: tuple = (), wire: Dtype | None = None, blocks: int | None = None,
    zero_copy: bool = False,
) -> Tensor:  # fmt: skip
    """Part r of `tensor` goes to rank r; part r of the result comes from rank r.

    There are as many parts as ranks, along the first dimension; in a hook, `c.shard_idx` is the part. With `rows` a
    part is a matrix of that many rows, and `tensor` and `out`, of shape (ranks, rows, columns), may have any strides:
    an `out` that is a transposed view gets each part transposed.

    With `zero_copy` the parts are put directly into the result, in memory of the transport (`landing`), and `consume`
    has nothing to do. The result is valid until the next such call on any rank: copy what you want to keep, or send it.
    Every rank makes the same call.
    """
    call = Transfer("all_to_all", transport, channel, rows, wire, blocks, extra)
    check_hooks("all_to_all", produce, consume)
    source = call.parts(tensor, "tensor")
    if zero_copy:
        if out is not None or consume is not None:
            said = "with zero_copy the result is in the transport's memory: give no out or consume"
            raise ArgumentError(f"all_to_all: {said}")
        landed = call.land(source, produce)
        return landed.view(tensor.dtype) if wire is None else landed
    if out is None:
        out = torch().empty(tensor.shape, dtype=tensor.dtype, device=transport.device)
    target = call.parts(out, "out", written_by(consume))
    if (source.count, source.rows, source.cols) != (target.count, target.rows, target.cols):
        said = f"a part of the tensor has {source.count} elements, one of out {target.count}"
        raise ArgumentError(f"all_to_all: {said}")
    if source.dtype != target.dtype and (wire, produce, consume) == (None, None, None):
        raise DtypeError(f"all_to_all: the tensor is {source.dtype}, and out is {target.dtype}: give `wire`, or a hook")
    source.keep_apart(target.memory)
    call.swap(source, target, produce, consume)
    return target.written()
