"""Time-outs of waits in kernels: the rank's record on its heap, and the report of a wait that has timed out.

Kernels whose context is a World with a time-out are watched: their table points to unsigned words, so that Triton
compiles them once more. A wait that gives up writes the record (`symm_abi::deadline`) and returns as if its flag had
come, and all later waits of the rank return at once: kernels end soon, and the host looks at the record.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import time
from typing import Any

from . import _bounds, _host_call
from ._device import ForBlocks
from ._memory import Memory, text_of, torch
from ._open import rank_text
from ._symm import DEADLINE_NUMBERS, DEADLINE_OFFSET, DEADLINE_RECORD
from .errors import ArgumentError, BoundsError, WaitTimeoutError

WORD = DEADLINE_RECORD
program_of = _bounds.program_of
# What the environment has for the time-out.
ENVIRONMENT = "SYMM_TIMEOUT"
BROKEN, TOLD, FOR_EVER, NOWHERE = (DEADLINE_NUMBERS[name] for name in ("broken", "told", "for_ever", "nowhere"))
# How long the other ranks have to say what they wait for.
SECONDS_TO_SAY = 1.0
# How often a rank without kernels that could tell looks whether another has given up.
SECONDS_BETWEEN_LOOKS = 0.1
# What the compiler said of waits, by their tags: kernel, file, line and what it does.
waits = {}


def seconds_of(told, where):
    """A time-out that the user has given, in seconds; `where` says how for an error. Only the environment has text."""
    is_text = isinstance(told, (str, bytes, bytearray)) and where != ENVIRONMENT
    try:
        seconds = math.nan if isinstance(told, bool) or is_text else float(told)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not seconds > 0:
        raise ArgumentError(f"{where} must be a number of seconds above 0, or math.inf for none, not {text_of(told)}")
    # What 63 bits hold of nanoseconds.
    return seconds if seconds < 2**63 / 1e9 else math.inf


def default(timeout):
    """The time-out of kernels' waits: what `symm.init` was given, or the environment; math.inf without."""
    if timeout is not None:
        return seconds_of(timeout, "symm.init: timeout")
    told = os.environ.get(ENVIRONMENT)
    return seconds_of(told, ENVIRONMENT) if told else math.inf


def learn(lines):
    """Keeps what the compiler said of the waits of a kernel."""
    for line in lines.splitlines():
        tag, kernel, file, number, what = line.split("\t")
        waits[int(tag)] = kernel, file, int(number), what
        if _bounds.is_of(what):
            _bounds.require()


