"""Lines of the user's code: where a task is, and whether it is there again as it was."""

from __future__ import annotations

import importlib.util
import linecache
import sys
import sysconfig
import traceback
from functools import cache
from pathlib import Path

from . import _loops
from ._heaps import TEAM_BARRIER

HERE = str(Path(__file__).parents[1]) + "/"
# Kernels of the package itself are lines too.
KERNELS = HERE + "comm/"
# Where Python's own modules are, and packages.
LIBRARIES = tuple(sysconfig.get_path(name) + "/" for name in ("stdlib", "purelib", "platlib"))


@cache
def _triton():
    found = importlib.util.find_spec("triton")
    return str(Path(found.origin).parent) + "/" if found and found.origin else "\0"


@cache
def _is_ours(file):
    """Whether a file is symm's or Triton's, which are not places to report."""
    return file.startswith((HERE, _triton())) and not file.startswith(KERNELS)


def _user_frame(end=None):
    """The innermost frame that is the user's, of those that the function with the code `end` has called."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not end and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None or frame.f_code is end else frame


def place_of(end=None, outside=False):
    """That frame's function, line and instruction; None where there is none. With `outside` it is not of the package,
    nor of a library.
    """
    frame = _user_frame(end)
    while outside and frame is not None and frame.f_code is not end and _is_of_others(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None or frame.f_code is end else (frame.f_code, frame.f_lineno, frame.f_lasti)


class Sites:
    """Places as the checker has them, FILE:LINE:COLUMN, and what is known of each."""

    def __init__(self):
        self.kernels: dict[str, list[str]] = {}
        self.ends: dict[str, int] = {}
        self.known: dict[tuple, str] = {}
        # Where a rank has called what launches a kernel of the package, by a place in it.
        self.callers: dict[tuple[str, int], dict[str, None]] = {}
        # Where symm.check was called, which is what hosts do that run no function of the user's.
        self.caller = place_of() or (Sites.here.__code__, 0, -1)

    def here(self, task, end):
        """Where the calling task is; the function with the code `end` has called it."""
        kernel = task.kernel
        if (place := place_of(end)) is not None:
            site = self._of(*place, kernel)
            if task.launched is not None and site.startswith(KERNELS):
                self.callers.setdefault((site, task.rank), {})["{0.co_filename}:{1}".format(*task.launched)] = None
            return site
        # In a kernel of the package itself: where the host has launched it.
        return self._of(*(task.launched or self.caller), kernel, is_in_kernel=False)

    def of(self, errors, kernel):
        """The innermost place that is the user's, of the tracebacks of an exception and its causes."""
        walked = [place for error in errors for place in traceback.walk_tb(error.__traceback__)]
        places = [(frame.f_code, line, -1) for frame, line in walked if not _is_ours(frame.f_code.co_filename)]
        own = [place for place in places if not _is_of_others(place[0].co_filename)]
        return self._of(*(own or places or [self.caller])[-1], kernel)

    def _of(self, code, line, at, kernel, is_in_kernel=True):
        key = code, line, at, kernel
        if key not in self.known:
            column, end = _columns(code, line, at, kernel if is_in_kernel else None)
            site = f"{code.co_filename}:{line}:{column}"
            self.known[key], self.ends[site] = site, end
            names = self.kernels.setdefault(site, [])
            if kernel is not None and kernel not in names:
                names.append(kernel)
        return self.known[key]


def _columns(code, line, at, kernel):
    """The first and the last column of an instruction, from 1; those of the whole line where Python does not say."""
    text = linecache.getline(code.co_filename, line).rstrip()
    first, last = len(text) - len(text.lstrip()) + 1, len(text)
    positions = list(code.co_positions())[at // 2] if at >= 0 and hasattr(code, "co_positions") else (None,) * 4
    start, end, column, end_column = positions
    if start != line or column is None:
        return first, last
    # The interpreter compiles a kernel again, from its text without indentation.
    head = linecache.getline(code.co_filename, code.co_firstlineno)
    moved = len(head) - len(head.lstrip()) if kernel is not None and head.lstrip().startswith("def ") else 0
    return column + moved + 1, (end_column + moved if end == line else last)


def causes(error):
    """An exception, and what it was raised from."""
    found = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__
    return found


def is_unable(error):
    """Whether Triton says that its interpreter has no such op; a program may raise such an exception, too."""
    if not isinstance(error, NotImplementedError):
        return False
    *_, (innermost, _) = traceback.walk_tb(error.__traceback__)
    return innermost.f_code.co_filename.startswith(_triton())


def is_importing(thread):
    """Whether a thread is in the middle of an import."""
    frame = sys._current_frames().get(thread.ident)
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def who(program, kernel):
    """What a task of a rank is called: its host, a program of a kernel, or a call that launches a kernel of ours."""
    if program is None:
        return "host"
    return kernel if is_call(kernel) else f"program {program} {kernel}"


def is_call(kernel):
    """Whether what a kernel is called is the name of a call of the package, such as World.signal."""
    return kernel is not None and (kernel == TEAM_BARRIER or "." in kernel)


def stuck(task, seconds):
    """What to say of a task that neither ends nor does anything that the checker sees."""
    frame = user = sys._current_frames().get(task.thread.ident)
    # The innermost line that is neither ours nor a library's, if there is one.
    while user is not None and _is_of_others(user.f_code.co_filename):
        user = user.f_back
    while user is None and frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    frame = user or frame
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "an unknown place"
    who = "its host" if task.kernel is None else task.kernel if is_call(task.kernel) else f"kernel {task.kernel}"
    stuck = f"no step that the checker sees for {seconds:g} s, and no end: an endless loop? If not, raise seconds"
    return f"{place}: rank {task.rank}, {who}: {stuck}"


@cache
def _is_of_others(file):
    """Whether a file is not the user's: symm's, Triton's, Python's, or of a package that is installed."""
    return file.startswith(("<frozen ", HERE, *LIBRARIES)) or _is_ours(file)


def fingerprint(end):
    """A number for where the calling task is, up to the function with the code `end`, and its variables' values, but
    for those of what only counts turns of a loop; None where it is in no loop that may poll.
    """
    frame, user, state, polls = sys._getframe(1), _user_frame(end), [], False
    while frame is not None and frame.f_code is not end:
        code, line = frame.f_code, frame.f_lineno
        polls = polls or _loops.polls(code, line)
        if state or frame is user:
            names = set() if _is_ours(code.co_filename) else frame.f_locals.keys() - _loops.counters(code, line)
            values = tuple((name, _value(frame.f_locals[name])) for name in sorted(names))
            state.append((id(code), frame.f_lasti, values))
        frame = frame.f_back
    return hash(tuple(state)) if polls else None


def _value(value):
    """What two values have in common that a kernel cannot tell apart."""
    handle = getattr(value, "handle", None)
    # An array of numpy, which is not there without Triton's interpreter.
    if hasattr(data := getattr(handle, "data", None), "tobytes"):
        return data.dtype.str, data.shape, data.tobytes()
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return type(value).__name__, value
    if isinstance(value, (tuple, list)):
        return tuple(map(_value, value))
    if hasattr(value, "table"):
        return tuple(_value(each) for _, each in sorted(vars(value).items()))
    if callable(value) or isinstance(value, type(sys)):
        return id(value)
    # Triton's constants, types and tuples; anything else may be another one each time.
    for name in ("value", "values", "name"):
        if type(value).__module__.startswith("triton.language") and hasattr(value, name):
            return name, _value(getattr(value, name))
    return object()
