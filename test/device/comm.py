#!/usr/bin/env python3
"""Runs collectives on GPUs: random calls, sizes, operations, element types, streams and graphs, every element checked.

    python3 test/device/comm.py --wheel target/wheels/symm-*.whl --ranks 2 4 --calls 1000000 --replays 10000
    python3 test/device/comm.py --wheel target/wheels/symm-*.whl --replays 10000 --graphs 10 --in-graph 100
    python3 test/device/comm.py --wheel target/wheels/symm-*.whl --ranks 2 4 --faults
    python3 test/device/comm.py --wheel target/wheels/symm-*.whl --ranks 2 4 --domain 1 --calls 100000
    python3 test/device/comm.py --wheel target/wheels/symm-*.whl --ranks 2 --domain 1 --engine nvshmem --replays 1000

Each rank is a process. It needs torch and Triton; nothing is installed. Prints a line for each run, and what failed.
`--faults` has ranks not come, in calls and in graphs, and all recover (test/python/ranks/comm_deadline.py).
The exit status is 1 if anything failed. `--device cpu` tries the script itself, under Triton's interpreter.
"""

import itertools
import os
import sys
import time
from pathlib import Path

from random_calls import SIZES, RandomCalls, parser_of, run_all

# What torch and symm are for is in `Calls`; the launcher below needs neither.
FLOATS = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]
CALLS = ["all_reduce", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather",
         "scatter", "barrier", "all_to_all_v"]  # fmt: skip


