"""The call of the host API that launches a kernel of symm's own: errors and timelines name it, and not the kernel."""

import contextlib
import threading
from pathlib import Path

FILE = str(Path(__file__).with_name("_host_kernels.py"))
# What launches a compiled one, of a World or a Team.
CALLS = {
    "team_barrier": "barrier", "stream_signal": "signal", "stream_wait": "wait", "far_copy": "put or get",
    "far_words": "check",
}  # fmt: skip


class Calls(threading.local):
    """The call that this thread is in; "" for none."""

    name = ""


calls = Calls()


@contextlib.contextmanager
def made(name):
    """While the call of this name launches kernels, unless another one has made it."""
    before, calls.name = calls.name, calls.name or name
    try:
        yield
    finally:
        calls.name = before


def name_of(kernel, file, owner="World"):
    """The call that has launched a compiled kernel, whose op is in a file; the kernel's name where that is the user's.
    """
    if file != FILE:
        return kernel
    return "Iris.device_barrier" if kernel == "group_barrier" else f"{owner}.{CALLS.get(kernel, kernel)}"


def is_call(name):
    """Whether a name is of a call, and not of a kernel."""
    return "." in name


def said(name):
    """A kernel or a call, in a text."""
    return name if is_call(name) else f"kernel {name}"
