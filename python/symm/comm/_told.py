"""The debug mode of messages: a sender says what it sends, and a receiver compares it with what it expects.

What a sender says is a small message on a transport of its own (`teller`), before each message. It waits for nobody, so
that ranks may send before they receive, as without the mode; only a receiver waits on the host, and raises.
"""

from .._memory import torch
from ._check import capturing

# Bytes of what a sender says.
LONGEST = 128


def described(transfer, message, kind):
    """What has to be the same on both sides of a message."""
    whole = "a part" if transfer.call == "all_to_all" else "a message"
    rows = "" if transfer.rows is None else f" in {transfer.rows} rows"
    size = message.count * kind.itemsize
    return f"{whole} of {size} bytes of {kind}{rows}, channel {transfer.channel}, blocks {transfer.blocks}"


def compare(transfer, sent, received, targets, sources):
    """Says what is sent to some ranks, then raises CallMismatchError if others send what is not expected of them.

    `sent` and `received` are messages; None is one that there is not.
    """
    transport = transfer.transport
    if not transport.checks() or capturing(transport.device):
        return
    for rank in targets if sent is not None else ():
        _tell(transfer, rank, described(transfer, sent, transfer.wire or sent.dtype))
    for rank in sources if received is not None else ():
        wanted = described(transfer, received, transfer.wire or received.dtype)
        told = _heard(transfer, rank)
        if told != wanted[:LONGEST]:
            raise transport.watch.mismatched(_difference(transfer, rank, told, wanted))


def _difference(transfer, rank, told, wanted):
    me = transfer.transport.me
    lines = f"\n  rank {rank} sends {told}\n  rank {me} receives {wanted}"
    return f"{transfer.call}: ranks call different things:{lines}\nThe transport is broken: call recover() on all ranks"


def _alike(transfer, peer):
    """A transfer of what is said to or by a peer."""
    return type(transfer)(transfer.call, transfer.transport.link(peer).teller, transfer.channel, None, None, None, ())


def _tell(transfer, rank, text):
    letters = list(text.encode()[:LONGEST].ljust(LONGEST, b"\0"))
    line = torch().tensor(letters, dtype=torch().uint8).to(transfer.transport.device)
    telling = _alike(transfer, rank)
    telling.launch_one(telling.message(line, "tensor"), None, rank)


def _heard(transfer, rank):
    line = torch().zeros(LONGEST, dtype=torch().uint8, device=transfer.transport.device)
    hearing = _alike(transfer, rank)
    hearing.launch_one(None, hearing.message(line, "tensor"), rank)
    transfer.transport.watch.deadline.synchronize()
    return bytes(line.tolist()).rstrip(b"\0").decode()
