#!/usr/bin/env python3
"""Measures kernels that symm-translate has made against the best by hand, the copy engine and NCCL, on GPUs.

    symm-translate bench/programs/device.mlir --to ptx --chip sm_90 -o device-2.ptx
    python3 bench/device/measure.py device-2.ptx -o device.json

`./x bench device` does both, and makes device-4.ptx for 4 ranks. On a machine without a build carry these there, and
bring device.json back to target/bench; `./x bench publish` makes tables and pictures of it. Needs CuPy, and two GPUs
(with one, both ranks are on it, which tries the script and says nothing). Competitors take turns; about three minutes.
"""

import argparse
import ctypes
import glob
import json
import os
import platform
import sys
import time
from pathlib import Path

# Multicast is not measured, and not every host allows it.
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

import cupy as cp  # noqa: E402
import numpy as np  # noqa: E402

RESERVED = 2 << 20
#: From heap to heap, as bench/programs/device.mlir has it.
STRIDE = 4 << 30
#: Where in a heap the context tables lie, one for each number of ranks.
TABLES = RESERVED - 4096
STAGES = 12 * 16384 + 128
BLOCKS = [1, 2, 4, 8, 16, 32, 132]
SIZES = [64 << 10, 512 << 10, 4 << 20, 32 << 20, 256 << 20, 1 << 30]
SAMPLE = 1.5e-3
DEFAULT_COPY = 4
#: How many ranks there may be: the first of all.
WORLDS = [2, 4]
runtime = cp.cuda.runtime


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class Properties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("metadata", ctypes.c_void_p), ("flags", ctypes.c_uint8 * 8)]


class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


class Range:
    """Addresses for heaps at a stride, from a multiple of what they fit into (rule T5), as symm's runtime has them."""

    PINNED, DEVICE, READ_WRITE = 1, 1, 3

    def __init__(self, devices):
        self.cuda, self.devices = ctypes.CDLL("libcuda.so.1"), devices
        most = STRIDE
        while most < STRIDE * len(devices):
            most *= 2
        start = ctypes.c_uint64()
        self.call("cuMemAddressReserve", ctypes.byref(start), ctypes.c_size_t(2 * most), ctypes.c_size_t(0),
                  ctypes.c_uint64(0), ctypes.c_uint64(0))
        self.start = -(-start.value // most) * most

    def call(self, name, *arguments):
        if status := getattr(self.cuda, name)(*arguments):
            sys.exit(f"{name} failed with status {status}")

    def heap(self, rank, size):
        """Memory of a rank's device, at its place, for every device."""
        device, place = self.devices[rank], self.start + rank * STRIDE
        properties, handle = Properties(self.PINNED, 0, Location(self.DEVICE, device)), ctypes.c_uint64()
        self.call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(properties),
                  ctypes.c_uint64(0))
        self.call("cuMemMap", ctypes.c_uint64(place), ctypes.c_size_t(size), ctypes.c_size_t(0), handle,
                  ctypes.c_uint64(0))
        by = sorted(set(self.devices))
        access = (Access * len(by))(*(Access(Location(self.DEVICE, each), self.READ_WRITE) for each in by))
        self.call("cuMemSetAccess", ctypes.c_uint64(place), ctypes.c_size_t(size), access, ctypes.c_size_t(len(by)))
        memory = cp.cuda.UnownedMemory(place, size, self, device)
        return cp.ndarray((size,), cp.uint8, cp.cuda.MemoryPointer(memory, 0))


class Rank:
    """A GPU with its heap: 2 MiB of barrier flags and tables, then a source, a destination and a few flags."""

    def __init__(self, rank, device, size, addresses):
        self.rank, self.device, self.size = rank, device, size
        with cp.cuda.Device(device):
            self.stream = cp.cuda.Stream(non_blocking=True)
            self.memory = addresses.heap(rank, 2 * size + 2 * RESERVED)
            self.memory.fill(0)
            self.base = self.memory.data.ptr
            self.src = self.base + RESERVED
            self.dst = self.src + size
            self.flags = self.dst + size
            self.begin, self.end = cp.cuda.Event(), cp.cuda.Event()

    def at(self, address, size):
        start = address - self.memory.data.ptr
        return self.memory[start : start + size]


