"""Collectives of ranks in domains: within a domain as everywhere, between domains by put, signal and wait.

A rank's *place* is its number in its domain. What goes between domains goes between ranks of one place, so that a rank
sends as few messages there as there are domains, and no data twice to one domain. An all-reduce is a sum of a shard by
each rank of a domain, a sum of each shard over the domains, and an all-gather in each domain.
"""

import math
from typing import NamedTuple

from .. import _host_kernels
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
        """Seconds for messages of this many bytes, one after the other."""
        return self.latency + messages * (self.gap + nbytes / self.bandwidth) if messages else 0.0


NEAR, FAR = Link(1.978e-6, 0.022e-6, 368e9), Link(5e-6, 0.5e-6, 50e9)


class Costs:
    """What the model expects of a call of `size` ranks in domains, of which each rank sends or gets parts of some size:
    work on local memory takes no time, and a step of messages begins when the one before has ended.
    """

    def __init__(self, size, domain):
        self.size, self.domain, self.domains = size, domain, size // domain

    def near(self, nbytes):
        return NEAR.step(self.domain - 1, nbytes)

    def far(self, nbytes):
        return FAR.step(self.domains - 1, nbytes)

    def to_all(self, nbytes):
        return max(self.near(nbytes), FAR.step(self.size - self.domain, nbytes))

    def flat(self, call, nbytes):
        """Seconds of messages from rank to rank."""
        once = self.to_all(nbytes)
        return min(once, 2 * self.to_all(nbytes / self.size)) if call in ("all_reduce", "broadcast") else once

    def whole(self, nbytes, between):
        """Of a message that one rank of a domain has for all others, or gets of them."""
        return between(nbytes) + self.near(nbytes)

    def sharded(self, nbytes, between):
        """Of the same by all ranks of a domain, a shard each."""
        return 2 * self.near(nbytes / self.domain) + between(nbytes / self.domain)

    def between(self, call):
        """How long one message of a rank takes to those of its place: a broadcast may go in two steps of parts."""
        parted = call == "broadcast"
        return lambda nbytes: min(self.far(nbytes), 2 * self.far(nbytes / self.domains)) if parted else self.far(nbytes)

    def staged(self, call, nbytes):
        """Seconds in a hierarchy."""
        d, k = self.domain, self.domains
        if call == "all_reduce":
            between = min(self.far(nbytes / d), 2 * self.far(nbytes / self.size))
            return 2 * self.near(nbytes / d) + between
        if call in ("broadcast", "reduce"):
            return min(each(nbytes, self.between(call)) for each in (self.whole, self.sharded))
        return self.near(k * nbytes) + self.far(d * nbytes if call == "all_to_all" else nbytes)


def pays(call, size, domain, nbytes):
    """Whether the model expects a call with messages of `nbytes` to be faster in a hierarchy."""
    costs = Costs(size, domain)
    return costs.staged(call, nbytes) < costs.flat(call, nbytes)


def reach_of(world, members, number):
    """The consecutive members that are near the one of this number, itself among them: the first, and how many."""
    near = [world.is_near(member) or each == number for each, member in enumerate(members)]
    first = last = number
    while first > 0 and near[first - 1]:
        first -= 1
    while last + 1 < len(near) and near[last + 1]:
        last += 1
    return first, last + 1 - first


def domain_of(reaches, asked, is_split):
    """The ranks of a domain: what was asked for, or else as many as are near each other on every rank, given what each
    one reaches.
    """
    if asked is not None:
        return asked
    near = math.gcd(*(number for reach in reaches for number in reach))
    # All groups of a split take the same memory, so none has a hierarchy.
    return 1 if is_split and near < len(reaches) else near


def checked(domain, size):
    """The ranks of a domain, of `size` ranks in all, if that is given; raises ArgumentError."""
    if domain is None:
        return None
    if not isinstance(domain, int) or isinstance(domain, bool) or domain < 1 or size % domain:
        said = f"domain must be a number of ranks that divides {size}, the number of all, not {domain!r}"
        raise ArgumentError(f"Communicator: {said}")
    return domain


