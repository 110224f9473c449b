"""What calls check: ranks, and, in the debug mode, that all ranks are about to call the same."""

import operator

from .._memory import torch
from ..errors import ArgumentError, CallMismatchError, RankRangeError

# Bytes of what a rank calls.
LONGEST = 128


def rank_in(call, what, rank, size):
    """One of `size` ranks; raises ArgumentError and RankRangeError for what is none."""
    try:
        rank = operator.index(rank)
    except TypeError:
        raise ArgumentError(f"{call}: {what} must be an integer, not {rank!r}") from None
    if not 0 <= rank < size:
        raise RankRangeError(f"{call}: rank {rank} out of range [0, {size})")
    return rank


def compare(comm, calls, number, call, op, count, dtype, root):
    """Raises a CallMismatchError on all ranks if their calls differ; waits for them on the host."""
    device = comm.world.device
    if comm.get_num_ranks() == 1 or (device.type != "cpu" and torch().cuda.is_current_stream_capturing()):
        return
    what = [call if op is None else f"{call} ({op})"]
    if dtype is not None:
        what.append(f"{count} elements of {dtype}")
    if root is not None:
        what.append(f"root {root}")
    line = f"call {number}: {', '.join(what)}".encode()[:LONGEST].ljust(LONGEST, b"\0")
    mine = torch().tensor(list(line), dtype=torch().uint8).to(device)
    everybody = torch().empty(comm.get_num_ranks() * LONGEST, dtype=torch().uint8, device=device)
    calls.run("all_gather", None, mine, everybody, LONGEST)
    lines = everybody.cpu()
    comm._deadline.check()
    told = [bytes(each).rstrip(b"\0").decode() for each in lines.view(-1, LONGEST).tolist()]
    if len(set(told)) > 1:
        shown = "".join(f"\n  rank {rank}: {each}" for rank, each in enumerate(told))
        raise CallMismatchError(f"ranks call different things:{shown}")
