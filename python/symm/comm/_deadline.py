"""Deadlines of what waits in kernels, and the report of one that has passed.

A kernel waits with the ops of a context that has a deadline: `watched(table, members, rank_here, WATCH)`, with 0 or a
number of `TAGS` as the constant `WATCH`. With 0 it is a plain context, `Parts`. When the time is over a wait leaves as
if what it waits for had come, and all later waits leave at once, until the record is good again: a kernel ends soon,
and what it writes is nobody's result; where it takes addresses or bounds from what has come, it asks `gave_up` first.
The host looks at one word of its own memory before each call.
"""

import ctypes
import math
import os

import triton
import triton.language as tl

from .. import _host_kernels, _timeouts
from .._context import Watched, device_context
from .._memory import torch
from .._symm import DEADLINE_NUMBERS, DEADLINE_RECORD
from .._timeouts import ENVIRONMENT
from ..errors import ArgumentError, CollectiveTimeoutError
from ._parts import Parts, WatchedParts
from .kernels_parts import TABLE_HEADER

WORD = DEADLINE_RECORD
RECORD_WORDS, STATE_WORD = tl.constexpr(WORD["words"]), tl.constexpr(WORD["state"])
# Far longer than ranks of a job are apart.
USUAL_SECONDS = 300.0
BROKEN, TOLD, FOR_EVER = (DEADLINE_NUMBERS[name] for name in ("broken", "told", "for_ever"))
# The calls of the library, at their numbers from 1.
TAGS = {
    name: number
    for number, name in enumerate(
        ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "all_to_all_v", "broadcast", "reduce", "gather",
         "scatter", "barrier", "recover", "send", "recv", "sendrecv"), 1)
}  # fmt: skip


@device_context
class WatchedContext(Watched):
    """The context of kernels of Triton and Gluon whose waits have a deadline."""


@triton.jit
def watched(table, members, rank_here, WATCH: tl.constexpr):
    """The context of a kernel of the communicator whose members, after the record, are at an address."""
    return watched_by(table, members.to(tl.pointer_type(tl.int64), bitcast=True) - RECORD_WORDS, rank_here, WATCH)


@triton.jit
def watched_by(table, record, rank_here, WATCH: tl.constexpr):
    """The context of a kernel whose waits have the deadline of a record."""
    if WATCH:
        return WatchedParts(table + TABLE_HEADER, rank_here, record, WATCH)
    else:
        return Parts(table + TABLE_HEADER, rank_here)


def seconds_of(timeout, device, maker="Communicator"):
    """How long a wait may take: what the caller of `maker` says, or the environment, or the default; without end is
    math.inf.
    """
    told, where = timeout, f"{maker}: timeout"
    if timeout is None:
        told = os.environ.get(ENVIRONMENT) or (math.inf if torch().version.hip else USUAL_SECONDS)
        where = ENVIRONMENT
    seconds = _timeouts.seconds_of(told, where)
    if seconds < math.inf and device.type != "cpu" and torch().version.hip:
        raise ArgumentError(f"{maker}: waits have no timeout on AMD GPUs: leave it out")
    return seconds


@triton.jit
def gave_up(members):
    """Whether a wait before this has given up, the same for all threads of a program: then what has come is nothing to
    take an address or a bound from.
    """
    state = members.to(tl.pointer_type(tl.int64), bitcast=True) - RECORD_WORDS + STATE_WORD
    # Loads of the threads could differ.
    return tl.atomic_or(state, 0, sem="relaxed") != 0


class Deadline:
    """The record of the waits of a communicator or a transport (`whose`), or of those that recover it.

    `memory` is the record on the heap, at the same place of all members; `locate` says what lies a number of bytes
    after `first`, an address. `numbers` are what the members are called, if not by their own numbers.
    """

    def __init__(self, world, members, me, memory, first, locate, seconds, whose="communicator", numbers=None):
        self.world, self.members, self.me, self.whose = world, members, me, whose
        self.memory, self.first, self.locate, self.seconds = memory, first, locate, seconds
        self.numbers = range(len(members)) if numbers is None else numbers
        # The call that all of them are a part of, if it is not their own.
        self.called = None
        self.is_on = seconds < math.inf
        on_gpu = world.device.type != "cpu"
        # Which a kernel can write to, and the host can read while it runs.
        self.host = torch().zeros(1, dtype=torch().int64, device="cpu", pin_memory=on_gpu)
        self.state = ctypes.c_int64.from_address(self.host.data_ptr())
        self.error = None
        words = [0] * WORD["words"]
        words[WORD["limit"]] = int(seconds * 1e9) if self.is_on else FOR_EVER
        words[WORD["host"]], words[WORD["base"]] = self.host.data_ptr(), first
        self.good = torch().tensor(words, dtype=torch().int64, device=world.device)
        memory.copy_(self.good)

    def tag(self, call):
        """What a kernel gets as WATCH."""
        return TAGS[self.called or call] if self.is_on else 0

    def check(self):
        """Raises what has gone wrong so far, without waiting for the device while all is well."""
        if self.state.value:
            self._raise()

    def synchronize(self):
        """The same after the device has finished all of its work, and looks at the other ranks too."""
        self.world._synchronize()
        if not self.state.value and self.is_on:
            self.state.value = self._state_of_all()
        self.check()

    def reset(self):
        """Makes the record good; nobody waits."""
        self.memory.copy_(self.good)
        self.world._synchronize()
        self.state.value, self.error = 0, None

    def _state_of_all(self):
        mine = self._words(self.me)[WORD["state"]]
        if mine:
            return mine
        # Another rank may have told one that has written its own record: the state does not say that it has.
        broken = (peer for peer in range(len(self.members)) if self._words(peer)[WORD["tag"]])
        return next((TOLD + peer for peer in broken), 0)

    def _words(self, member):
        return _host_kernels.words_of(self.world, self.memory, self.members[member])

    def _raise(self):
        if self.error is None:
            if self.world.device.type != "cpu" and torch().cuda.is_current_stream_capturing():
                message = f"this {self.whose} is broken: end the capture, and call check() for what has happened"
                raise CollectiveTimeoutError(message)
            # Its waits leave at once.
            self.world._synchronize()
            state = self.state.value
            if state == BROKEN:
                self._tell()
            self.error = self._described(self.me if state == BROKEN else state - TOLD)
        raise CollectiveTimeoutError(*self.error)

    def _tell(self):
        """Ends the waits of all members."""
        for peer, rank in enumerate(self.members):
            if peer != self.me:
                _host_kernels.set_word(self.world, self.memory, WORD["state"], TOLD + self.me, rank)
        self.world._synchronize()

    def _described(self, rank):
        """The error in a rank's record."""
        return self.described(self.numbers[rank], self._words(rank), self.numbers)

    def described(self, rank, words, numbers):
        """The error that the record of a rank says, whose members have these numbers."""
        tag, address, expected, seen = (words[WORD[name]] for name in ("tag", "address", "expected", "seen"))
        calls = {number: call for call, number in TAGS.items()}
        place = self.locate(address - words[WORD["base"]])
        if tag not in calls or place is None:
            return (f"rank {rank} has given up a call, and has recovered since: call recover on all ranks",)
        source = numbers[place.source]
        found = f"has number {seen}, not {expected}" if getattr(place, "is_numbered", True) else "has not come"
        message = (
            f"{calls[tag]}: rank {rank} has waited {self.seconds:g} s for rank {source}: its {place.what} {found}. "
            f"The {self.whose} is broken: call recover() on all ranks, or close it"
        )
        return message, calls[tag], rank, source, place.what, expected, seen