class World:
    def __init__(self, size, most):
        count = runtime.getDeviceCount()
        devices = list(range(min(count, most))) if count > 1 else [0, 0]
        for device in set(devices):
            with cp.cuda.Device(device):
                runtime.free(0)  # Now the device has a context.
        addresses = Range(devices)
        self.ranks = [Rank(rank, device, size, addresses) for rank, device in enumerate(devices)]
        for device in set(devices):
            with cp.cuda.Device(device):
                for peer in set(devices) - {device}:
                    runtime.deviceEnablePeerAccess(peer)
        self.fill_tables()

    def fill_tables(self):
        for size in WORLDS:
            for rank in self.ranks[:size]:
                words = [rank.rank, size, *(each.base for each in self.ranks[:size]), 0, 0]
                with cp.cuda.Device(rank.device):
                    table = rank.at(self.table(rank, size), 8 * len(words)).view(np.int64)
                    table.set(np.array(words, dtype=np.int64))
        self.synchronize()

    def table(self, rank, size):
        """The context of a rank in a world of the first `size`: in its heap."""
        return rank.base + TABLES + 256 * WORLDS.index(size)

    def synchronize(self):
        for rank in self.ranks:
            with cp.cuda.Device(rank.device):
                runtime.deviceSynchronize()


class Kernels:
    """Functions of a module on every device; CuPy loads them where they are first launched."""

    def __init__(self, world, **source):
        self.world, self.module, self.functions = world, cp.RawModule(**source), {}

    def launch(self, name, rank, blocks, threads, arguments, shared=0):
        with cp.cuda.Device(rank.device), rank.stream:
            key = (name, rank.device)
            if key not in self.functions:
                self.functions[key] = self.module.get_function(name)
                if shared:
                    self.functions[key].max_dynamic_shared_size_bytes = shared
            self.functions[key]((blocks,), (threads,), arguments, shared_mem=shared)


def together(ranks, action):
    """Seconds that `action` took on the rank that was slowest, by events."""
    for rank in ranks:
        with cp.cuda.Device(rank.device):
            rank.begin.record(rank.stream)
        action(rank)
        with cp.cuda.Device(rank.device):
            rank.end.record(rank.stream)
    for rank in ranks:
        rank.stream.synchronize()
    return max(cp.cuda.get_elapsed_time(rank.begin, rank.end) for rank in ranks) / 1e3


def captured(rank, times, action):
    """`times` actions as a graph, so that launching them costs the host nothing."""
    with cp.cuda.Device(rank.device), rank.stream:
        rank.stream.begin_capture()
        for _ in range(times):
            action(rank)
        return rank.stream.end_capture()


def replay(graphs, ranks):
    def one(rank):
        with cp.cuda.Device(rank.device):
            graphs[rank.rank].launch(rank.stream)

    return together(ranks, one)


