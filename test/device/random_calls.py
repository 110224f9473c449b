"""Random calls that all ranks make alike, on several streams and in graphs, and runs of a script that makes them."""

import argparse
import os
import random
import sys
import tempfile
import time
import zipfile
from pathlib import Path

SIZES = [0, 1, 3, 17, 128, 1000, 4096, 10_007, 65_536, 262_144, 300_001, 1 << 20, 4_000_001]


class RandomCalls:
    """What ranks draw alike, and how many elements were wrong; `one` makes a call."""

    def __init__(self, device, seed, largest, each=False):
        import torch

        # What the last call was; with `each`, how many elements were wrong after each call.
        self.what, self.each, self.counts = "", each, []
        self.torch, self.device, self.random = torch, device, random.Random(seed)
        self.sizes, self.begun = [size for size in SIZES if size <= largest], time.monotonic()
        self.wrong = torch.zeros(1, dtype=torch.int64, device=device)
        # The data of a call are made from it, so that each replay of a graph has others.
        self.turn = torch.zeros(1, dtype=torch.int64, device=device)

    def one(self):
        """Makes a call, and counts the elements that are wrong."""
        raise NotImplementedError

    def say(self, text):
        """Tells how far rank 0 is."""
        if os.environ.get("RANK") == "0":
            print(f"{time.monotonic() - self.begun:.0f} s  {text}", flush=True)

    def check(self, got, wanted):
        self.wrong.add_((got.reshape(-1).double() != wanted.reshape(-1).double()).sum())

    def several(self, count, streams):
        for _ in range(count):
            stream = self.random.choice(streams)
            if stream is None:
                self.one()
            else:
                stream.wait_stream(self.torch.cuda.current_stream())
                with self.torch.cuda.stream(stream):
                    self.one()
                self.torch.cuda.current_stream().wait_stream(stream)
            if self.each:
                self.counts.append((self.wrong.clone(), self.what))

    def name_wrong(self):
        """Names the calls since the last time after which more elements were wrong. The host waits only here."""
        before = 0
        for count, what in self.counts:
            if count.item() > before:
                print(f"{count.item() - before} elements are wrong after: {what}", flush=True)
            before = count.item()
        self.counts.clear()

    def replays(self, count, held, largest, streams):
        """A graph that holds calls, replayed between other calls."""
        torch = self.torch
        sizes, self.sizes = self.sizes, [size for size in self.sizes if size <= largest]
        each, self.each = self.each, False
        for _ in range(2):
            state = self.random.getstate()
            self.several(held, streams)
            torch.cuda.synchronize()
            self.random.setstate(state)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.several(held, streams)
        for number in range(count):
            graph.replay()
            if number % 100 == 0:
                self.several(3, streams)
            if number % 1000 == 999 or number + 1 == count:
                torch.cuda.synchronize()
                self.say(f"{number + 1} of {count} replays of a graph of {held} calls")
        self.sizes, self.each = sizes, each

    def right(self, name, share, options, at_once):
        """Makes its share of the calls, then replays graphs on a GPU; says what was wrong, and whether nothing was."""
        torch, on_gpu, done, calls = self.torch, self.device.type != "cpu", 0, int(options.calls * share)
        streams = [None, torch.cuda.Stream(), torch.cuda.Stream()] if on_gpu else [None]
        while done < calls:
            self.several(min(at_once, calls - done), streams)
            done = min(done + at_once, calls)
            self.say(f"{name}: {done} of {calls} calls")
            if self.wrong.item():
                self.name_wrong()
                print(f"{name}: {self.wrong.item()} elements are wrong in the {done} first calls", flush=True)
                return False
            self.counts.clear()
        replays = int(options.replays * share / options.graphs) if on_gpu else 0
        for _ in range(options.graphs if replays else 0):
            self.replays(replays, options.in_graph, 300_001, streams)
            if self.wrong.item():
                print(f"{name}: {self.wrong.item()} elements are wrong in replays", flush=True)
                return False
        return True


def parser_of(description, **defaults):
    """The options that such scripts have, with these defaults."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2])
    parser.add_argument("--calls", type=int)
    parser.add_argument("--replays", type=int, help="of all graphs together")
    parser.add_argument("--graphs", type=int, default=1)
    parser.add_argument("--in-graph", type=int, default=8, metavar="CALLS", help="calls that a graph holds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="name the calls whose elements are wrong")
    parser.add_argument("--heap", type=int, help="MiB of the heap of each rank")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--seconds", type=int, default=500, help="for one run")
    parser.set_defaults(**defaults)
    return parser


def run_all(program, options):
    """Runs a program on each number of ranks, with this process's arguments; 1 if any run failed."""
    from python import run

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.environ.get("PYTHONPATH")
        if options.wheel:
            zipfile.ZipFile(options.wheel).extractall(folder)
            path = os.pathsep.join(filter(None, [folder, path]))
        environment = {**os.environ, "PYTHONPATH": path or ""}
        if options.device == "cpu":
            environment["TRITON_INTERPRET"] = "1"
        for ranks in options.ranks:
            ok, seconds, lines = run(program, ranks, environment, options.seconds, sys.argv[1:], live=True)
            failed += not ok
            verdict = f"{'ok  ' if ok else 'FAIL'} {program.name} on {ranks} ranks, {seconds:.1f} s"
            print(verdict, *lines, sep="\n  ", flush=True)
    print("nothing failed" if not failed else f"{failed} runs failed")
    return 1 if failed else 0
