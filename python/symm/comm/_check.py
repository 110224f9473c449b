"""What the debug mode checks: that all ranks are about to call the same."""

from .._memory import torch
from ..errors import CallMismatchError

# Bytes of what a rank calls.
LONGEST = 128


def capturing(device):
    """Whether the host may not wait for the device: the current stream is captured in a graph."""
    return device.type != "cpu" and torch().cuda.is_current_stream_capturing()


def wrong_counts(counts, rows):
    """What is wrong with the numbers of rows for each rank, of `rows` in all; waits for the device."""
    told = counts.tolist()
    below = next((rank for rank, count in enumerate(told) if count < 0), None)
    if below is not None:
        return f"counts[{below}] is {told[below]}"
    return f"counts add up to {sum(told)}, but the tensor has {rows} rows" if sum(told) > rows else None


def counted(counts, rows):
    """How many rows are sent to each rank, int64, where `counts` may be wrong, as the kernel makes it."""
    ends = counts.clamp(0, rows).cumsum(0).clamp(max=rows)
    return ends.diff(prepend=ends.new_zeros(1))


def compare(comm, calls, number, call, op, count, dtype, root, wrong=None):
    """Raises a CallMismatchError on all ranks if their calls differ, or another rank's is `wrong`; waits for them on
    the host.
    """
    device = comm.world.device
    if comm.get_num_ranks() == 1 or capturing(device):
        return
    what = [call if op is None else f"{call} ({op})"]
    if dtype is not None:
        what.append(f"{count} elements of {dtype}")
    if root is not None:
        what.append(f"root {root}")
    if wrong is not None:
        what.append(wrong)
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
