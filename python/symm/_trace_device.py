"""Records what compiled kernels do, for `symm.trace`: they are compiled to write into a buffer on this rank's device.

A word of each heap says where the buffer is, or that there is none: what was compiled, or captured in a graph, in a
trace records nothing after it.
"""

import contextlib
import threading

from . import _open, _switches, _trace_clock
from ._memory import torch
from ._symm import TRACE_RECORD
from ._trace_records import Found

WORD = TRACE_RECORD
# How long kernels have to end after an error, and then what they have recorded to come.
SECONDS_TO_END = 5
# Buffers that kernels may still write to.
lost = []


class Recorder:
    """The programs and events of this rank."""

    def __init__(self, world, room):
        self.world, self.room, self.about = world, room, {}
        self.runs = _open.all_from(world)
        self.programs, self.events = [], []

    @contextlib.contextmanager
    def installed(self):
        """While kernels are recorded."""
        size = WORD["words"]
        self.buffer = torch().zeros((1 + self.room) * size, dtype=torch().int64, device=self.world.device)
        self.buffer[WORD["room"]] = self.room
        self.first = _trace_clock.measured(self.world)
        _open.record_into(self.world, self.buffer.data_ptr())
        # Kernels of all streams see it.
        self.world._synchronize()
        # What is compiled in this process already records nothing: with another switch it is compiled once more.
        is_done, _switches.Tracing.is_on = False, True
        try:
            yield
            self.world._synchronize()
            is_done = True
        finally:
            _switches.Tracing.is_on = False
            self._end(is_done)

    def _end(self, is_done):
        """Reads what has been recorded, and stops the recording; kernels that do not end are left alone."""
        cuda, device = torch().cuda, self.world.device
        if not is_done:
            is_done = within(SECONDS_TO_END, lambda: cuda.synchronize(device) or True)
        last = self.first
        if is_done:
            _open.record_into(self.world, 0)
            last, words = _trace_clock.measured(self.world), self._words()
        else:
            lost.append(self.buffer)
            words = within(SECONDS_TO_END, lambda: self._words_beside(cuda.Stream(device)))
        if words is None:
            return
        found = Found(words, _trace_clock.aligned(self.first, last, _trace_clock.unit_of()), self.world, self.runs)
        self.programs, self.events = found.programs, found.events
        self.about = {"clock_error_ns": max(self.first[-1], last[-1]), "dropped_events": found.dropped}

    def _words(self):
        count = min(self.buffer[WORD["asked"]].item(), self.room)
        return self.buffer[: (1 + count) * WORD["words"]].tolist()

    def _words_beside(self, stream):
        """The words while kernels run."""
        with torch().cuda.stream(stream):
            return self._words()


def within(seconds, function):
    """What a call returns; None if it has not returned in time, or has failed."""
    found = []

    def call():
        with contextlib.suppress(RuntimeError):
            found.append(function())

    thread = threading.Thread(target=call, name="symm reads a trace", daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else None
