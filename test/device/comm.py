#!/usr/bin/env python3
"""Runs collectives on GPUs: random calls, sizes, operations, element types, streams and graphs, every element checked.

    python3 test/device/comm.py --wheel target/wheels/symm-*.whl --ranks 2 4 --calls 1000000 --replays 10000
    python3 test/device/comm.py --wheel target/wheels/symm-*.whl --ranks 2 4 --faults

Each rank is a process. It needs torch and Triton; nothing is installed. Prints a line for each run, and what failed.
`--faults` has ranks not come, in calls and in graphs, and all recover (test/python/ranks/comm_deadline.py).
The exit status is 1 if anything failed. `--device cpu` tries the script itself, under Triton's interpreter.
"""

import argparse
import os
import random
import sys
import tempfile
import time
import zipfile
from pathlib import Path

# What torch and symm are for is in `Calls`; the launcher below needs neither.
SIZES = [0, 1, 3, 17, 128, 1000, 4096, 10_007, 65_536, 262_144, 300_001, 1 << 20, 4_000_001]
FLOATS = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8"]
CALLS = ["all_reduce", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather",
         "scatter", "barrier", "all_to_all_v"]  # fmt: skip


class Calls:
    """Random calls that all ranks make alike, on numbers so small that every sum is exact."""

    def __init__(self, world, comm, seed, largest):
        import torch

        self.torch, self.world, self.comm = torch, world, comm
        self.me, self.ranks, self.device = comm.get_rank(), comm.get_num_ranks(), world.device
        self.random = random.Random(seed)
        self.sizes = [size for size in SIZES if size <= largest]
        self.wrong = torch.zeros(1, dtype=torch.int64, device=self.device)
        # The data of a call are made from it, so that each replay of a graph has others.
        self.turn = torch.zeros(1, dtype=torch.int64, device=self.device)
        self.heap = [world.zeros(8 * largest * self.ranks, dtype=torch.uint8) for _ in range(2)]

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
        """Makes a call, and counts the elements that are wrong."""
        torch, draw, comm = self.torch, self.random, self.comm
        call, name = draw.choice(CALLS), draw.choice(FLOATS + INTEGERS)
        dtype = getattr(torch, name)
        averages = ["avg"] if name in FLOATS and self.ranks in (1, 2, 4) else []
        op = draw.choice(["sum", "min", "max", "prod", *averages])
        root, size = draw.randrange(self.ranks), draw.choice(self.sizes)
        on_heap, offsets, in_place = draw.random() < 0.3, (draw.randrange(5), draw.randrange(5)), draw.random() < 0.4
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
        self.wrong.add_((out.double() != wanted.double()).sum())

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
        self.wrong.add_((out.view(-1).double() != wanted.double()).sum())
        self.wrong.add_((came != on_device(come)).sum())

    def several(self, count, streams):
        for _ in range(count):
            stream = self.random.choice(streams)
            if stream is None:
                self.one()
                continue
            stream.wait_stream(self.torch.cuda.current_stream())
            with self.torch.cuda.stream(stream):
                self.one()
            self.torch.cuda.current_stream().wait_stream(stream)

    def replays(self, count, largest):
        """A graph of calls, replayed between other calls."""
        torch = self.torch
        sizes, self.sizes = self.sizes, [size for size in self.sizes if size <= largest]
        for _ in range(2):
            state = self.random.getstate()
            self.several(8, [None])
            torch.cuda.synchronize()
            self.random.setstate(state)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.several(8, [None])
        for number in range(count):
            graph.replay()
            if number % 100 == 0:
                self.several(3, [None])
        self.sizes = sizes


def rank_main(options):
    import symm
    import torch
    from symm.comm import Communicator

    on_gpu = options.device == "gpu"
    world = symm.init(heap_size=options.heap << 20, timeout=60)
    whole = Communicator(world)
    half = whole.split(world.get_rank() % 2) if world.get_num_ranks() > 2 else Communicator(world, blocks=4)
    streams = [None, torch.cuda.Stream(), torch.cuda.Stream()] if on_gpu else [None]
    largest = SIZES[-1] if on_gpu else 4096
    start, failed = time.monotonic(), 0
    for name, comm, share in (("all ranks", whole, 0.8), ("some ranks", half, 0.2)):
        calls = Calls(world, comm, options.seed, largest if on_gpu else 1000)
        done = 0
        while done < options.calls * share:
            calls.several(min(1000, options.calls), streams)
            done += 1000
            if calls.wrong.item():
                print(f"{name}: {calls.wrong.item()} elements are wrong in the {done} first calls", flush=True)
                failed = 1
                break
        if on_gpu and not failed:
            calls.replays(int(options.replays * share), 300_001)
            if calls.wrong.item():
                print(f"{name}: {calls.wrong.item()} elements are wrong in replays", flush=True)
                failed = 1
        del calls
        world.barrier()
    if world.get_rank() == 0:
        replays = options.replays if on_gpu else 0
        print(f"{options.calls} calls and {replays} replays in {time.monotonic() - start:.0f} s")
    world.close()
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--replays", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--heap", type=int, default=4096, help="MiB of the heap of each rank")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--seconds", type=int, default=500, help="for one run")
    parser.add_argument("--faults", action="store_true", help="ranks that do not come, instead of calls")
    options = parser.parse_args()
    if "SYMM_COMM_TEST" in os.environ:
        return rank_main(options)
    # As for the other programs; a rank that runs this script itself finds the modules of the wheel.
    from python import TESTS, run

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.environ.get("PYTHONPATH")
        if options.wheel:
            zipfile.ZipFile(options.wheel).extractall(folder)
            path = os.pathsep.join(filter(None, [folder, path]))
        environment = {**os.environ, "PYTHONPATH": path or "", "SYMM_COMM_TEST": "1"}
        if options.device == "cpu":
            environment["TRITON_INTERPRET"] = "1"
        for ranks in options.ranks:
            program = TESTS / "comm_deadline.py" if options.faults else Path(__file__)
            ok, seconds, lines = run(program, ranks, environment, options.seconds, sys.argv[1:])
            failed += not ok
            verdict = f"{'ok  ' if ok else 'FAIL'} {program.name} on {ranks} ranks, {seconds:.1f} s"
            print(verdict, *lines, sep="\n  ", flush=True)
    print("nothing failed" if not failed else f"{failed} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