class Timeouts:
    """The time-outs of a World's kernels."""

    # Whether ranks are being asked for their records: far ones by kernels, and interpreted kernels check, too.
    is_asking = False

    def __init__(self, world, seconds):
        self.world, self.seconds, self.error = world, seconds, None
        # Which a kernel can write to, and the host can read while it runs.
        self.state = ctypes.c_int64()
        if world.device.type != "cpu":
            self.host = torch().zeros(1, dtype=torch().int64, device="cpu", pin_memory=True)
            self.state = ctypes.c_int64.from_address(self.host.data_ptr())
            self.looked, self.stream = time.monotonic(), None
        self.record = self._record_of(world.get_rank())
        self.record[WORD["limit"]] = self._limit()
        self.record[WORD["host"]] = ctypes.addressof(self.state)
        self.record[WORD["base"]] = world.bases[world.get_rank()]
        # Kernels of all streams see them.
        world._synchronize()

    @property
    def is_on(self):
        return self.seconds < math.inf

    def set(self, seconds):
        """Changes the time-out of kernels that are launched from now on, in the order of the current stream."""
        self.seconds = seconds
        self.record[WORD["limit"]] = self._limit()

    def _limit(self):
        return int(self.seconds * 1e9) if self.is_on else FOR_EVER

    def _record_of(self, rank):
        """The words of a rank's record: a tensor on a GPU, an array on the CPU."""
        if self.world.device.type == "cpu":
            return (ctypes.c_int64 * WORD["logged_words"]).from_address(self.world.bases[rank] + DEADLINE_OFFSET)
        return self._tensor_of(rank)

    def _tensor_of(self, rank):
        address, size = self.world.bases[rank] + DEADLINE_OFFSET, WORD["logged_words"]
        return Memory(address, 8 * size, self.world._rank.hold()).tensor(self.world.device, torch().int64, (size,))

    def _words_of(self, rank):
        if self.world.is_near(rank):
            return self._tensor_of(rank).tolist()
        from . import _host_kernels

        return _host_kernels.words_of(self.world, self._tensor_of(self.world.get_rank()), rank)

    def check(self):
        """Raises an error that has occurred so far. Does not wait for the device if there is none."""
        if self.state.value and not self.is_asking:
            self._raise()
        if self.world.device.type != "cpu" and time.monotonic() > self.looked + SECONDS_BETWEEN_LOOKS:
            self._look()

    def _look(self):
        """Looks whether another rank has given up, as a kernel here would: the next check sees what is copied now."""
        cuda = torch().cuda
        if cuda.is_current_stream_capturing():
            return
        if self.stream is None:
            self.stream = cuda.Stream(self.world.device)
            self.copied = torch().zeros(1, dtype=torch().int64, device="cpu", pin_memory=True)
        if self.copied.item() >= TOLD:
            self.state.value = self.copied.item()
            self._raise()
        self.looked = time.monotonic()
        with cuda.stream(self.stream):
            at = WORD["state"]
            self.copied.copy_(self.record[at : at + 1], non_blocking=True)

    def has_been_told(self):
        """The errors that have already been reported."""
        return (self.error[0],) if self.error is not None else ()

    def _raise(self):
        if self.error is None:
            if self.world.device.type != "cpu" and torch().cuda.is_current_stream_capturing():
                what = "a wait in a kernel has timed out, or an access has left its tensor"
                raise WaitTimeoutError(f"{what}: end the capture, and call World.check for more")
            Timeouts.is_asking = True
            try:
                self.error = self._found()
            finally:
                Timeouts.is_asking = False
        kind, *arguments = self.error
        raise kind(*arguments)

    def _found(self):
        """The type of the error, and its arguments."""
        state, me, ranks = self.state.value, self.world.get_rank(), range(self.world.get_num_ranks())
        if state == BROKEN:
            self._tell()
        late = me if state == BROKEN else state - TOLD
        words = self._words_of(late)
        what = waits.get(words[WORD["tag"]])
        if what is not None and _bounds.is_of(what[-1]):
            return BoundsError, *_bounds.described(self.world, late, words, what)
        others = [(rank, entry) for rank in ranks for entry in self._log_of(rank)]
        return WaitTimeoutError, *self._described(late, words, others)

    def _tell(self):
        """Ends the waits of all ranks, and gives them time to say what they waited for."""
        me = self.world.get_rank()
        for rank in range(self.world.get_num_ranks()):
            if rank != me:
                self._tell_one(rank)
        until = time.monotonic() + SECONDS_TO_SAY
        others = [rank for rank in range(self.world.get_num_ranks()) if rank != me]
        while time.monotonic() < until and not all(self._log_of(rank) for rank in others):
            time.sleep(SECONDS_TO_SAY / 20)

    def _tell_one(self, rank):
        told = TOLD + self.world.get_rank()
        if self.world.is_near(rank):
            self._record_of(rank)[WORD["state"]] = told
            return
        from . import _host_kernels

        mine = self._tensor_of(self.world.get_rank())
        _host_kernels.set_word(self.world, mine, WORD["state"], told, rank)

    def _log_of(self, rank):
        """What programs of a rank have waited for: as the words of a record."""
        words, size = self._words_of(rank), WORD["entry_words"]
        entries = (words[at : at + size] for at in range(WORD["log"], WORD["logged_words"], size))
        names = "tag", "address", "expected", "seen", "program"
        return [
            {**dict(zip(names, entry[1:], strict=True)), "base": words[WORD["base"]], "rank": rank}
            for entry in entries
            if entry[1]
        ]

    def _described(self, rank, words, others):
        """The arguments of the error in a rank's record."""
        names = "tag", "address", "expected", "seen", "program", "base"
        first = {"rank": rank, **{name: words[WORD[name]] for name in names}}
        kernel, file, line, text, flag = self._wait_text(first)
        program = program_of(first["program"])
        waiter = rank_text(self.world, rank)
        who = waiter if _host_call.is_call(kernel) else f"{waiter}, program {program}"
        message = f"{_host_call.said(kernel)}: {who} has waited {self.limit_text(words)} for {text}"
        message += ". This World's kernels no longer wait, and what they have written is not valid: end the run"
        said = []
        for other, entry in others:
            if (other, entry["program"], entry["tag"]) != (rank, first["program"], first["tag"]):
                its_kernel, its_file, its_line, its_text, _ = self._wait_text(entry)
                place = f"{its_file}:{its_line}: " if its_file else ""
                named = rank_text(self.world, other)
                who = f"{named}, program {program_of(entry['program'])}, {place}"
                who = f"{named}: " if _host_call.is_call(its_kernel) else who
                said.append(f"{who}{_host_call.said(its_kernel)}: {its_text}")
        silent = sorted(set(range(self.world.get_num_ranks())) - {rank} - {other for other, _ in others})
        said += [f"{rank_text(self.world, other)} is not waiting in a watched kernel" for other in silent]
        message += "".join(f"\n  {each}" for each in said)
        return message, file, line, kernel, rank, program, flag, first["expected"], first["seen"], tuple(said)

    def limit_text(self, words):
        limit = words[WORD["limit"]]
        return "too long" if limit == FOR_EVER else f"{limit / 1e9:g} s"

    def _wait_text(self, found):
        """Kernel, file, line of a wait, what it waits for, and its flag."""
        unknown = "of another program", None, None, "wait"
        kernel, file, line, what = waits.get(found["tag"], unknown)
        kernel = _host_call.name_of(kernel, file, type(self.world).__name__)
        # A line of symm itself says nothing to the user.
        file, line = (None, None) if _host_call.is_call(kernel) else (file, line)
        if found["address"] == NOWHERE:
            return kernel, file, line, "one of several flags, of which its mask leaves out all", None
        # A loop that polls by an atomic says on which rank.
        holder = (found["address"] >> WORD["rank_shift"] & 0xFF) - 1
        offset = (found["address"] & (1 << WORD["rank_shift"]) - 1) - found["base"]
        flag = self.world.flag_at(offset)
        if holder not in (-1, found["rank"]):
            flag += f" of {rank_text(self.world, holder)}"
        if what == "barrier":
            ranks = self.world.get_num_ranks()
            missing = rank_text(self.world, offset // 8 % (ranks + 1) - 1)
            text = f"{missing} to come to its barrier number {found['expected']}: it has come to {found['seen']}"
            return kernel, file, line, text, f"the barrier's flag of {missing}"
        if what == "wait_packet":
            text = f"a packet of epoch {found['expected']} at {flag}: its epoch is {found['seen']}"
            return kernel, file, line, text, flag
        if what == "wait_floats":
            return kernel, file, line, f"floats at {flag}: they have not come", flag
        comparison, *more = what.split()[1:] or [""]
        asked = None if what == "poll" else (comparison, found["expected"], "any" in more)
        text = barrier_text(self.world, offset, found["expected"], found["seen"])
        return kernel, file, line, text or flag_text(flag, asked, found["seen"]), flag


def barrier_text(world, offset, expected, seen):
    """What the host's barrier of a team waits for, if the flag at an offset is one of it; None for other flags."""
    number = world.meets_at(offset) if hasattr(world, "meets_at") else None
    if number is None:
        return None
    return f"{rank_text(world, number)} to come to its barrier number {expected}: it has come to {seen}"


def flag_text(flag, asked, seen):
    """What is waited for, of a flag or a place that a loop polls; `asked` is the comparison, the value and whether it
    is one of several flags, or None where that is not known.
    """
    if asked is None:
        return f"a loop that polls {flag} to end: it is {seen}"
    comparison, expected, is_any = asked
    among = "one of several flags, the first of them " if is_any else ""
    return f"{among}{flag} {COMPARISONS.get(comparison, 'to satisfy a comparison with')} {expected}: it is {seen}"


COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class Limit(ForBlocks, contextlib.ContextDecorator):
    """Another time-out of a World's kernels, for a `with` block."""

    def __init__(self, world, seconds):
        self.world, self.seconds, self.before = world, seconds, []
        mend = "write `with world.timeout(…):` around the launches, or give symm.init the time-out of all"
        self._unused = f"{type(world).__name__}.timeout", mend
        self._made()

    def __repr__(self):
        return f"{type(self.world).__name__}.timeout({f'{self.seconds:g}' if self.seconds < math.inf else None})"

    def __call__(self, function):
        self._is_used = True
        return super().__call__(function)

    def __enter__(self):
        self._is_used = True
        self.world.check()
        self.before.append(self.world._timeouts.seconds)
        self.world._timeouts.set(self.seconds)

    def __exit__(self, *_):
        before = self.before.pop()
        if self.world.is_open():
            self.world._timeouts.set(before)


class Timed:
    """What a World has for time-outs."""

    # A World's and a Team's.
    _timeouts: Any = None
    is_open: Any
    check: Any
    _synchronize: Any

    def timeout(self, seconds: float | None) -> contextlib.AbstractContextManager[None]:
        """Sets a time-out in seconds for waits and barriers of the kernels that are launched in a `with` block.

        Without `with` it does nothing, and a SymmWarning says so. None, or math.inf, is no time-out. The default is
        that of `symm.init`, or SYMM_TIMEOUT of the environment, or none; kernels without a time-out pay nothing for it.
        It is set in the current stream's order, and holds for all streams while the block's kernels run. Teams keep the
        one that they have.

        A wait that times out returns as if its flag had come, and all later waits of the run return at once: the
        kernels end soon, and their results are not valid. `check`, `synchronize` and every call of the World then
        raise WaitTimeoutError, on all ranks. An interpreted kernel raises it at the wait, on its rank alone; where all
        ranks wait it is a DeadlockError, at once.
        """
        wanted = math.inf if seconds is None else seconds_of(seconds, f"{type(self).__name__}.timeout: seconds")
        self.check()
        return Limit(self, wanted)

    def synchronize(self) -> None:
        """Waits until the device is done. Raises what `check` raises."""
        self._synchronize()
        self.check()