class Copies:
    """Everything that can copy `size` bytes between ranks 0 and 1."""

    def __init__(self, world, symm, by_hand):
        self.world, self.symm, self.by_hand = world, symm, by_hand
        self.nccl = Nccl.make(world)

    def kernels(self, op, size, blocks):
        """Name and action of each kernel."""
        each = -(-size // 16 // blocks)
        each = -(-each // 64) * 64

        def ours(name, threads, shared=0):
            def action(rank):
                self.symm.launch(name, rank, blocks, threads, (
                    self.world.table(rank, 2), rank.src, rank.dst, np.int64(size // 4), np.int64(each * 4),
                    np.int32(1 - rank.rank)), shared)

            return action

        def theirs(name, threads, shared=0):
            def action(rank):
                peer = self.world.ranks[1 - rank.rank]
                dst, src = (peer.dst, rank.src) if op == "put" else (rank.dst, peer.src)
                self.by_hand.launch(name, rank, blocks, threads, (dst, src, np.uint64(size // 16), np.uint64(each)),
                                    shared)

            return action

        return {
            "symm, 512 threads": ours(op, 512),
            "symm, 1024 threads": ours(op, 1024),
            "symm, engine bulk": ours(f"{op}_engine", 128, STAGES),
            "16 B × 4, 512 threads": theirs("copy4", 512),
            "16 B × 4, 1024 threads": theirs("copy4", 1024),
            "16 B × 8, 512 threads": theirs("copy8", 512),
            "16 B × 8, 1024 threads": theirs("copy8", 1024),
            "16 B × 8, 512 threads, grid stride": theirs("strided8", 512),
            "cp.async.bulk, 1 warp": theirs("engine", 32, STAGES),
        }

    def check(self, op):
        """Every kernel copies what it should."""
        size = 3 << 20
        for name, action in self.kernels(op, size, 7).items():
            rank, peer = self.world.ranks[:2]
            source, target = (rank.at(rank.src, size), peer.at(peer.dst, size)) if op == "put" else (
                peer.at(peer.src, size), rank.at(rank.dst, size))
            pattern = np.random.default_rng(len(name)).integers(0, 256, size, dtype=np.uint8)
            source.set(pattern)
            target.set(np.zeros(size, dtype=np.uint8))
            self.world.synchronize()
            action(rank)
            self.world.synchronize()
            if not (target.get() == pattern).all():
                sys.exit(f"{op} by {name} copies wrongly")

    def point(self, op, size, blocks, both, repeats):
        """GB/s in one direction of each kernel."""
        ranks = self.world.ranks[: 2 if both else 1]
        times = max(1, min(200, int(SAMPLE / (size / min(45e9 * blocks, 350e9) + 4e-6))))
        graphs = {name: {rank.rank: captured(rank, times, action) for rank in ranks}
                  for name, action in self.kernels(op, size, blocks).items()}
        samples = {name: [] for name in graphs}
        for repeat in range(repeats + 1):
            for name, graph in graphs.items():
                seconds = replay(graph, ranks)
                if repeat > 0:
                    samples[name].append(times * size / seconds / 1e9)
        return samples

    def others(self, size, both, repeats):
        """The copy engine and NCCL, GB/s in one direction."""
        ranks = self.world.ranks[: 2 if both else 1]
        times = max(1, min(100, int(SAMPLE / (size / 350e9 + 8e-6))))

        def engine(rank):
            peer = self.world.ranks[1 - rank.rank]
            runtime.memcpyAsync(peer.dst, rank.src, size, DEFAULT_COPY, rank.stream.ptr)

        graphs = {rank.rank: captured(rank, times, engine) for rank in ranks}
        samples = {"copy engine": []} | ({"NCCL send/recv": []} if self.nccl else {})
        for repeat in range(repeats + 1):
            seconds = {"copy engine": replay(graphs, ranks)}
            if self.nccl:
                seconds["NCCL send/recv"] = self.nccl.copy(size, both, times)
            if repeat > 0:
                for name, value in seconds.items():
                    samples[name].append(times * size / value / 1e9)
        return samples


class Nccl:
    """NCCL's send and receive between the first two ranks, one thread for both; torch's library."""

    def __init__(self, world, path):
        self.world, self.library = world, ctypes.CDLL(path)
        self.comms = (ctypes.c_void_p * 2)()
        devices = (ctypes.c_int * 2)(*(rank.device for rank in world.ranks[:2]))
        self.call("ncclCommInitAll", self.comms, ctypes.c_int(2), devices)

    @staticmethod
    def make(world):
        paths = [path for folder in sys.path for path in glob.glob(f"{folder}/nvidia/nccl/lib/libnccl.so.2")]
        if not paths or world.ranks[0].device == world.ranks[1].device:
            print("no NCCL here", flush=True)
            return None
        return Nccl(world, paths[0])

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            sys.exit(f"{name}: NCCL's status {status}")

    def copy(self, size, both, times):
        def messages(sender, receiver):
            for rank, name, address in [(sender, "ncclSend", sender.src), (receiver, "ncclRecv", receiver.dst)]:
                peer = receiver if rank is sender else sender
                with cp.cuda.Device(rank.device):
                    self.call(name, ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.c_int(0),
                              ctypes.c_int(peer.rank), ctypes.c_void_p(self.comms[rank.rank]),
                              ctypes.c_void_p(rank.stream.ptr))

        first, second = self.world.ranks[:2]
        for rank in (first, second):
            with cp.cuda.Device(rank.device):
                rank.begin.record(rank.stream)
        for _ in range(times):
            self.call("ncclGroupStart")
            messages(first, second)
            if both:
                messages(second, first)
            self.call("ncclGroupEnd")
        for rank in (first, second):
            with cp.cuda.Device(rank.device):
                rank.end.record(rank.stream)
        for rank in (first, second):
            rank.stream.synchronize()
        return max(cp.cuda.get_elapsed_time(rank.begin, rank.end) for rank in (first, second)) / 1e3


class Latency:
    """Messages and barriers: seconds for one, ours and by hand in turns."""

    def __init__(self, world, symms, by_hand):
        self.world, self.symms, self.symm, self.by_hand = world, symms, symms[2], by_hand
        self.now = 0
        self.tables = {}
        for count in range(2, len(world.ranks) + 1):
            for rank in world.ranks[:count]:
                with cp.cuda.Device(rank.device):
                    words = np.array([each.flags + 4096 for each in world.ranks[:count]], dtype=np.int64)
                    self.tables[rank.rank, count] = cp.asarray(words)
        world.synchronize()

    def flags(self, rank, mine):
        return (mine and rank.flags + 256) or self.world.ranks[1 - rank.rank].flags + 256

    def ping(self, rounds):
        ours = lambda rank, start: self.symm.launch(
            "ping", rank, 1, 1, (self.world.table(rank, 2), rank.flags, np.int64(start), np.int64(rounds)))
        theirs = lambda name: lambda rank, start: self.by_hand.launch(
            name, rank, 1, 1, (np.int32(rank.rank), self.flags(rank, True), self.flags(rank, False), np.int64(start),
                               np.int64(rounds)))
        return {"symm.signal, symm.wait": ours, "st.release.sys, ld.acquire.sys": theirs("ping"),
                "st.release.sys, ld.relaxed.sys, fence.acq_rel.sys": theirs("ping_fence")}, 2, 2 * rounds

    def put_signal(self, size, rounds, threads=512):
        ours = lambda rank, start: self.symm.launch(
            "put_signal", rank, 1, threads, (self.world.table(rank, 2), rank.src, rank.dst, np.int64(size // 4),
                                             rank.flags, np.int64(start), np.int64(rounds)))
        theirs = lambda rank, start: self.by_hand.launch(
            "put_signal", rank, 1, threads, (np.int32(rank.rank), rank.src, self.world.ranks[1 - rank.rank].dst,
                                             np.int64(size // 4), self.flags(rank, True), self.flags(rank, False),
                                             np.int64(start), np.int64(rounds)))
        return {"symm.put_signal": ours, "by hand": theirs}, 2, 2 * rounds

    def barrier(self, count, rounds):
        # Ranks that have taken part in different numbers of barriers would wait for each other for ever.
        for rank in self.world.ranks:
            with cp.cuda.Device(rank.device):
                rank.at(rank.base, TABLES).fill(0)
        self.world.synchronize()
        ours = lambda rank, start: self.symms[count].launch(
            "barrier", rank, 1, 32, (self.world.table(rank, count), np.int64(rounds)))
        theirs = lambda rank, start: self.by_hand.launch(
            "barrier", rank, 1, 32, (np.int32(rank.rank), np.int32(count), self.tables[rank.rank, count].data.ptr,
                                     np.int64(start), np.int64(rounds)))
        return {"symm.barrier": ours, "by hand": theirs}, count, rounds

    def measure(self, actions, count, messages, repeats):
        samples = {name: [] for name in actions}
        for repeat in range(repeats + 1):
            for name, action in actions.items():
                start = self.now
                self.now += messages
                seconds = together(self.world.ranks[:count], lambda rank, action=action: action(rank, start))
                if repeat > 0:
                    samples[name].append(seconds / messages)
        return samples

    def launch(self, times, repeats):
        rank = self.world.ranks[0]
        graphs = {
            "with a context": captured(rank, times, lambda rank: self.symm.launch(
                "empty", rank, 1, 32, (self.world.table(rank, 2), rank.flags + 512))),
            "bare": captured(rank, times, lambda rank: self.by_hand.launch("empty", rank, 1, 32, (rank.flags + 512,))),
        }
        samples = {name: [] for name in graphs}
        for repeat in range(repeats + 1):
            for name, graph in graphs.items():
                seconds = replay({0: graph}, [rank])
                if repeat > 0:
                    samples[name].append(seconds / times)
        return samples


def machine(world):
    name = runtime.getDeviceProperties(0)["name"].decode()
    driver = runtime.driverGetVersion()
    return {"gpus": f"{len(set(rank.device for rank in world.ranks))} × {name}",
            "driver": f"CUDA {driver // 1000}.{driver % 1000 // 10}", "kernel": platform.release()}


def median(values):
    return sorted(values)[(len(values) - 1) // 2] if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptx", nargs="+", help="the kernels for 2 ranks, and for 4")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--quick", action="store_true", help="that everything runs, not how fast")
    options = parser.parse_args()
    start = time.monotonic()
    say = lambda text: print(f"{time.monotonic() - start:6.1f} s  {text}", flush=True)

    blocks, sizes = ([1, 8], SIZES[:3]) if options.quick else (BLOCKS, SIZES)
    repeats = 3 if options.quick else 7
    world = World(max(sizes), most=4)
    symms = {ranks: Kernels(world, path=ptx) for ranks, ptx in zip(WORLDS, options.ptx) if ranks <= len(world.ranks)}
    symm = symms[2]
    source = (Path(__file__).parent / "by_hand.cu").read_text(encoding="utf-8")
    by_hand = Kernels(world, code=source, options=("--std=c++17",), backend="nvrtc")
    copies, latency = Copies(world, symm, by_hand), Latency(world, symms, by_hand)
    # Whatever is loaded or compiled later could wait for a kernel that waits for it.
    for rank in world.ranks:
        for kernels, names in [*((symm, ["ping", "put_signal", "barrier", "empty"]) for symm in symms.values()),
                               (by_hand, ["ping", "ping_fence", "put_signal", "barrier", "empty"])]:
            with cp.cuda.Device(rank.device):
                for name in names:
                    kernels.functions[name, rank.device] = kernels.module.get_function(name)
                    kernels.functions[name, rank.device].attributes  # noqa: B018: loads it here
        for op in ["put", "get"]:
            for action in copies.kernels(op, 64, 1).values():
                if rank.rank < 2:
                    action(rank)
    world.synchronize()
    for op in ["put", "get"]:
        copies.check(op)
    say("all kernels copy what they should")

    figures = {"copies": [], "others": [], "latency": []}

    def keep(group, title, samples):
        figures["latency"].append({"group": group, "title": title, "runs": samples})
        say(f"{group} {title}: " + ", ".join(f"{name} {median(v) * 1e6:.3f} us" for name, v in samples.items()))

    rounds = 500 if options.quick else 5000
    keep("message", "8 B flag", latency.measure(*latency.ping(rounds), repeats))
    for size in [8, 64, 512, 4 << 10, 16 << 10, 64 << 10]:
        keep("put_signal", f"{size} B", latency.measure(*latency.put_signal(size, rounds // 5), repeats))
    for count in symms:
        keep("barrier", f"{count} GPUs", latency.measure(*latency.barrier(count, rounds), repeats))
    keep("launch", "in a graph", latency.launch(500, repeats))

    for size in sizes:
        for both in [False, True]:
            samples = copies.others(size, both, repeats)
            figures["others"].append({"bytes": size, "both": both, "runs": samples})
            say(f"{size >> 10} KiB{', both ways' if both else ''}: "
                + ", ".join(f"{name} {median(values):.1f}" for name, values in samples.items()))
            for op in ["put", "get"]:
                for count in blocks:
                    samples = copies.point(op, size, count, both, repeats)
                    figures["copies"].append({"op": op, "blocks": count, "bytes": size, "both": both, "runs": samples})
                    best = {ours: max(median(values) for name, values in samples.items()
                                      if name.startswith("symm") == ours) for ours in (True, False)}
                    say(f"  {op}, {count} blocks: symm {best[True]:.1f}, by hand {best[False]:.1f} GB/s, "
                        f"ratio {best[True] / best[False]:.3f}")
    raw = {"machine": machine(world), "quick": options.quick, "figures": figures}
    Path(options.output).write_text(json.dumps(raw), encoding="utf-8")
    say(f"raw figures: {options.output}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from output import until_reader_leaves

    until_reader_leaves(main)
