"""The heaps of ranks that are all in this process, and their places in the run."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from .. import _open
from .._symm import BARRIERS, PRIVATE_HEAPS, RESERVED_BYTES, TABLE_HEADER_WORDS, TABLE_OFFSET
from ..errors import ArgumentError, HeapExhaustedError, MismatchError

ALIGN = 256
# Linux's MAP_NORESERVE, which Python has a name for since 3.11.
NO_RESERVE = 0x4000
# Added to the number of a run, the checker's number of its barriers on devices.
DEVICE = 1 << 32
# What reports call the kernel in which a team's hosts meet.
TEAM_BARRIER = "the team's barrier"


class Heaps:
    """Memory for the heaps, which all executions use."""

    def __init__(self, ranks):
        self.ranks = ranks
        # For each world that a rank joins, the memory of each rank's heap, and how large they are.
        self.worlds: list[tuple[list, int]] = []
        # The ranks of teams that have met in kernels, by the heap and the place of the flags of their barriers.
        self.members: dict[tuple[int, int], tuple[int, ...]] = {}

    def clear(self):
        for maps, _ in self.worlds:
            for each in maps:
                each.madvise(mmap.MADV_DONTNEED)

    def runs(self):
        return Runs(self)

    def of(self, world, size):
        """The memory of a world's heaps, and their addresses."""
        if world == len(self.worlds):
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
            try:
                # Aligned, with the flags of barriers after it: before the first tensor no access is right.
                bytes_of_one = RESERVED_BYTES + size + TABLE_OFFSET
                made = [mmap.mmap(-1, bytes_of_one, flags=flags) for _ in range(self.ranks)]
            except (OSError, OverflowError) as error:
                raise ArgumentError(f"symm.init: {self.ranks} heaps of {size} bytes: {error}") from None
            self.worlds.append((made, size))
        maps, known = self.worlds[world]
        if known != size:
            raise MismatchError(f"symm.init: ranks gave heaps of different sizes: {known} and {size} bytes")
        first = [ctypes.addressof(ctypes.c_char.from_buffer(each)) for each in maps]
        return maps, [-(-address // RESERVED_BYTES) * RESERVED_BYTES for address in first]


class Runs(list):
    """The worlds that ranks have joined in one execution."""

    def __init__(self, heaps):
        super().__init__()
        self.heaps = heaps
        # How often each program has met those of its number.
        self.epochs: dict[tuple, int] = {}
        # Of each rank the pieces of memory of its own: where they are for the checker, and their names.
        self.private: dict[int, dict] = {}
        # Of these pieces, by heap and place, how many bytes an element has.
        self.widths: dict[tuple[int, int], int] = {}
        self.hosts_ended: set[int] = set()

    def join(self, task, size):
        """The place of a task's rank in its next world."""
        number, task.joined = task.joined, task.joined + 1
        if number == len(self):
            self.append(Run(number, self.heaps, size))
        elif self[number].size != size:
            raise MismatchError(f"symm.init: ranks gave heaps of different sizes: {self[number].size} and {size} bytes")
        run = self[number]
        for rank, base in enumerate(run.bases):
            flags = base + run.size, TABLE_OFFSET, run.heap(rank), BARRIERS, False
            task.regions += [(base, run.size, run.heap(rank), 0, True), flags]
        run.called[task.rank] = 0
        return Rank(run, task)

    def meets(self, rank, me, bases):
        """Notes whose flags are where a team's rank comes to its barrier, in a kernel or in one that its host calls."""
        for run in self:
            heaps = [range(base, base + run.size) for base in run.bases]
            place = run.heap(rank), bases[me] - run.bases[rank]
            if bases[me] in heaps[rank] and place not in self.heaps.members:
                ranks = [next(rank for rank, heap in enumerate(heaps) if base in heap) for base in bases]
                self.heaps.members[place] = tuple(ranks)

    def ended(self, rank):
        """A rank's host has come to its end. When all have, they have made the same calls."""
        self.hosts_ended.add(rank)
        if len(self.hosts_ended) < self.heaps.ranks:
            return
        for run in self:
            run.check_end()


class Run:
    """One world: what its ranks have allocated and told each other."""

    def __init__(self, number, heaps, size):
        self.number, self.ranks, self.size = number, heaps.ranks, size
        self.maps, self.bases = heaps.of(number, size)
        self.allocations: list[tuple] = []
        self.end = RESERVED_BYTES
        # What all ranks call, in the order of whoever was first, with that rank and its place; how many each has made.
        self.calls: list[tuple[str, int, str]] = []
        self.called: dict[int, int] = {}
        self.messages: dict[int, bytes] = {}
        # The World of one of its ranks, which names its tensors.
        self.world: Any = None

    def heap(self, rank):
        """The checker's number of a rank's heap."""
        return self.number * self.ranks + rank

    def call(self, rank, what, place):
        """Notes a rank's next call of those that all ranks make, in one order."""
        nth = self.called[rank]
        self.called[rank] += 1
        if nth == len(self.calls):
            self.calls.append((what, rank, place))
        known, who, where = self.calls[nth]
        if known != what:
            told = f"\n  rank {who} at {where}: {known}\n  rank {rank} at {place}: {what}"
            raise MismatchError(f"ranks call different things: all call the same ones, in the same order{told}")

    def check_end(self):
        """An error if a rank has made fewer calls than another one."""
        for rank in range(self.ranks):
            nth = self.called.get(rank, 0)
            if rank not in self.called:
                raise MismatchError(f"rank {rank} has come to its end without a call of symm.init, which others made")
            if nth < len(self.calls):
                what, who, where = self.calls[nth]
                told = f"\n  rank {who} at {where}: {what}\n  rank {rank} has come to its end"
                raise MismatchError(f"ranks call different things: all call the same ones, in the same order{told}")


class Rank:
    """What a World asks of its rank: `symm._symm.Rank` says what each method is."""

    def __init__(self, run, task):
        self._run, self._of = run, task
        self.rank, self.num_ranks, self.heap_size = task.rank, run.ranks, run.size
        self.heap_bases = run.bases
        self._words = (ctypes.c_int64 * (TABLE_HEADER_WORDS + run.ranks))(task.rank, run.ranks, *run.bases)
        self.table = ctypes.addressof(self._words)
        self._allocated = self._told = 0

    @property
    def _task(self):
        self._of.check_caller()
        return self._of

    def is_symmetric(self, address):
        return 0 <= address - self.heap_bases[self.rank] < self.heap_size

    def as_remote(self, address, rank):
        return address - self.heap_bases[self.rank] + self.heap_bases[rank]

    def hold(self):
        return self._run.maps, self._words

    def check(self):
        self._of.check_caller()

    def end(self, reason):
        pass

    def alloc(self, size, call, place):
        run, nth = self._run, self._allocated
        run.call(self.rank, "makes a tensor", place)
        run.world = next((world for world in _open.worlds if world._rank is self), run.world)
        if nth == len(run.allocations):
            offset = run.end
            if offset + size > run.size:
                raise HeapExhaustedError(f"{call}: {size} bytes, and the heap has {run.size - offset} left")
            run.end = -(-(offset + size) // ALIGN) * ALIGN
            run.allocations.append((offset, size, call, place, self.rank))
        self._allocated += 1
        offset, known, said, where, who = run.allocations[nth]
        if (known, said) != (size, call):
            told = f"\n  rank {who} at {where}: {said}\n  rank {self.rank} at {place}: {call}"
            raise MismatchError(f"ranks make different tensors: all make the same ones, in the same order{told}")
        # Whoever comes first allocates on all ranks: nobody waits for the others here, and others may be ahead.
        for rank, base in enumerate(run.bases):
            self._task.regions.append((base + offset, size, run.heap(rank), offset, False))
        return run.bases[self.rank] + offset

    def free(self, address, place):
        self._run.call(self.rank, f"frees what is at heap+{address - self.heap_bases[self.rank]:#x}", place)

    def barrier(self, place, call="World.barrier"):
        self._run.call(self.rank, call, place)
        self._meet()

    def stream_barrier(self, stream, place):
        # Hosts need not come to it in the order of their other calls.
        self._meet(DEVICE)

    def _meet(self, kind=0):
        self._task.ask(("barrier", kind + self._run.number, self.num_ranks))

    def broadcast(self, root, data, call, place):
        self._run.call(self.rank, f"a broadcast from rank {root}", place)
        number, self._told = self._told, self._told + 1
        if root == self.rank:
            self._run.messages[number] = data
        self._meet()
        return self._run.messages[number]

    def leave(self, place):
        self._run.call(self.rank, "World.close", place)
        self._meet()


def with_width(task, region):
    """A piece of memory, and how many bytes an element of its tensor has."""
    _, _, heap, start, is_heap = region
    runs = task.execution.runs
    width = runs.widths.get((heap, start), 1)
    if heap < PRIVATE_HEAPS and not is_heap and (world := runs[heap // runs.heaps.ranks].world) is not None:
        _, width, *_ = world._made_at.get(start, (0, width))
    return *region, width


def private(task, tensors):
    """The pieces of memory of a rank's own tensors that a kernel gets: names of arguments, addresses, sizes, and how
    many bytes an element has.
    """
    known = task.execution.runs.private.setdefault(task.rank, {})
    found = []
    heap = PRIVATE_HEAPS + task.rank
    for name, address, size, width in tensors:
        if (address, size) not in known:
            end = max((start + known_size for (_, known_size), (start, _) in known.items()), default=0)
            known[address, size] = -(-end // ALIGN) * ALIGN, name
        start, _ = known[address, size]
        task.execution.runs.widths[heap, start] = width
        found.append((address, size, heap, start, False))
    return found