class Calls(RandomCalls):
    """Random collectives, on numbers so small that every sum is exact."""

    def __init__(self, world, comm, options, largest):
        super().__init__(world.device, options.seed, largest, options.each)
        self.dtypes = options.dtypes
        self.world, self.comm, self.me, self.ranks = world, comm, comm.get_rank(), comm.get_num_ranks()
        self.heap = [world.zeros(8 * largest * self.ranks, dtype=self.torch.uint8) for _ in range(2)]

    def data(self, rank, count, dtype, high, first=0):
        at = self.torch.arange(first, first + count, device=self.device)
        return ((at * 7 + rank * 13 + self.turn * 5 + at // 97) % high + (high == 2)).to(dtype)

    def place(self, count, dtype, which, offset):
        """A tensor on the heap or beside it, at some alignment."""
        torch = self.torch
        if which < 2:
            return self.heap[which][: count * dtype.itemsize].view(dtype)
        return torch.empty(count + offset, dtype=dtype, device=self.device)[offset:]

    def one(self):
        torch, draw, comm = self.torch, self.random, self.comm
        call, name = draw.choice(CALLS), draw.choice(self.dtypes)
        dtype = getattr(torch, name)
        averages = ["avg"] if name in FLOATS and self.ranks in (1, 2, 4) else []
        op = draw.choice(["sum", "min", "max", "prod", *averages])
        root, size = draw.randrange(self.ranks), draw.choice(self.sizes)
        on_heap, offsets, in_place = draw.random() < 0.3, (draw.randrange(5), draw.randrange(5)), draw.random() < 0.4
        self.what = f"{call} {op} of {size} {name}, root {root}, on the heap {on_heap}, {offsets}, in place {in_place}"
        self.turn.add_(1)
        if call == "barrier":
            comm.barrier()
            return
        parts = self.ranks if call in ("reduce_scatter", "all_to_all", "scatter") else 1
        joined = self.ranks if call in ("all_gather", "all_to_all", "gather") else 1
        count, high = size, 2 if op == "prod" and call in ("all_reduce", "reduce_scatter", "reduce") else 4
        inp = self.place(count * parts, dtype, 0 if on_heap else 2, offsets[0])
        inp.copy_(self.data(self.me, count * parts, dtype, high))
        if call in ("all_reduce", "broadcast", "reduce") and (in_place or call == "broadcast"):
            out = inp
        else:
            out = self.place(count * joined, dtype, 1 if on_heap else 2, offsets[1])
            out.view(torch.uint8).fill_(0x5A)
        mine = range(self.ranks)
        if call == "all_to_all_v":
            self.ragged(size, dtype)
            return
        if call in ("all_reduce", "reduce", "reduce_scatter"):
            options = {"root": root} if call == "reduce" else {}
            getattr(comm, call)(inp, op=op, out=out, **options)
            if call == "reduce" and self.me != root:
                return
            first = self.me * count if call == "reduce_scatter" else 0
            all_of = torch.stack([self.data(rank, count, torch.float64, high, first) for rank in mine])
            sums = {"sum": lambda: all_of.sum(0), "avg": lambda: all_of.mean(0), "prod": lambda: all_of.prod(0),
                    "min": lambda: all_of.amin(0), "max": lambda: all_of.amax(0)}  # fmt: skip
            wanted = sums[op]() if count else all_of[0]
        elif call == "all_gather":
            comm.all_gather(inp, out=out)
            wanted = torch.cat([self.data(rank, count, dtype, high) for rank in mine])
        elif call == "all_to_all":
            comm.all_to_all(inp, out=out)
            wanted = torch.cat([self.data(rank, count, dtype, high, self.me * count) for rank in mine])
        elif call == "broadcast":
            comm.broadcast(inp, root)
            wanted = self.data(root, count, dtype, high)
        elif call == "gather":
            comm.gather(inp, root, out=out if self.me == root else None)
            if self.me != root:
                return
            wanted = torch.cat([self.data(rank, count, dtype, high) for rank in mine])
        else:
            comm.scatter(inp if self.me == root else None, root, out=out)
            wanted = self.data(root, count, dtype, high, self.me * count)
        self.check(out, wanted)

    def ragged(self, size, dtype):
        """All-to-all of rows of three elements, of which each rank has another number for each."""
        torch, draw, ranks = self.torch, self.random, self.ranks
        counts = [[draw.randrange(size // (3 * ranks) + 2) for _ in range(ranks)] for _ in range(ranks)]
        rows = sum(counts[self.me])
        inp = self.data(self.me, 3 * rows, dtype, 4).view(rows, 3)

        def on_device(numbers):
            # Without a copy from the host, which a capture does not take.
            return torch.cat([torch.full((1,), number, device=self.device) for number in numbers])

        told = on_device(counts[self.me])
        come = [each[self.me] for each in counts]
        out = torch.full((sum(come) + 2, 3), 1, device=self.device).to(dtype)
        came = self.comm.all_to_all_v(inp, told, out)
        wanted = [self.data(rank, 3 * come[rank], dtype, 4, 3 * sum(counts[rank][: self.me])) for rank in range(ranks)]
        wanted = torch.cat([*wanted, torch.ones(6, device=self.device).to(dtype)])
        self.check(out, wanted)
        self.check(came, on_device(come))


def first_call_in_a_graph(world, torch, Communicator):
    """A call never made before is captured, or says that it has to be made once before; then it is, and is captured."""
    from symm.errors import SymmError

    comm, said = Communicator(world, blocks=2), "captured"
    x = torch.full((777,), 2.0, dtype=torch.bfloat16, device=world.device)
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            comm.all_reduce(x, "prod")
    except (SymmError, RuntimeError) as error:
        # torch's error, that the capture has failed, comes after symm's.
        said = f"{error.__context__}; {error}"
        assert "make the same call once before the capture" in said, said
    torch.cuda.synchronize()
    world.barrier()
    comm.recover()
    comm.all_reduce(x, "prod")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        comm.all_reduce(x, "prod")
    graph.replay()
    comm.check()
    torch.cuda.synchronize()
    assert (x == 2.0 ** (world.get_num_ranks() ** 2)).all(), x
    if world.get_rank() == 0:
        print(f"a first call in a graph: {said}", flush=True)


def at_once(world, torch, Communicator, rounds):
    """Two communicators on two streams that do not wait for each other, then both in one graph, replayed. Returns how
    many elements were wrong.
    """
    on_gpu, ranks = world.device.type != "cpu", range(world.get_num_ranks())
    comms = [Communicator(world, blocks=8) for _ in range(2)]
    streams = [torch.cuda.Stream() for _ in comms] if on_gpu else [None, None]
    # Each has its own, so that nothing orders the two.
    turns, wrong = ([torch.zeros(1, dtype=torch.int64, device=world.device) for _ in comms] for _ in range(2))

    def call(number, count):
        at = torch.arange(count, device=world.device)
        given = [((at * 7 + rank * 13 + turns[number] * 5) % 4).to(torch.float32) for rank in ranks]
        out = comms[number].all_reduce(given[world.get_rank()].clone())
        wrong[number].add_((out != sum(given)).sum())
        turns[number].add_(1)

    def fork(times):
        for stream in filter(None, streams):
            stream.wait_stream(torch.cuda.current_stream())
        for _, (number, stream), count in itertools.product(range(times), enumerate(streams), (1000, 40_003)):
            with torch.cuda.stream(stream):
                call(number, count)
        for stream in filter(None, streams):
            torch.cuda.current_stream().wait_stream(stream)

    fork(rounds)
    if on_gpu:
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            fork(10)
        for _ in range(rounds):
            graph.replay()
        torch.cuda.synchronize()
    for comm in comms:
        comm.check()
        comm.close()
    return sum(each.item() for each in wrong)


def rank_main(options):
    import symm
    import torch
    from symm.comm import Communicator

    on_gpu = options.device == "gpu"
    world = symm.init(heap_size=options.heap << 20, timeout=60)
    domain = options.domain if options.domain and world.get_num_ranks() % options.domain == 0 else None
    whole = Communicator(world, domain=domain)
    half = whole.split(world.get_rank() % 2) if world.get_num_ranks() > 2 else Communicator(world, blocks=4)
    largest = SIZES[-1] if on_gpu else 1000
    if on_gpu:
        first_call_in_a_graph(world, torch, Communicator)
    if wrong := at_once(world, torch, Communicator, 200 if on_gpu else 1):
        print(f"{wrong} elements are wrong in calls of two communicators at once", flush=True)
        return 1
    start, right = time.monotonic(), True
    for name, comm, share in (("all ranks", whole, 0.8), ("some ranks", half, 0.2)):
        calls = Calls(world, comm, options, largest)
        right &= calls.right(name, share, options, 1000)
        del calls
        world.barrier()
    if world.get_rank() == 0:
        replays = options.replays if on_gpu else 0
        print(f"{options.calls} calls and {replays} replays in {time.monotonic() - start:.0f} s")
    world.close()
    return 0 if right else 1


def main():
    parser = parser_of(__doc__, calls=20_000, replays=10_000, heap=4096)
    dtypes = FLOATS + INTEGERS
    parser.add_argument("--dtypes", nargs="+", choices=dtypes, default=dtypes, help="fewer take less time to compile")
    parser.add_argument("--faults", action="store_true", help="ranks that do not come, instead of calls")
    parser.add_argument("--domain", type=int, help="ranks of a domain, where it divides the number of ranks")
    parser.add_argument("--engine", choices=["nvshmem"], help="what reaches the ranks of other domains, in graphs too")
    options = parser.parse_args()
    if "RANK" in os.environ:
        return rank_main(options)
    from python import TESTS

    if options.engine:
        os.environ |= {"SYMM_ENGINE": options.engine, "SYMM_DOMAIN": str(options.domain or 1)}

    return run_all(TESTS / "comm_deadline.py" if options.faults else Path(__file__), options)


if __name__ == "__main__":
    sys.exit(main())
