"""Messages within kernels of your own: `send(Lane(…), Message(…), …)` in Triton and Gluon.

A kernel makes a `Lane` of each PeerEndpoint that it is given, and a `Message` of each pointer. `NODE` and `NETWORK` are
the ops of the links, to be given where `send`, `recv` and `sendrecv` are called; `produce` and `consume` are the hooks
that copy. `c` in hooks is a `Ctx`.
"""

from .hooks import Ctx, Message, consume, produce
from .kernels_ring import Lane, recv, send, sendrecv
from .seam import NETWORK, NODE, Seam

__all__ = ["NETWORK", "NODE", "Ctx", "Lane", "Message", "Seam", "consume", "produce", "recv", "send", "sendrecv"]
