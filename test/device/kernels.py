#!/usr/bin/env python3
"""Runs the kernels of kernels.mlir on one NVIDIA GPU and checks what they did.

Two ranks share the GPU: their heaps are two halves of one allocation, their kernels run on two streams.

    symm-translate test/device/kernels.mlir --to ptx --chip sm_90 -o kernels.ptx
    symm-translate test/device/kernels.mlir --to ptx --chip sm_90 --pipeline \
        'symm-nvvm{bounds-checks=true watchdog=true timeout-ms=50}' -o checked.ptx
    python3 test/device/kernels.py kernels.ptx checked.ptx

Needs CuPy. Prints a line for each group of checks and exits with 1 if one fails.
"""

import subprocess
import sys

import cupy as cp
import numpy as np

HEAP = 64 << 20
STAGES = 12 * 16384 + 128
failures = 0


def check(what, ok, detail=""):
    global failures
    if not ok:
        failures += 1
        print(f"FAILED: {what} {detail}")


class World:
    """Two heaps and the context table of each rank."""

    def __init__(self, report=0):
        self.memory = cp.zeros(2 * HEAP, dtype=cp.uint8)
        self.base = [self.memory.data.ptr + r * HEAP for r in range(2)]
        table = lambda r: cp.asarray(np.array([r, 2, *self.base, report], dtype=np.int64))
        self.ctx = [table(r) for r in range(2)]

    def bytes(self, rank):
        return self.memory[rank * HEAP : (rank + 1) * HEAP]


