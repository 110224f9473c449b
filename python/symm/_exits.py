"""The status that a program leaves with by `sys.exit`: Python does not tell it to those whom it calls at its end."""

import functools
import sys
import threading


class Given:
    """What `sys.exit` was given in the main thread; None if nothing, or if the program went on."""

    status = None


def watch():
    """Has `sys.exit` note what it is given."""
    if hasattr(sys.exit, "notes_status"):
        return
    leave = sys.exit

    @functools.wraps(leave)
    def noting(status=None, /):
        # In another thread it ends that thread.
        if threading.current_thread() is threading.main_thread():
            Given.status = status
        leave(status)

    noting.notes_status = True
    sys.exit = noting


def forget():
    """The program has caught it, and goes on."""
    Given.status = None


def failure():
    """What `sys.exit` was given, as text, if that is a failure."""
    return None if Given.status in (None, 0) else f"sys.exit({Given.status!r})"
