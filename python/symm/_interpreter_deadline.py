"""How long a wait of an interpreted kernel polls, and what it does when its deadline has passed.

A wait with a number of its own (`tag`) writes its record, as those of `symm.comm` do on a GPU; another one is an error
at once.
"""

import ctypes
import sys
import time

from triton.runtime import interpreter
from triton.runtime.interpreter import interpreter_semantic

from ._host_call import calls, is_call, said
from ._open import rank_text
from ._standing import Standing
from ._symm import DEADLINE_NUMBERS
from ._symm import DEADLINE_RECORD as WORD
from .errors import WaitTimeoutError

# How long a wait polls before it looks whether Python has been interrupted or another rank has failed.
SECONDS_OF_A_POLL = 0.1
GOOD, BROKEN = DEADLINE_NUMBERS["good"], DEADLINE_NUMBERS["broken"]


class Clock:
    """The time of one wait."""

    def __init__(self, operands, attributes):
        self.record, self.tag, self.start, self.looked = None, attributes.get("tag", 0), time.monotonic(), False
        if "deadline" in operands:
            words = ctypes.c_int64 * WORD["words"]
            self.record = words.from_address(int(operands["deadline"].data.item()))
            self.seconds = (attributes.get("limit") or self.record[WORD["limit"]]) / 1e9

    def left(self):
        return self.seconds - (time.monotonic() - self.start)

    def time_of_a_poll(self):
        """How long to poll; the first time not at all, as all may be over."""
        if self.record is None:
            return SECONDS_OF_A_POLL
        first, self.looked = not self.looked, True
        return 0.0 if first else max(min(SECONDS_OF_A_POLL, self.left()), 0.0)

    def is_over(self):
        """Whether a wait has to give up."""
        return self.record is not None and (self.record[WORD["state"]] != GOOD or self.left() <= 0)

    def give_up(self, address, expected, seen):
        """Writes the record, unless another wait has, and tells the host."""
        record = self.record
        if record[WORD["state"]] == GOOD:
            record[WORD["tag"]], record[WORD["address"]] = self.tag, address
            record[WORD["expected"]], record[WORD["seen"]] = expected, seen
            record[WORD["state"]] = BROKEN
        if record[WORD["host"]]:
            ctypes.c_int64.from_address(record[WORD["host"]]).value = record[WORD["state"]]


def timed_out(world, located, clock, waited):
    """The error of a wait that has timed out; `waited` is the flag, what it waited for, expected and seen."""
    flag, text, expected, seen = waited
    kernel, program = kernel_name(), tuple(int(number) for number in interpreter_semantic.builder.grid_idx)
    rank = world.get_rank()
    home, members = world._place()
    others = enumerate(members)
    others = (
        Standing.of(home.bases[each]).describe(rank_text(world, other)) for other, each in others if other != rank
    )
    others, waiter = tuple(others), rank_text(world, rank)
    who = waiter if is_call(kernel) else f"{waiter}, program {program}"
    message = f"{said(kernel)}: {who} has waited {clock.seconds:g} s for {text}"
    message += "".join(f"\n  {each}" for each in others)
    details = kernel, rank, program, flag, expected, seen, others
    return located(message, lambda *place: WaitTimeoutError(*place, *details))


def place_text(located):
    """Where the kernel that is interpreted is: its program, file, line and name, or the call of the host and where; and
    its file and line.
    """
    _, file, line = located("").args
    name = kernel_name()
    if is_call(name):
        return f"{name} at {file}:{line}", (file, line)
    program = tuple(interpreter_semantic.builder.grid_idx)
    return f"program {program}, {file}:{line}: kernel {name}", (file, line)


def kernel_name():
    """The name of the kernel that is interpreted, or of the call of the host that has launched it."""
    if calls.name:
        return calls.name
    frame, names = sys._getframe(1), []
    while frame is not None:
        executor = frame.f_locals.get("self")
        if frame.f_code.co_filename == interpreter.__file__ and isinstance(executor, interpreter.GridExecutor):
            names.append(executor.fn.__name__)
        frame = frame.f_back
    return names[-1] if names else "unknown"
