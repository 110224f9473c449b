"""What a program asks of a GPU under the checker, where there is none."""

from __future__ import annotations

import os
import sys
import traceback

from ..errors import UnsupportedError

# Torch's classes of streams and graphs.
ORDERS = ("Stream", "ExternalStream", "CUDAGraph")
ORDERED = (
    "CUDA streams and graphs are not checked, because a rank's launches run in order here: check the program without "
    "them, with the same launches one after the other"
)
NONE = "there is no GPU under the checker: make tensors on World.device, which is the CPU here, and call no torch.cuda"
# What torch's own code raises of a GPU is of these files, or has this in it.
FILES, TEXTS = f"{os.sep}torch{os.sep}cuda{os.sep}", ("CUDA error", "CUDA driver", "NVIDIA driver", "NVIDIA GPU")


def refusing(is_task):
    """Each class of torch's with a `__new__` that refuses in tasks."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    found = (getattr(cuda, name, None) for name in ORDERS)
    return [(each, _refusing(each.__new__, is_task)) for each in found if isinstance(each, type)]


def _refusing(theirs, is_task):
    def new(cls, *args, **kwargs):
        if is_task():
            raise UnsupportedError(ORDERED)
        return theirs(cls, *args, **kwargs)

    return new


def said_of(errors):
    """What to say of an exception that a program gets because there is no GPU, from it and its causes; None of others.
    """
    for error in errors:
        if isinstance(error, UnsupportedError) and str(error) == ORDERED:
            return ORDERED
        frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
        if isinstance(error, RuntimeError) and (
            any(FILES in file for file in frames[-1:]) or any(text in str(error) for text in TEXTS)
        ):
            return ORDERED if any(file.endswith(("graphs.py", "streams.py")) for file in frames) else NONE
    return None
