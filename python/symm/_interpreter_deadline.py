"""How long a wait of an interpreted kernel polls, and what it does when its deadline is over."""

import ctypes
import time

from ._symm import DEADLINE_RECORD as WORD

# How long a wait polls before it looks whether Python has been interrupted or another rank has failed.
SECONDS_OF_A_POLL = 0.1
GOOD, BROKEN = 0, 1


class Clock:
    """The time of one wait."""

    def __init__(self, operands, attributes):
        self.record, self.tag, self.start, self.looked = None, attributes.get("tag", 0), time.monotonic(), False
        if "deadline" in operands:
            words = ctypes.c_int64 * WORD["words"]
            self.record = words.from_address(int(operands["deadline"].data.item()))

    def left(self):
        return self.record[WORD["limit"]] / 1e9 - (time.monotonic() - self.start)

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
