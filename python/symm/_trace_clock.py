"""How a GPU's clock runs against the system's: the host asks a kernel for the time, and takes the fastest answer."""

import ctypes
import time

import triton
import triton.language as tl

from ._memory import torch
from .errors import DeviceError

ROUNDS = 64
# How long a kernel waits for all questions, and the host for an answer.
PATIENCE_NS, SECONDS = 2_000_000_000, 20
# Nanoseconds in a tick.
UNITS = {"cuda": 1, "hip": 10}


@triton.jit
def now(ON_AMD: tl.constexpr):
    if ON_AMD:
        at = tl.inline_asm_elementwise(
            "s_memrealtime $0\ns_waitcnt lgkmcnt(0)", "=s,~{memory}", [], dtype=tl.int64, is_pure=False, pack=1
        )
    else:
        at = tl.inline_asm_elementwise(
            "mov.u64 $0, %globaltimer;", "=l,~{memory}", [], dtype=tl.int64, is_pure=False, pack=1
        )
    return at


@triton.jit(do_not_specialize=["address", "patience"])
def answer(address, patience, ROUNDS: tl.constexpr, ON_AMD: tl.constexpr):
    """Each time that the first word becomes one more, writes the time into the next."""
    words = address.to(tl.pointer_type(tl.int64))
    begun = now(ON_AMD)
    for question in range(1, ROUNDS + 1):
        asked = tl.load(words, volatile=True)
        while (asked < question) & (now(ON_AMD) - begun < patience):
            asked = tl.load(words, volatile=True)
        tl.store(words + question, now(ON_AMD), cache_modifier=".wt")


def measured(world):
    """A time of the device's clock in nanoseconds, how much that clock is ahead of the system's, and the most by which
    that may be wrong. The device has nothing else to do.
    """
    is_on_amd, unit = torch().version.hip is not None, unit_of()
    host = torch().zeros(1 + ROUNDS, dtype=torch().int64, device="cpu", pin_memory=True)
    words = (ctypes.c_int64 * (1 + ROUNDS)).from_address(host.data_ptr())
    with torch().cuda.device(world.device):
        answer[(1,)](host.data_ptr(), PATIENCE_NS // unit, ROUNDS=ROUNDS, ON_AMD=is_on_amd, num_warps=1)
        best = asked(words, unit)
        torch().cuda.synchronize()
    return best


def unit_of():
    """How many nanoseconds a tick of the device's clock is."""
    return UNITS["hip" if torch().version.hip else "cuda"]


def asked(words, unit):
    """What the shortest of the rounds says."""
    best, until = None, time.monotonic() + SECONDS
    for question in range(1, ROUNDS + 1):
        before = time.monotonic_ns()
        words[0] = question
        while not words[question]:
            if time.monotonic() > until:
                raise DeviceError(f"symm.trace: the GPU has not reported its clock within {SECONDS} s")
        after = time.monotonic_ns()
        device = words[question] * unit
        ahead, error = device - (before + after) // 2, (after - before + 1) // 2
        if best is None or error < best[-1]:
            best = device, ahead, error
    return best


def aligned(first, last, unit):
    """What makes nanoseconds of the system's clock of a time of the device's, by two looks at it."""
    (begin, ahead, _), (end, ahead_then, _) = first, last

    def time_of(device):
        at = device * unit
        more = (at - begin) * (ahead_then - ahead) // (end - begin) if end > begin else 0
        return at - ahead - more

    return time_of
