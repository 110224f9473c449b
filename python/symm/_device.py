"""What a rank runs on, and where the user's code calls."""

import os
import sys
import warnings
from pathlib import Path

from ._memory import integer, text_of, torch
from .errors import ArgumentError, SymmWarning

DEVICES = "cuda", "hip", "cpu"


def usual_device():
    if os.environ.get("TRITON_INTERPRET", "0") == "1":
        return "cpu"
    if torch().cuda.is_available():
        return "hip" if torch().version.hip else "cuda"
    message = "torch finds no GPU, so the heap is on the CPU: kernels run there only with TRITON_INTERPRET=1"
    warnings.warn_explicit(message, SymmWarning, *caller())
    return "cpu"


def heap_bytes(given):
    """The size of a heap that symm.init is given; an error says what was meant where it is something else."""
    size = integer(given)
    if size is not None and 0 < size < 2**63:
        return size
    wanted = "symm.init: heap_size must be a number of bytes, such as 1 << 30"
    if isinstance(given, torch().device) or str(given).partition(":")[0] in DEVICES:
        raise ArgumentError(f"{wanted}, not {text_of(given)}: write symm.init(device={str(given)!r})")
    if hasattr(given, "mesh_dim_names") or type(given).__name__ == "ProcessGroup":
        mend = "symm.init() takes all ranks of torch.distributed by itself, and world.team makes a team of some"
        raise ArgumentError(f"{wanted}, not a {type(given).__name__}: {mend}")
    mend = ": that is more than any memory" if size is not None and size > 0 else ""
    raise ArgumentError(f"{wanted}, not {text_of(given)}{mend}")


def driver_of(device):
    """The driver for a device, and the number of the GPU, if it has one."""
    if not isinstance(device, (str, torch().device)):
        raise ArgumentError(f"symm.init: device must be 'cuda', 'hip', 'cpu' or a torch.device, not {text_of(device)}")
    name, _, number = str(device).partition(":")
    if isinstance(device, torch().device) and name == "cuda" and torch().version.hip:
        name = "hip"  # Torch's name for an AMD GPU is cuda as well.
    return (name, int(number)) if number.isdecimal() else (f"{name}:{number}" if number else name, None)


def gpu_of(rank, count, wanted):
    """The number of a rank's GPU among all GPUs; `wanted` is the number that the caller gave."""
    number = rank % count
    if wanted not in (None, number):
        raise ArgumentError(f"symm.init: rank {rank} uses GPU {number} of {count}, not {wanted}: leave out the number")
    return number


class ForBlocks:
    """What does nothing unless it is used, in a `with` block or otherwise: when it is gone unused, a SymmWarning says
    so, with the line that made it.
    """

    _is_used = True
    _place = "", 0
    # How the warning begins, and what to do.
    _unused = "", ""

    def _made(self):
        """The user has made it; called last, so that what was refused does not warn."""
        self._place, self._is_used = caller(), False

    def __del__(self):
        if not self._is_used and not sys.is_finalizing():
            what, mend = self._unused
            warnings.warn_explicit(f"{what} without `with` does nothing: {mend}", SymmWarning, *self._place)


def place():
    """Where the user's code calls into this package."""
    file, line = caller()
    return f"{file}:{line}"


def caller():
    """The file and line of it."""
    frame, here = sys._getframe(1), str(Path(__file__).parent)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
