"""What a launch costs the host, with symm ops in the kernel and without."""

import time

import symm.triton as st
import triton
import triton.language as tl

from ranks import QUICK, finish, median, say, start

ROUNDS = 200
REPEATS = 5 if QUICK else 75
world = start(16 << 20)
table = world.get_device_context()
flag = world.zeros(1024)


@triton.jit
def with_ops(table, p, peer, B: tl.constexpr):
    st.store(table, p + tl.arange(0, B), tl.zeros((B,), tl.float32), peer)


@triton.jit
def without_ops(table, p, peer, B: tl.constexpr):
    tl.store(p + tl.arange(0, B), tl.zeros((B,), tl.float32))


def launches(kernel):
    world.barrier()
    begin = time.perf_counter()
    for _ in range(ROUNDS):
        kernel[(1,)](table, flag, 0, B=1024)
    return (time.perf_counter() - begin) / ROUNDS * 1e6


runs = {"with symm ops": [], "without": []}
for repeat in range(REPEATS + 1):
    for name, kernel in zip(runs, (with_ops, without_ops), strict=True):
        microseconds = launches(kernel)
        if repeat > 0:
            runs[name].append(microseconds)
say(world, ", ".join(f"launch {name}: {median(values):.2f} µs" for name, values in runs.items()))
finish(world, "launch", {"launch": runs})
