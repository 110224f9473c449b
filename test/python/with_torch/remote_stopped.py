"""A worker that hangs, for tests."""

import os
import signal
import time
from pathlib import Path


def stop(pid):
    """Stops a process, and waits until each of its threads has stopped:
    the signal alone lets them go on for a while.
    """
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + 30
    while not all(state(task) in "Tt" for task in Path(f"/proc/{pid}/task").iterdir()):
        assert time.monotonic() < end, f"process {pid} does not stop"
        time.sleep(0.001)


def state(task):
    """The letter that /proc has for what a thread does."""
    return (task / "stat").read_text().rpartition(") ")[2][0]
