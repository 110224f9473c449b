"""A program on all ranks, in this process: each rank's host and each program of a kernel is a task of the checker.

A task is a thread. One of them runs at a time: it says what it does next and waits, and the checker, which runs on the
thread that has called it, lets one go on (`python/src/check.rs`).
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from typing import Any

from .. import _open
from ..errors import ArgumentError, CheckError
from . import _place, _writes
from ._heaps import Heaps, Rank, with_width

# How long imports of one statement may take, in seconds.
IMPORTS = 120.0
# Where the task of the calling thread is.
_here = threading.local()


class Stop(BaseException):
    """The execution is over, and the task with it."""


def task() -> Task | None:
    """The task that the calling thread is, if it is one."""
    return getattr(_here, "task", None)


class Program:
    """What the checker executes again and again: a function on each rank."""

    def __init__(self, function, ranks, seconds, heaps=None):
        self.function, self.ranks, self.seconds = function, ranks, seconds
        self.heaps = heaps or Heaps(ranks)
        self.sites = _place.Sites()
        # Of the last execution, to name memory by: a World of each number, and the ranks' own tensors.
        self.worlds: dict[int, Any] = {}
        self.private: dict[int, dict] = {}
        self.error: tuple | None = None
        # What the checker has found until an exception ended the check: JSON, and pictures.
        self.found: tuple[str, str] | None = None
        # The lines at which tasks were when an execution was given up.
        self.given_up: list[str] = []

    def start(self):
        self.heaps.clear()
        return Execution(self)


class Execution:
    """One execution."""

    def __init__(self, program):
        self.program, self.over = program, False
        # Held while a task runs.
        self.back = threading.Semaphore(0)
        self.tasks: dict[int, Task] = {}
        # The programs of all kernels so far: the rank, and the number in the grid.
        self.added: list[tuple[int, int]] = []
        # What tasks that are launched do.
        self.waiting: dict[int, tuple] = {}
        self.runs = program.heaps.runs()

    def launch(self, rank, programs):
        """The first task of a launch."""
        first = self.program.ranks + len(self.added)
        self.added += [(rank, number) for number in range(programs)]
        return first

    def resume(self, number, answers, asks):
        """Lets a task run until it says what it does next; None where it has ended."""
        if number not in self.tasks:
            rank, *rest = self.waiting.pop(number, (number, None, self.program.function, None, None))
            self.tasks[number] = Task(self, rank, *rest)
        return self.tasks[number].resume(answers, asks)

    def stop(self):
        """Ends what has not ended."""
        self.over = True
        for each in self.tasks.values():
            each.end()
        self.program.private = self.runs.private
        self.program.worlds = {run.number: run.world for run in self.runs}
        for world in [world for world in _open.worlds if isinstance(world._rank, Rank)]:
            world._forget()


class Task:
    """A thread: of a rank's host, or of a program of a kernel, which has a `grid` (its number, and the grid's size)
    and was `launched` at a place.
    """

    def __init__(self, execution, rank, kernel, body, grid, launched):
        self.execution, self.rank, self.kernel, self.body, self.grid = execution, rank, kernel, body, grid
        self.launched = launched
        self.turn = threading.Semaphore(0)
        self.answers: list[bytes] = []
        self.said: tuple | None = None
        self.error: BaseException | None = None
        self.asks = self.has_ended = False
        # How many worlds it has joined; pieces of memory that the checker is to know.
        self.joined = 0
        self.regions: list[tuple] = []
        # What its host has written since it last said what it does: pieces of tensors, each once.
        self.written: dict[tuple, None] = {}
        # What kernels with `triton.autotune` have been tuned to.
        self.tuned: dict[Any, dict] = {}
        self.thread = threading.Thread(target=self._run, name=f"rank {rank}", daemon=True)
        self.thread.start()

    def resume(self, answers, asks):
        self.answers, self.asks = answers, asks
        self._go_on()
        if self.error is not None:
            raise self.error
        return self.said

    def end(self):
        if not self.has_ended:
            self._go_on()

    def _go_on(self):
        self.said = None
        self.turn.release()
        seconds = self.execution.program.seconds
        if not self._comes_back(seconds):
            self.has_ended = True
            said = _place.stuck(self, seconds)
            # Else a loop would take a processor for as long as Python runs.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread.ident), ctypes.py_object(Stop))
            raise CheckError(said)

    def _comes_back(self, seconds):
        """Whether it has come to its next op in time; imports have as much again, and IMPORTS."""
        ran = imported = 0.0
        while ran < seconds and imported < seconds + IMPORTS:
            # So short that what is done between imports counts.
            before, patience = time.monotonic(), min(seconds - ran, 0.1)
            if self.execution.back.acquire(timeout=patience):
                return True
            if _place.is_importing(self.thread):
                imported += time.monotonic() - before
            else:
                ran += time.monotonic() - before
        return False

    def check_caller(self):
        """An error if another task, of this execution or of one before it, uses what this one has made."""
        other = task()
        # A thread that the program has made is none.
        if other is None or other is self:
            return
        whose = "an earlier execution" if other.rank == self.rank else f"rank {self.rank}"
        message = f"rank {other.rank} uses the World of {whose}: all ranks and executions are in one process here, and "
        message += "share modules and their variables. Call symm.init in the script itself, or in the function that "
        raise ArgumentError(message + "each rank calls, and keep the World there")

    def place(self):
        """Where the user's program is that this task runs."""
        end = Task._run.__code__
        return _place.place_of(end, outside=True) or _place.place_of(end)

    def ask(self, *ops: tuple) -> list[bytes]:
        """Says what this task does next, at the line that it is at; the answers, when it has done so."""
        if self.execution.over or self.has_ended:
            raise Stop
        site = self.execution.program.sites.here(self, Task._run.__code__)
        wrote = self._wrote()
        ops = (*wrote, *ops)
        said = [(name, site, *rest) for name, *rest in ops]
        state = _place.fingerprint(Task._run.__code__) if self.asks else None
        host = None
        if self.kernel is None:
            host, self.regions = (site, [with_width(self, region) for region in self.regions]), []
        self.said = said, state, host
        self.execution.back.release()
        self.turn.acquire()
        if self.execution.over:
            raise Stop
        self._enter()
        return self.answers[len(wrote) :]

    def _wrote(self):
        """A host's own writes to heaps, which count even if they change nothing."""
        written, self.written = self.written, {}
        return _writes.ops(written)

    def heaps(self):
        """The heaps of all ranks: first addresses, and bytes."""
        return [(base, run.size) for run in self.execution.runs for base in run.bases]

    def _enter(self):
        """Triton's interpreter has one place for the number of the program that runs."""
        if self.grid is not None:
            from triton.runtime.interpreter import interpreter_builder

            interpreter_builder.grid_idx, interpreter_builder.grid_dim = self.grid

    def _run(self):
        _here.task = self
        self.turn.acquire()
        try:
            if not self.execution.over:
                self._enter()
                with _writes.noted(self) if self.kernel is None else contextlib.nullcontext():
                    self.body(self)
                self._check_end()
        except Stop:
            pass
        except SystemExit as left:
            # A rank may end in this way.
            if left.code not in (None, 0):
                ended = RuntimeError(f"the program ends with status {left.code}")
                ended.__cause__ = left
                self._fail(ended)
            else:
                self._end_early()
        except BaseException as error:
            self._fail(error)
        finally:
            # Nobody waits any more for one that was stuck.
            if not self.has_ended:
                self.has_ended = True
                self.execution.back.release()

    def _check_end(self):
        """A host that ends has made the same calls as the others."""
        if self.kernel is None and not self.execution.over:
            self.execution.runs.ended(self.rank)

    def _end_early(self):
        try:
            self._check_end()
        except Exception as error:
            self._fail(error)

    def _fail(self, error):
        """A failed assertion is found by the checker; all else ends the check."""
        errors = _place.causes(error)
        asserted = next((each for each in errors if isinstance(each, AssertionError)), None)
        if asserted is not None and not self.execution.over:
            site = self.execution.program.sites.of(errors[: errors.index(asserted) + 1], self.kernel)
            text = str(asserted) or "an assertion does not hold"
            self.said = [("fail", site, text)], None, None
            return
        self.error = error
        if self.execution.program.error is None:
            self.execution.program.error = self.rank, self.kernel, self.grid, error
