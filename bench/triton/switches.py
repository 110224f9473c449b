"""What switches cost a kernel: a loop of loads, and messages between two programs, with time-outs and bounds checks.

The peer is the next rank; one rank alone is its own.
"""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

from ranks import QUICK, finish, in_turns, median, say, spread, start

BYTES, BLOCK, PROGRAMS = (8 << 20, 16384, 132) if QUICK else (256 << 20, 16384, 132)
#: A message is 1 KiB.
ROUNDS, WORDS = (100, 256) if QUICK else (10000, 256)
HEAP, SECONDS = 2 * BYTES + (64 << 20), 60


@triton.jit
def loads(world, p, q, n, peer, B: tl.constexpr):
    ctx = st.DeviceContext(world)
    for first in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = first + tl.arange(0, B)
        tl.store(q + at, ctx.load(p + at, peer))


@triton.jit
def messages(world, mail, arrived, first, rounds, peer, B: tl.constexpr):
    """Program 0 sends to program 1 of the peer, which sends to program 0 of its own peer."""
    ctx = st.DeviceContext(world)
    side = tl.program_id(0)
    at = tl.arange(0, B)
    mine, other = mail + side * B + at, mail + (1 - side) * B + at
    for turn in range(first, first + rounds):
        if side == 1:
            ctx.wait(arrived + 1, turn)
        ctx.store(other, tl.load(mine), peer)
        ctx.signal(arrived + 1 - side, turn, peer)
        if side == 0:
            ctx.wait(arrived, turn)


class Way:
    """The kernels with some switches, and what they work on."""

    def __init__(self, world, is_checked):
        self.world, self.turn = world, 1
        checked = st.options(bounds_checks=is_checked)
        self.loads, self.messages = (checked(triton.jit(kernel.fn)) for kernel in (loads, messages))
        self.peer = (world.get_rank() + 1) % world.get_num_ranks()
        self.mail, self.arrived = world.zeros(2 * WORDS, dtype=torch.int32), world.zeros(2, dtype=torch.int32)

    def load(self, source, target):
        arguments = (source, target, BYTES // 2, self.peer)
        return lambda: self.loads[(PROGRAMS,)](self.world, *arguments, B=BLOCK, num_warps=8)

    def send(self):
        self.messages[(2,)](self.world, self.mail, self.arrived, self.turn, ROUNDS, self.peer, B=WORDS)
        self.turn += ROUNDS


def tensors(world):
    source, target = (world.zeros(BYTES // 2, dtype=torch.float16) for _ in range(2))
    source.copy_(torch.arange(BYTES // 2, device=source.device) % 1000)
    return source, target


world, timed = start(HEAP), symm.init(heap_size=HEAP, timeout=SECONDS)
data = {world: tensors(world), timed: tensors(timed)}
ways = {
    "off": Way(world, False),
    "time-outs": Way(timed, False),
    "bounds checks": Way(world, True),
    "both": Way(timed, True),
}
figures = {
    "loads": in_turns(world, {name: way.load(*data[way.world]) for name, way in ways.items()}),
    "messages": in_turns(world, {name: way.send for name, way in ways.items()}),
}
for each, (source, target) in data.items():
    each.check()
    assert torch.equal(source, target), "a loop copies wrongly"
for name, times in figures.items():
    off = median(times["off"])
    # A message goes there and another one back.
    rate = f"{BYTES / off / 1e3:.1f} GB/s" if name == "loads" else f"{off / ROUNDS / 2:.2f} µs each"
    rest = (f"{way} {median(values) / off:.3f}" for way, values in times.items() if way != "off")
    say(world, f"{name}: {rate}, ±{spread(times['off']):.1%}; times of that: {', '.join(rest)}")
timed.close()
finish(world, "switches", figures)
