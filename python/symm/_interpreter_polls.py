"""Loops of an interpreted kernel that poll: those of waits for several flags, and a kernel's own.

The latter are `while` loops in which an atomic of ours finds the same again and again, and nobody else would hear of
anything that the kernel does. With a time-out such a loop ends with an error, as a wait does.
"""

import ast
import functools
import linecache
import sys
import threading
import time

import numpy as np
from triton.runtime import interpreter
from triton.runtime.interpreter import interpreter_semantic

from . import _interpreter_deadlock, _interpreter_memory, _interpreter_trace, _open
from ._interpreter_deadline import Clock, timed_out
from ._symm import TABLE_HEADER_WORDS
from ._timeouts import flag_text

# How long a wait for several flags sleeps between two looks.
SECONDS_BETWEEN_LOOKS = 1e-5
# Ops that a loop may do between two looks.
QUIET = {"rank", "num_ranks", "as_remote", "remote_load", "fence", "atomic_rmw", "atomic_cas", "try_packet"}


def until(look, words, located, waited):
    """Looks until that is over, and returns what has been found at last; `waited` is a `Waited`."""
    begin, world = time.monotonic_ns(), _open.current(words)
    record, attributes = waited.deadline
    clock = Clock({} if record is None else {"deadline": record.handle}, attributes)
    found, over = look()
    text = _interpreter_deadlock.flags_text(found)
    with _interpreter_deadlock.waiting(world, located, text) as watch:
        while not over:
            if clock.is_over():
                at = int(np.argmax(waited.missing(found).handle.data))
                asked = waited.comparison, _element(waited.value.handle.data, at), waited.any
                address, seen = _element(waited.flags.handle.data, at), _element(found.handle.data, at)
                raise _late(world, words, located, clock, (address, words[0], asked, seen))
            time.sleep(SECONDS_BETWEEN_LOOKS)
            found, over = look()
            if not over:
                watch.looked()
    _interpreter_trace.waited(found.handle, begin)
    return found


class Polls(threading.local):
    """What a kernel polls by: by the place in its code what an atomic was given and has found, and since when."""

    def __init__(self):
        self.found, self.written = {}, 0


polls = Polls()


def heard(name):
    """A kernel does something that others may hear of: what it has polled by is over."""
    if name not in QUIET:
        polls.found.clear()


def polled(operands, attributes, words, old, located):
    """An atomic has found `old`: an error where its loop has found nothing else for longer than it may."""
    if "deadline" not in operands:
        return
    if polls.written != _interpreter_memory.State.written:
        polls.found.clear()
        polls.written = _interpreter_memory.State.written
    frames = _frames()
    names = ("ptr", "rank", "value", "expected", "mask")
    given = [operands[name].data.tobytes() for name in names if name in operands]
    place = tuple((frame.f_code, frame.f_lasti) for frame in frames)
    key = tuple(interpreter_semantic.builder.grid_idx), given, old.data.tobytes()
    before, clock = polls.found.get(place, (None, None))
    if before != key:
        if before is not None:
            polls.found.clear()
        polls.found[place] = key, Clock(operands, attributes)
    elif clock.is_over() and any(_is_in_while(frame.f_code.co_filename, frame.f_lineno) for frame in frames):
        raise _late(_open.current(words), words, located, clock, _first(operands, attributes, old))


def _first(operands, attributes, old):
    """The address and rank of the first element that an atomic polls for, what it is to be, and what it is."""
    asked, at = attributes.get("asked"), 0
    if asked is not None:
        comparison, value = asked
        asked = comparison, _element(value.handle.data, 0), False
    elif "expected" in operands:
        expected = operands["expected"].data
        at = int(np.argmax(old.data != expected))
        asked = "eq", _element(expected, at), False
    place = _element(operands["ptr"].data, at), _element(operands["rank"].data, at)
    return *place, asked, _element(old.data, at)


def _late(world, words, located, clock, waited):
    """The error of a loop that is over time."""
    address, rank, asked, seen = waited
    flag = world.flag_at(address - words[TABLE_HEADER_WORDS + words[0]])
    flag += "" if rank == words[0] else f" of rank {rank}"
    expected = None if asked is None else asked[1]
    return timed_out(world, located, clock, (flag, flag_text(flag, asked, seen), expected, seen))


def _element(data, index):
    return data.flat[index if data.size > 1 else 0].item()


def _frames():
    """The frames of the kernel that is interpreted, the innermost first."""
    frame, frames = sys._getframe(2), []
    while frame is not None and frame.f_code.co_filename != interpreter.__file__:
        frames.append(frame)
        frame = frame.f_back
    return [frame for frame in frames if not frame.f_globals.get("__name__", "").startswith(f"{__package__}.")]


def _is_in_while(file, line):
    return any(first <= line <= last for first, last in _whiles(file))


@functools.cache
def _whiles(file):
    """The first and last lines of the `while` loops of a file."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    return [(node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.While)]