def copies(module):
    world = World()
    rng = np.random.default_rng(7)
    count = 0
    for name, width, bulk in [
        ("put_i8", 1, False), ("put_f16", 2, False), ("get_f32", 4, False), ("get_f64", 8, False),
        ("bulk_put_i8", 1, True), ("bulk_get_f32", 4, True),
    ]:
        kernel = module.get_function(name)
        if bulk:
            kernel.max_dynamic_shared_size_bytes = STAGES
        put = "put" in name
        for size in [0, 1, 3, 15, 16, 17, 63, 64, 1000, 4096, 100_003, 1_000_000 // width]:
            for src_at, dst_at in [(0, 0), (width, width), (0, width), (3 * width, 0), (16, 32), (8, 24)]:
                for shared in ([STAGES, 0] if bulk else [0]):
                    start = 2 << 20
                    source, target = (0, 1) if put else (1, 0)
                    n = size * width
                    for r in range(2):
                        world.bytes(r)[start : start + (4 << 20)] = cp.asarray(
                            rng.integers(0, 256, 4 << 20, dtype=np.uint8))
                    src, dst = start + src_at, start + (2 << 20) + dst_at
                    before = world.bytes(target)[start : start + (4 << 20)].copy()
                    expected = before.copy()
                    at = dst - start
                    expected[at : at + n] = world.bytes(source)[src : src + n]
                    threads = 32 if name == "get_f32" else 256
                    kernel((1,), (threads,), (world.ctx[0], world.base[0] + src, world.base[0] + dst, np.int64(size),
                                              np.int32(1)), shared_mem=shared)
                    same = bool((world.bytes(target)[start : start + (4 << 20)] == expected).all())
                    check(name, same, f"size {size}, offsets {src_at} {dst_at}, shared {shared}")
                    count += 1
    print(f"copies: {count} cases")


def messages(module):
    world = World()
    rounds, threads = 20_000, 128
    kernel = module.get_function("ping")
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
    data, flag, wrong = 4 << 20, 8 << 20, 12 << 20
    cp.cuda.Device().synchronize()
    for r in range(2):
        with streams[r]:
            base = world.base[r]
            kernel((1,), (threads,), (world.ctx[r], base + data, base + flag, np.int64(rounds), base + wrong))
    cp.cuda.Device().synchronize()
    for r in range(2):
        errors = int(world.bytes(r)[wrong : wrong + 4].view(cp.int32)[0])
        check("messages", errors == 0, f"rank {r}: {errors} wrong")
    print(f"messages: {rounds} rounds of {threads} threads each way, with a device barrier after each")


def atomics(module):
    world = World()
    at, blocks, threads = 4 << 20, 64, 128
    module.get_function("atomics")((blocks,), (threads,), (
        world.ctx[0], world.base[0] + at, world.base[0] + at + 64, world.base[0] + at + 128, np.int32(1)))
    there = world.bytes(1)[at : at + 256]
    n = blocks * threads
    check("add", int(there[0:4].view(cp.int32)[0]) == n)
    check("sub", int(there[8:16].view(cp.int64)[0]) == -2 * n)
    check("fadd", float(there[64:68].view(cp.float32)[0]) == n / 2)
    check("xchg", float(there[128:130].view(cp.float16)[0]) == 3.0)
    check("atomics leave rank 0 alone", not bool(world.bytes(0)[at : at + 256].any()))
    print(f"atomics: {n} threads")


def give_up(module):
    world = World()
    flag, seen = 4 << 20, 5 << 20
    kernel = module.get_function("give_up")
    for value, expected in [(0, 0), (1, 1)]:
        world.bytes(0)[flag : flag + 8].view(cp.int64)[0] = value
        world.bytes(0)[seen : seen + 4].view(cp.int32)[0] = 9
        kernel((1,), (96,), (world.ctx[0], world.base[0] + flag, np.int64(1_000_000), world.base[0] + seen))
        check("timeout", int(world.bytes(0)[seen : seen + 4].view(cp.int32)[0]) == expected, f"flag {value}")
    print("timeouts: a flag that comes and one that does not")


def cost(module, checked):
    """What the checks cost: the store loop of FACTS-like shape, with and without, in one run."""
    world = World()
    n = (HEAP // 2) // 16
    times = {}
    kernels = {"off": module.get_function("store_loop"), "on": checked.get_function("store_loop")}
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    for _ in range(7):
        for name, kernel in kernels.items():
            start.record()
            for _ in range(20):
                kernel((264,), (512,), (world.ctx[0], world.base[0] + (4 << 20), np.int64(n), np.int32(1)))
            stop.record()
            stop.synchronize()
            times.setdefault(name, []).append(cp.cuda.get_elapsed_time(start, stop) / 20)
    median = {name: float(np.median(values)) for name, values in times.items()}
    bandwidth = {name: n * 16 / value / 1e6 for name, value in median.items()}
    print(f"cost of bounds checks, stores of 16 B to local memory: off {bandwidth['off']:.0f} GB/s, "
          f"on {bandwidth['on']:.0f} GB/s, time ratio {median['on'] / median['off']:.3f}")


def fault(ptx, kernel, arguments):
    """A kernel that traps, in a process of its own: returns the record that it left."""
    code = f"""
import cupy as cp, numpy as np, sys
sys.path.insert(0, {sys.path[0]!r})
import kernels
module = cp.RawModule(path={ptx!r})
host = cp.cuda.alloc_pinned_memory(4096)
record = np.frombuffer(host, dtype=np.int64, count=16)
record[:] = 0
world = kernels.World(report=host.ptr)
module.get_function({kernel!r})((2,), (64,), {arguments})
try:
    cp.cuda.Device().synchronize()
    print("no trap")
except cp.cuda.runtime.CUDARuntimeError:
    print(*record)
import os
sys.stdout.flush()
os._exit(0)
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120).stdout.strip()


def faults(checked):
    far = fault(checked, "store_loop", "(world.ctx[0], world.base[0] + (4 << 20), np.int64(4096), np.int32(5))")
    words = far.split()
    check("a rank out of range traps with a record", words[:1] == ["2"] and words[6:8] == ["5", "2"], far)
    outside = fault(checked, "store_loop",
                    "(world.ctx[0], world.base[0] + kernels.HEAP - 1024, np.int64(4096), np.int32(1))")
    check("an address outside of the heap traps with a record", outside.split()[:1] == ["2"], outside)
    late = fault(checked, "ping",
                 "(world.ctx[0], world.base[0] + (4 << 20), world.base[0] + (8 << 20), np.int64(1), world.base[0])")
    check("a wait that never comes traps with a record", late.split()[:1] == ["2"], late)
    print(f"faults: {far} | {outside} | {late}")


def main():
    ptx, checked_ptx = sys.argv[1:3]
    module, checked = cp.RawModule(path=ptx), cp.RawModule(path=checked_ptx)
    copies(module)
    atomics(module)
    give_up(module)
    messages(module)
    copies(checked)
    cost(module, checked)
    faults(checked_ptx)
    print(f"{cp.cuda.runtime.getDeviceProperties(0)['name'].decode()}: {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
