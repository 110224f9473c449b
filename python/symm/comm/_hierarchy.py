"""All-reduce of ranks in domains: within a domain as everywhere, between domains by put, signal and wait.

A rank's *place* is its number in its domain. The ranks of a domain sum a shard each; those of one place sum their shard
over the domains; then the ranks of a domain give each other their shards.
"""

from typing import NamedTuple

from .._memory import torch
from ..errors import ArgumentError, CollectiveTimeoutError
from ._deadline import BROKEN, TOLD, WORD


class Link(NamedTuple):
    """Seconds until a message has arrived whose last byte is sent, seconds that each keeps the sender, bytes a second.

    docs/scale.md says where the numbers are from.
    """

    latency: float
    gap: float
    bandwidth: float

    def step(self, messages, nbytes):
        """Seconds for messages of so many bytes, one after the other."""
        return self.latency + messages * (self.gap + nbytes / self.bandwidth) if messages else 0.0


NEAR, FAR = Link(1.923e-6, 0.0245e-6, 368e9), Link(5e-6, 0.5e-6, 50e9)


def pays(size, domain, nbytes):
    """Whether the model expects an all-reduce of `nbytes` of each rank to be faster in a hierarchy."""
    domains = size // domain

    def to_all(each):
        return max(NEAR.step(domain - 1, each), FAR.step(size - domain, each))

    flat = min(to_all(nbytes), 2 * to_all(nbytes / size))
    between = min(FAR.step(domains - 1, nbytes / domain), 2 * FAR.step(domains - 1, nbytes / size))
    return 2 * NEAR.step(domain - 1, nbytes / domain) + between < flat


def checked(domain, size):
    """The ranks of a domain, of `size` ranks in all; raises ArgumentError."""
    if domain is None:
        return size
    if not isinstance(domain, int) or isinstance(domain, bool) or domain < 1 or size % domain:
        said = f"domain must be a number of ranks that divides {size}, the number of all, not {domain!r}"
        raise ArgumentError(f"Communicator: {said}")
    return domain


class Hierarchy:
    """What does an all-reduce in three calls: of the ranks of my domain, of those of my place, and of the former."""

    def __init__(self, whole, inner, outer):
        self.whole, self.inner, self.outer = whole, inner, outer
        inner.deadline.called = outer.deadline.called = "all_reduce"

    def takes(self, call, nbytes):
        return call == "all_reduce" and pays(self.whole.size, self.inner.size, nbytes)

    def all_reduce(self, op, source, target, count):
        source, target = source.view(-1), target.view(-1)
        shard = count // self.inner.size
        most = shard * self.inner.size
        mine = target[self.inner.rank * shard : (self.inner.rank + 1) * shard]
        if shard:
            self.inner.run("reduce_scatter", op, source[:most], mine, shard)
            self.outer.run("all_reduce", op, mine, mine, shard)
            self.inner.run("all_gather", None, mine, target[:most], shard)
        if most < count:
            self.whole.run("all_reduce", op, source[most:], target[most:], count - most)


class Deadlines:
    """The deadlines of a communicator and of the two parts of its hierarchy: what one waits for in vain breaks all.

    Ranks are numbers of the communicator.
    """

    def __init__(self, hierarchy):
        self.whole = hierarchy.whole.deadline
        self.each = self.whole, hierarchy.inner.deadline, hierarchy.outer.deadline
        self.domain, self.error = hierarchy.inner.size, None

    def check(self):
        """Raises what has gone wrong so far, without waiting for the device while all is well."""
        if any(deadline.state.value for deadline in self.each):
            self._raise()

    def synchronize(self):
        """The same after the device has done all that it was given, and looking at the other ranks, too."""
        whole = self.whole
        whole.world._synchronize()
        if whole.is_on and not any(deadline.state.value for deadline in self.each):
            ranks = (whole.me, *(rank for rank in range(len(whole.members)) if rank != whole.me))
            broken = (rank for rank in ranks if self._found(rank) is not None)
            whole.state.value = next((BROKEN if rank == whole.me else TOLD + rank for rank in broken), 0)
        self.check()

    def reset(self):
        self.error = None

    def _raise(self):
        whole = self.whole
        if self.error is None:
            if whole.world.device.type != "cpu" and torch().cuda.is_current_stream_capturing():
                message = "this communicator is broken: end the capture, and call check() for what has happened"
                raise CollectiveTimeoutError(message)
            # Its waits leave at once.
            whole.world._synchronize()
            states = [deadline.state.value for deadline in self.each if deadline.state.value]
            if BROKEN in states:
                self._tell()
            self.error = self._described(whole.me if BROKEN in states else states[0] - TOLD)
        raise CollectiveTimeoutError(*self.error)

    def _tell(self):
        """Has the waits of all ranks leave, in all parts."""
        whole = self.whole
        for number, rank in enumerate(whole.members):
            for deadline in self.each if number != whole.me else ():
                whole.world.as_remote(deadline.memory, rank)[WORD["state"]] = TOLD + whole.me
        whole.world._synchronize()

    def _found(self, rank):
        """The first part in which a rank has given up, with its record and who is in it; None if there is none."""
        first = rank // self.domain * self.domain
        numbers = range(len(self.whole.members))
        for deadline, members in zip(self.each, (numbers, numbers[first : first + self.domain],
                                                 numbers[rank % self.domain :: self.domain])):  # fmt: skip
            memory = deadline.memory
            if rank != self.whole.me:
                memory = self.whole.world.as_remote(memory, self.whole.members[rank])
            words = memory.tolist()
            if words[WORD["tag"]]:
                return deadline, words, members
        return None

    def _described(self, rank):
        deadline, words, members = self._found(rank) or (self.whole, [0] * WORD["words"], ())
        return deadline.described(rank, words, members)


class Recoveries:
    """The ways back of all parts, one after the other; one that was given up is taken up again."""

    def __init__(self, recoveries, deadlines):
        self.recoveries, self.deadlines, self.next = recoveries, deadlines, 0

    def run(self):
        while self.next < len(self.recoveries):
            self.recoveries[self.next].run()
            self.next += 1
        self.next = 0
        self.deadlines.reset()