class Hierarchy:
    """What does a call in several, of the ranks of my domain and of those of my place.

    Parts for all ranks lie by domain and place. Those for one place, or from it, are put together first: `by_place`.
    """

    def __init__(self, whole, inner, outer):
        self.whole, self.inner, self.outer = whole, inner, outer
        self.costs = Costs(whole.size, inner.size)

    def takes(self, call, nbytes):
        """Whether messages of this many bytes go through it."""
        return pays(call, self.whole.size, self.inner.size, nbytes)

    def run(self, call, op, source, target, count, root):
        """Does a collective: `count` elements from each rank to each."""
        self.inner.deadline.called = self.outer.deadline.called = call
        source, target, root = source.view(-1), target.view(-1), divmod(root, self.inner.size)
        getattr(self, call)(op, source, target, count, root)

    def barrier(self):
        self.inner.deadline.called = self.outer.deadline.called = "barrier"
        self.inner.meet()
        # Who is here says that all of its domain are.
        self.outer.meet()

    def all_reduce(self, op, source, target, count, _root):
        shard, most, mine = self.shard_of(count)
        if shard:
            self.inner.run("reduce_scatter", op, source[:most], target[mine], shard)
            self.outer.run("all_reduce", op, target[mine], target[mine], shard)
            self.inner.run("all_gather", None, target[mine], target[:most], shard)
        if most < count:
            self.whole.run("all_reduce", op, source[most:], target[most:], count - most)

    def reduce_scatter(self, op, source, target, count, _root):
        places = self.by_place(source)
        mine = places[self.inner.rank]
        self.inner.run("reduce_scatter", op, places, mine, mine.numel())
        self.outer.run("reduce_scatter", op, mine, target, count)

    def all_gather(self, _op, source, target, count, _root):
        places = source.new_empty(self.inner.size, self.outer.size, count)
        mine = places[self.inner.rank]
        self.outer.run("all_gather", None, source, mine, count)
        self.inner.run("all_gather", None, mine, places, mine.numel())
        self.by_rank(target, places)

    def all_to_all(self, _op, source, target, count, _root):
        places = self.by_place(source)
        self.inner.run("all_to_all", None, places, places, places[0].numel())
        domains = places.transpose(0, 1).contiguous()
        self.outer.run("all_to_all", None, domains, target, domains[0].numel())

    def broadcast(self, _op, _source, target, count, root):
        domain, place = root
        shard, most, mine = self.shard_of(count, "broadcast", target.itemsize)
        if shard:
            if self.outer.rank == domain:
                self.inner.run("scatter", None, target[:most], target[mine], shard, place)
            self.outer.broadcast(target[mine], domain)
            self.inner.run("all_gather", None, target[mine], target[:most], shard)
        if most < count:
            if self.inner.rank == place:
                self.outer.broadcast(target[most:], domain)
            self.inner.broadcast(target[most:], place)

    def reduce(self, op, source, target, count, root):
        domain, place = root
        shard, most, mine = self.shard_of(count, "reduce", source.itemsize)
        if shard:
            total = source.new_empty(shard)
            self.inner.run("reduce_scatter", op, source[:most], total, shard)
            self.outer.run("reduce", op, total, total, shard, domain)
            if self.outer.rank == domain:
                self.inner.run("gather", None, total, target[:most], shard, place)
        if most < count:
            rest, takes = source[most:], self.inner.rank == place
            total = target[most:] if (self.outer.rank, self.inner.rank) == root else rest.new_empty(count - most)
            self.inner.run("reduce", op, rest, total, count - most, place)
            if takes:
                self.outer.run("reduce", op, total, total, count - most, domain)

    def gather(self, _op, source, target, count, root):
        domain, place = root
        if self.outer.rank != domain:
            return self.outer.run("gather", None, source, source, count, domain)
        mine = source.new_empty(self.outer.size, count)
        self.outer.run("gather", None, source, mine, count, domain)
        if self.inner.rank != place:
            return self.inner.run("gather", None, mine, mine, mine.numel(), place)
        places = source.new_empty(self.inner.size, self.outer.size, count)
        self.inner.run("gather", None, mine, places, mine.numel(), place)
        return self.by_rank(target, places)

    def scatter(self, _op, source, target, count, root):
        domain, place = root
        mine = target
        if self.outer.rank == domain:
            mine = source.new_empty(self.outer.size, count)
            given = self.by_place(source) if self.inner.rank == place else mine
            self.inner.run("scatter", None, given, mine, mine.numel(), place)
        self.outer.run("scatter", None, mine, target, count, domain)

    def by_place(self, parts):
        """A copy of all ranks' parts, one place after the other."""
        return parts.view(self.outer.size, self.inner.size, -1).transpose(0, 1).contiguous()

    def by_rank(self, target, places):
        """Copies parts that lie one place after the other to where those of all ranks are."""
        target.view(self.outer.size, self.inner.size, -1).copy_(places.transpose(0, 1))

    def shard_of(self, count, call=None, itemsize=0):
        """The elements of a rank's shard, of all shards, and mine; for a call of one rank's there are none where it is
        expected to be faster that one rank of each domain has all.
        """
        size, place = self.inner.size, self.inner.rank
        shard = count // size
        message = count * itemsize, self.costs.between(call)
        if call and self.costs.whole(*message) <= self.costs.sharded(*message):
            shard = 0
        return shard, shard * size, slice(place * shard, (place + 1) * shard)


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
        """The same after the device has finished all of its work, and looks at the other ranks too."""
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
        """Ends the waits of all ranks, in all parts."""
        whole = self.whole
        for number, rank in enumerate(whole.members):
            for deadline in self.each if number != whole.me else ():
                _host_kernels.set_word(whole.world, deadline.memory, WORD["state"], TOLD + whole.me, rank)
        whole.world._synchronize()

    def _found(self, rank):
        """The first part in which a rank has given up, with its record and who is in it; None if there is none."""
        first = rank // self.domain * self.domain
        numbers = range(len(self.whole.members))
        for deadline, members in zip(self.each, (numbers, numbers[first : first + self.domain],
                                                 numbers[rank % self.domain :: self.domain])):  # fmt: skip
            words = _host_kernels.words_of(self.whole.world, deadline.memory, self.whole.members[rank])
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
