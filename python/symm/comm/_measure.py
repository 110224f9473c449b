"""The tuner's ranks: each candidate is checked, then measured."""

import functools
import os
import statistics
import sys
import time

import symm

from .._memory import torch
from ..errors import SymmError
from ._candidates import candidates
from ._geometry import SHARE, USUAL, more_floats
from ._plan import usable
from .communicator import Communicator

SUMS = ("all_reduce", "reduce_scatter")
# Of those that take at most this many times the fastest's, the one with the fewest programs is taken.
WITHIN = 1.025
# A direct algorithm is taken if it is so much faster between tensors on the heap, and so little slower elsewhere.
GAIN, LOSS = 0.95, 1.20
# Bytes that a graph moves, about; and how many calls it has.
GRAPH_BYTES, LEAST_CALLS, MOST_CALLS = 32 << 20, 2, 50
POISON = 0x5A


def elements(call, nbytes, dtype, ranks):
    """The elements of a message of a collective of this many bytes a rank, and those that a rank gives and takes."""
    count = max(1, nbytes // dtype.itemsize // ranks) * ranks
    message = count // ranks if call in ("reduce_scatter", "all_to_all") else count
    taken = count * ranks if call == "all_gather" else message if call == "reduce_scatter" else count
    return message, count, taken


def tried(call, dtype, message, ranks, geometry, only=None):
    """The choices for a message of this many elements, of the algorithms that are asked for, and its bytes."""
    reduces, item, count = call in SUMS, dtype.itemsize, message
    if not reduces:
        # As what is only moved is moved.
        count, item = (count * item // 8, 8) if count * item % 8 == 0 else (count, item)
    found = candidates(call, ranks, count, item, geometry, reduces)
    if not dtype.is_floating_point:
        found = [choice for choice in found if choice.algorithm != "floats"]
    return [choice for choice in found if not only or choice.algorithm in only], count * item


class Case:
    """A collective of this many bytes a rank, with its tensors on the heap and beside it."""

    def __init__(self, world, comm, call, nbytes, dtype, heap):
        self.world, self.comm, self.call, self.dtype = world, comm, call, dtype
        self.me, self.ranks = comm.get_rank(), comm.get_num_ranks()
        self.message, self.given, self.taken = elements(call, nbytes, dtype, self.ranks)
        place = [each[: n * dtype.itemsize].view(dtype) for each, n in zip(heap, (self.given, self.taken), strict=True)]
        beside = [torch().empty(n, dtype=dtype, device=world.device) for n in (self.given, self.taken)]
        self.tensors = {False: beside, True: place}
        self.wrong = torch().zeros(1, dtype=torch().int64, device=world.device)

    def data(self, rank, turn, part=slice(None)):
        """What a rank gives in a turn: small numbers, whose sums are exact in every element type."""
        at = torch().arange(self.given, device=self.world.device, dtype=torch().int32)[part]
        return ((at * 7 + at // 61 + rank * 13 + turn * 5) % 9).to(self.dtype)

    def expected(self, turn):
        mine = slice(self.me * self.message, (self.me + 1) * self.message)
        everybody = range(self.ranks)
        if self.call in SUMS:
            part = mine if self.call == "reduce_scatter" else slice(None)
            return functools.reduce(torch().add, (self.data(rank, turn, part) for rank in everybody))
        if self.call == "broadcast":
            return self.data(0, turn)
        part = mine if self.call == "all_to_all" else slice(None)
        return torch().cat([self.data(rank, turn, part) for rank in everybody])

    def act(self, on_heap):
        inp, out = self.tensors[on_heap]
        if self.call == "broadcast":
            self.comm.broadcast(inp, 0)
        else:
            getattr(self.comm, self.call)(inp, out=out)

    def check(self, on_heap, turns):
        """Whether calls with new data in poisoned outputs are right on all ranks, bit for bit."""
        inp, out = self.tensors[on_heap]
        self.wrong.zero_()
        for turn in turns:
            out.view(torch().uint8).fill_(POISON)
            inp.copy_(self.data(self.me, turn))
            if self.call == "broadcast" and self.me:
                inp.view(torch().uint8).fill_(POISON)
            self.act(on_heap)
            got = inp if self.call == "broadcast" else out
            bits = [each.view(torch().uint8) for each in (got, self.expected(turn))]
            self.wrong.add_((bits[0] != bits[1]).sum())
        return all(self.world.broadcast(self.wrong.item() == 0, rank) for rank in range(self.ranks))

    def microseconds(self, on_heap, rounds):
        """The median over the rounds of what the slowest rank takes for a call."""
        if self.world.device.type == "cpu":
            taken = [self._eager(on_heap) for _ in range(rounds)]
        else:
            taken = self._replayed(on_heap, rounds)
        median = statistics.median(taken)
        return max(self.world.broadcast(median, rank) for rank in range(self.ranks))

    def _eager(self, on_heap):
        self.world.barrier()
        begin = time.perf_counter()
        self.act(on_heap)
        return 1e6 * (time.perf_counter() - begin)

    def _replayed(self, on_heap, rounds):
        cuda = torch().cuda
        times = max(LEAST_CALLS, min(MOST_CALLS, GRAPH_BYTES // (self.given * self.dtype.itemsize)))
        cuda.synchronize()
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            for _ in range(times):
                self.act(on_heap)
        graph.replay()
        taken = []
        for _ in range(rounds):
            cuda.synchronize()
            self.world.barrier()
            begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            taken.append(1e3 * begin.elapsed_time(end) / times)
        return taken


class Progress:
    """A line on the terminal that says how far the tuner is."""

    def __init__(self, total, shown):
        self.total, self.done, self.shown, self.begun = total, 0, shown, time.monotonic()

    def step(self, what):
        self.done += 1
        if self.shown:
            filled = 30 * self.done // self.total
            left = (time.monotonic() - self.begun) / self.done * (self.total - self.done)
            bar = f"[{'#' * filled}{'.' * (30 - filled)}] {self.done}/{self.total}"
            end = "\n" if self.done == self.total else ""
            print(f"\r{bar} {what:<40} {left:4.0f} s left ", end=end, file=sys.stderr, flush=True)


def best(measured):
    """Of {choice: microseconds}, what is within reach of the fastest and takes the fewest programs."""
    fastest = min(measured.values())
    near = [choice for choice, taken in measured.items() if taken <= WITHIN * fastest]
    return min(near, key=lambda choice: (choice.programs, measured[choice]))


def chosen(beside, heap):
    """The choice for a message, from the times with tensors beside the heap and with tensors on it."""
    slots = {choice: taken for choice, taken in beside.items() if not choice.algorithm.startswith("direct")}
    if not slots:
        return best(heap)
    usual = best(slots)
    direct = {choice: taken for choice, taken in heap.items() if beside[choice] <= LOSS * slots[usual]}
    if direct and min(direct.values()) <= GAIN * slots[usual]:
        return best(direct)
    return usual


def plans(options):
    """What is tuned: a collective, the elements that it sums or moves, and the bytes that a rank gives."""
    for call in options.calls:
        for dtype in options.dtypes if call in SUMS else ["bfloat16"]:
            for nbytes in options.sizes:
                yield call, getattr(torch(), dtype), nbytes


class Tuner:
    def __init__(self, options, world):
        self.options, self.world = options, world
        self.comm = Communicator(world, blocks=options.blocks, staging=options.staging, check=False)
        self.calls, self.turn = self.comm._calls, 0
        largest = max(options.sizes) + 64
        if "all_gather" in options.calls:
            largest *= options.ranks
        self.heap = [world.empty(largest, dtype=torch().uint8) for _ in range(2)]

    def use(self, choice):
        """Makes the communicator use a choice for all calls."""
        self.calls.made.clear()
        self.calls.choose = lambda *message, **_: usable(choice, *message)

    def measure(self, case, choice, on_heap):
        """Microseconds of a choice; an error if it gives wrong results."""
        self.use(choice)
        turns = range(self.turn, self.turn + self.options.checks)
        self.turn += self.options.checks
        if not case.check(on_heap, turns):
            what = f"{case.call} of {case.given} elements of {case.dtype}"
            raise SymmError(f"{what} is wrong with {choice}: please report this; no table was written")
        return case.microseconds(on_heap, self.options.rounds)

    def rows(self, plan, progress):
        call, dtype, nbytes = plan
        case = Case(self.world, self.comm, call, nbytes, dtype, self.heap)
        geometry = self.calls.geometry
        found, message = tried(call, dtype, case.message, case.ranks, geometry, self.options.only)
        beside = {choice: self.measure(case, choice, False) for choice in found}
        heap = {choice: self.measure(case, choice, True) for choice in found if choice.algorithm.startswith("direct")}
        progress.step(f"{call} {dtype} {nbytes}".replace("torch.", ""))
        if not found:
            return []
        choices = [chosen(beside, heap)]
        others = {choice: taken for choice, taken in beside.items() if choice.algorithm != "floats"}
        if choices[0].algorithm == "floats" and others and (other := chosen(others, heap)).algorithm != "packets":
            # For elements that are no floats, and communicators without lines for them.
            choices.append(other)
        what = {"ranks": case.ranks, "call": call, "element_bytes": dtype.itemsize if call in SUMS else 0,
                "bytes": message}  # fmt: skip
        rows = [{**what, **choice._asdict(), "microseconds": round(heap.get(choice, beside[choice]), 2)}
                for choice in choices]  # fmt: skip
        if self.options.all:
            rows[0]["tried"] = [[*each, round(us, 2), round(heap.get(each, 0), 2)] for each, us in beside.items()]
        return rows


def tune(options):
    """Tunes what the options say, on all ranks; returns the table on rank 0."""
    on_gpu = os.environ.get("TRITON_INTERPRET") != "1"
    rank = int(os.environ["RANK"])
    if on_gpu:
        torch().cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)) % torch().cuda.device_count())
    joined = options.ranks if "all_gather" in options.calls else 1
    # What is tuned is a communicator of the usual size.
    usual = USUAL[max(USUAL)] * options.ranks + more_floats(options.ranks, max(USUAL))
    staging = options.staging or SHARE * usual
    needed = 2 * joined * max(options.sizes) + staging + (64 << 20)
    world = symm.init(heap_size=-(-needed // (2 << 20)) * (2 << 20))
    tuner = Tuner(options, world)
    wanted = list(plans(options))
    progress = Progress(len(wanted), rank == 0)
    rows = [row for plan in wanted for row in tuner.rows(plan, progress)]
    device = torch().cuda.get_device_name() if on_gpu else "interpreter"
    del tuner
    world.close()
    return {"device": device, "rows": rows} if rank == 0 else None
