"""What compiled kernels have recorded for a timeline (`symm_abi::trace`), as the interpreter's recorder has it."""

from __future__ import annotations

import bisect
from typing import Any

from . import _host_call, _open
from ._symm import TRACE_RECORD
from ._timeouts import program_of, waits

WORD = TRACE_RECORD
# How what the tag of a record stands for begins, and the name that a record of a whole program has after it.
TRACED, KERNEL = "trace ", "kernel"
# Ops that look at flags, and those that look at several: the word with their places says how many there are above this
# bit, and below it how far the last one is from the first.
WAITS, SEVERAL, SPAN_BITS = ("wait", "wait_packet"), ("wait_all", "wait_any"), 40


class Found:
    """The programs and events in the words of a rank's buffer.

    `time_of` makes nanoseconds of the system's clock of a time of the device's.
    """

    def __init__(self, words, time_of, world, worlds=None):
        self.time_of, self.world, self.worlds = time_of, world, worlds or _open.all_from(world)
        self.programs: list[list[Any]] = []
        self.events: list[dict[str, Any]] = []
        size, asked, room = WORD["words"], words[WORD["asked"]], words[WORD["room"]]
        self.dropped = max(asked - room, 0)
        records = [words[at : at + size] for at in range(size, size * (1 + min(asked, room)), size)]
        # Of those that have been taken some may not be written yet, where a kernel has not ended.
        records = [each for each in records if each[WORD["begin"]] and _what(each) is not None]
        self.last = max((max(each[WORD["begin"]], each[WORD["end"]]) for each in records), default=0)
        # Of each program of a kernel: when its runs began, and their numbers.
        self.runs: dict[Any, list[tuple[int, int]]] = {}
        for record in sorted(records, key=lambda each: each[WORD["begin"]]):
            if _what(record)[0] == KERNEL:
                self._run(record, *self._times(record))
        for record in records:
            if _what(record)[0] != KERNEL:
                self._event(record)

    def _times(self, record):
        """Begin and end; what has not ended ends with the last of all."""
        return self.time_of(record[WORD["begin"]]), self.time_of(record[WORD["end"]] or self.last)

    def _run(self, record, begin, end):
        """Another run of a program; its number."""
        kernel, place = _kernel_of(record), record[WORD["program"]]
        self.programs.append([kernel, list(program_of(place)), begin, end])
        self.runs.setdefault((kernel, place), []).append((begin, len(self.programs) - 1))
        return len(self.programs) - 1

    def _run_of(self, record, begin, end):
        """The run of a program that an op is in: the last that began before it. Of kernels whose context is not made
        of their arguments nothing is known but their ops.
        """
        runs = self.runs.get((_kernel_of(record), record[WORD["program"]]), [])
        after = bisect.bisect_right(runs, begin, key=lambda run: run[0])
        if after == 0:
            return self._run(record, begin, end)
        number = runs[after - 1][1]
        self.programs[number][3] = max(self.programs[number][3], end)
        return number

    def _event(self, record):
        _, file, line, _ = waits[record[WORD["tag"]]]
        name, size, *how = _what(record)
        begin, end = self._times(record)
        event = {"name": name, "program": self._run_of(record, begin, end), "begin": begin, "end": end}
        event |= {"at": f"{file}:{line}", "peers": [], "signals": [], "wait": None}
        event["bytes"] = f"at most {size[1:]}" if size.startswith("<") else int(size)
        address, bits, value = record[WORD["values"] : WORD["values"] + 3]
        rank, offset = self._place(address)
        unsigned = value & 2**64 - 1 if "unsigned" in how else value
        if name in SEVERAL:
            if how:
                places = [[rank, each] for each in flags_of(offset, bits)] if rank >= 0 else []
                event["wait"] = [places, how[-1], unsigned]
        elif name in WAITS:
            compare = "eq" if name == "wait_packet" else how[-1]
            event["wait"] = [[[rank, offset]] if rank >= 0 else [], compare, unsigned]
        elif name != "barrier":
            event["peers"] = self._ranks(record[WORD["table"]], bits) if bits else [rank] if rank >= 0 else []
            if how and rank >= 0:
                # What is added to a flag does not say what it then is.
                new = None if how[0] == "add" else value
                event["signals"] = [[peer, offset, new] for peer in event["peers"]]
                event["value"] = value
        self.events.append(event)

    def _place(self, address):
        return _open.place_of(address, self.worlds)

    def _ranks(self, table, bits):
        """The numbers in the World of ranks that are bits by their numbers in the context of this table."""
        teams = [team for team in tuple(_open.teams) if team.world is self.world and team.data_ptr() == table]
        members = teams[0].members if teams else range(len(self.world.bases))
        return sorted(rank for number, rank in enumerate(members) if bits >> number & 1)


def flags_of(first, word):
    """Where the flags of a wait for several are: the first alone, if they do not lie evenly."""
    count, span = word >> SPAN_BITS, word & (1 << SPAN_BITS) - 1
    if count < 2 or span % (count - 1):
        return [first] if count else []
    return [first + number * span // (count - 1) for number in range(count)]


def _kernel_of(record):
    """The name of a record's kernel, or of the call of the host that has launched it."""
    kernel, file, *_ = waits[record[WORD["tag"]]]
    return _host_call.name_of(kernel, file)


def _what(record):
    """The words that a record's tag stands for; None if it is of no record."""
    text = waits.get(record[WORD["tag"]], ("", "", 0, ""))[-1]
    return text.removeprefix(TRACED).split() if text.startswith(TRACED) else None
