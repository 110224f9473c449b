"""Collectives on torch tensors, and messages with hooks, written on the ops of `symm.triton`.

`comm = symm.comm.Communicator(world)`, then `comm.all_reduce(tensor)` and so on.
`link = symm.comm.NodeTransport(world)`, then `send(link, tensor, peer)` and `recv(link, tensor, peer)`.
"""

# First what says that Triton is missing.
from .. import _need_triton  # noqa: F401
from .communicator import Communicator

from .sendrecv import all_to_all, recv, send, sendrecv
from .transport import (
    LinkKind,
    MeshTransport,
    NetworkTransport,
    NodeTransport,
    P2pTransport,
    PeerEndpoint,
    check_transfer,
)

__all__ = [
    "Communicator",
    "LinkKind",
    "MeshTransport",
    "NetworkTransport",
    "NodeTransport",
    "P2pTransport",
    "PeerEndpoint",
    "all_to_all",
    "check_transfer",
    "recv",
    "send",
    "sendrecv",
]
