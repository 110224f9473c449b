"""How a program ends: Python does not tell it to those whom it calls at its end."""

import functools
import sys
import threading
from opcode import opname

# What `sys.exit` was given, if it was not called.
NOTHING = object()
# Characters of an exception's text, for other ranks.
LONGEST = 600


class Ending:
    """What `sys.exit` was given in the main thread, unless the program went on; the main thread's first frame."""

    status = NOTHING
    main = None


def watch():
    """Has `sys.exit` note what it is given, and remembers where the program ends."""
    frame = sys._current_frames().get(threading.main_thread().ident)
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    Ending.main = frame
    if hasattr(sys.exit, "notes_status"):
        return
    leave = sys.exit

    @functools.wraps(leave)
    def noting(status=None, /):
        # In another thread it ends that thread.
        if threading.current_thread() is threading.main_thread():
            Ending.status = status
        leave(status)

    noting.notes_status = True
    sys.exit = noting


def forget():
    """The program has caught it, and goes on."""
    Ending.status = NOTHING


def failure():
    """Why the program ends, as text, if that is a failure: an exception, or what `sys.exit` was given."""
    if hasattr(sys, "last_value"):
        return said(sys.last_value)
    if Ending.status in (NOTHING, None, 0) or _has_returned():
        return None
    return f"sys.exit({Ending.status!r})"


def is_open():
    """Whether the program ends by an exception that Python does not print, with a status that is not known: those of
    `exit`, `quit` and `raise SystemExit`.
    """
    return Ending.status is NOTHING and Ending.main is not None and not _has_returned()


def _has_returned():
    """Whether the main program has come to its last line: its frame stays at the instruction that ended it."""
    at = -1 if Ending.main is None else Ending.main.f_lasti
    return at >= 0 and opname[Ending.main.f_code.co_code[at]].startswith("RETURN")


def said(error):
    """An exception in one line; of what Triton's interpreter wraps, what it has wrapped."""
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        error = error.__cause__
    try:
        first = str(error).strip().partition("\n")[0].rstrip(".")
    except Exception:
        first = ""
    return f"{type(error).__name__}{': ' if first else ''}{first[:LONGEST]}"
