#!/usr/bin/env python3
"""Runs messages with hooks on GPUs: all pairs of ranks, sizes, types, hooks, streams and graphs, every byte checked.

    python3 test/device/sendrecv.py --wheel target/wheels/symm-*.whl --ranks 2 4 --calls 20000 --replays 10000
    python3 test/device/sendrecv.py --wheel target/wheels/symm-*.whl --domain 1 --engine nvshmem --calls 300

Each rank is a process. It needs torch and Triton; nothing is installed. Prints a line for each run, and what failed.
The exit status is 1 if anything failed. `--device cpu` tries the script itself, under Triton's interpreter.
"""

import itertools
import os
import random
import sys
import time
from pathlib import Path

from python import TESTS
from random_calls import SIZES, RandomCalls, parser_of, run_all

TYPES = ["float32", "float16", "bfloat16", "int64", "int32", "uint8"]
STALLED = 12

if "RANK" in os.environ:
    import symm
    import torch
    import triton
    import triton.language as tl
    from symm.comm import MeshTransport, NetworkTransport, NodeTransport, all_to_all, recv, send, sendrecv

    sys.path.append(str(TESTS))
    from message_hooks import plus_one, twice

    @triton.jit
    def plus_part(c, value):
        tl.store(c.outputs(), value + c.shard_idx + tl.load(c.extra[0]), c.mask())

    if os.environ.get("TRITON_INTERPRET") != "1":
        from triton.experimental import gluon
        from triton.experimental.gluon import language as gl

        @gluon.jit
        def twice_gluon(c):
            return gl.load(c.inputs(), c.mask()) * 2

        @gluon.jit
        def plus_one_gluon(c, value):
            gl.store(c.outputs(), value + 1, c.mask())


class Calls(RandomCalls):
    """Random messages; data are small, and made from the number of the call on the device."""

    def __init__(self, world, link, options, largest):
        super().__init__(world.device, options.seed, largest, options.each)
        self.world, self.link, self.on_gpu = world, link, world.device.type != "cpu"
        self.me, self.ranks = world.get_rank(), world.get_num_ranks()
        # What ranks need not draw alike.
        self.own = random.Random(options.seed + self.me)

    def data(self, rank, count, dtype, first=0):
        at = torch.arange(first, first + count, device=self.device)
        return ((at * 7 + rank * 13 + self.turn * 5 + at // 97) % 50).to(dtype)

    def place(self, count, dtype):
        offset = self.own.randrange(5)
        room = torch.empty(count + 5, dtype=dtype, device=self.device)
        room.view(torch.uint8).fill_(0x5A)
        return room[offset : offset + count]

    def hooks(self):
        """Hooks of this call, and whether they are `2x + 1`; a Triton sender may have a Gluon receiver."""
        if self.random.random() < 0.6:
            return None, None, False
        produce, consume = self.random.choice([0, 1]), self.random.choice([0, 1])
        if not self.on_gpu:
            return twice, plus_one, True
        return (twice, twice_gluon)[produce], (plus_one, plus_one_gluon)[consume], True

    def one(self):
        draw = self.random
        self.turn.add_(1)
        dtype, count = getattr(torch, draw.choice(TYPES)), draw.choice(self.sizes)
        channel, kind = draw.randrange(2), draw.choice(["pair", "pair", "ring", "all", "turned", "zero"])
        produce, consume, hooked = self.hooks()
        self.what = f"{kind} of {count} {dtype} on channel {channel}, {'with hooks' if hooked else 'without hooks'}"
        if dtype == torch.bfloat16 and not self.on_gpu:
            produce, consume, hooked = None, None, False
        result = (lambda data: 2 * data + 1) if hooked else (lambda data: data)
        if kind == "pair":
            source, target = draw.sample(range(self.ranks), 2)
            if self.me == source:
                send(self.link, self.data(source, count, dtype), target, channel=channel, produce=produce)
            elif self.me == target:
                out = self.place(count, dtype)
                recv(self.link, out, source, channel=channel, consume=consume)
                self.check(out, result(self.data(source, count, dtype)))
        elif kind == "ring":
            shift = draw.randrange(1, self.ranks)
            to, source = (self.me + shift) % self.ranks, (self.me - shift) % self.ranks
            out = self.place(count, dtype)
            hooks = {"produce": produce, "consume": consume}
            if self.on_gpu and hooked and (produce is twice) != (consume is plus_one):
                # One kernel has hooks of one front end.
                hooks = {"produce": twice, "consume": plus_one}
            sendrecv(self.link, self.data(self.me, count, dtype), to, out, source, channel=channel, **hooks)
            self.check(out, result(self.data(source, count, dtype)))
        elif kind == "turned":
            rows, columns = draw.choice([(1, 9), (64, 64), (100, 33), (257, 512)])
            mine = self.data(self.me, self.ranks * rows * columns, torch.float32).view(self.ranks, rows, columns)
            out = torch.zeros(self.ranks, columns, rows, device=self.device)
            all_to_all(self.link, mine, out=out.transpose(1, 2), rows=rows, channel=channel)
            for rank in range(self.ranks):
                part = self.data(rank, rows * columns, torch.float32, self.me * rows * columns)
                self.check(out[rank], part.view(rows, columns).t())
        else:
            count = min(count, 1 << 20)
            mine = self.data(self.me, self.ranks * count, torch.float32)
            added = 0
            if kind == "zero":
                out = all_to_all(self.link, mine, zero_copy=True)
            elif hooked:
                # A part is numbered by who sends it to whoever takes it.
                added = torch.ones(1, device=self.device)
                out = all_to_all(self.link, mine, consume=plus_part, extra=(added,), channel=channel)
            else:
                out = all_to_all(self.link, mine, channel=channel)
            for rank in range(self.ranks):
                wanted = self.data(rank, count, torch.float32, self.me * count)
                self.check(out.reshape(self.ranks, count)[rank], wanted + (rank + 1 if hooked and kind == "all" else 0))

    def fronts(self):
        """Messages whose sender and receiver have hooks of either front end, on one channel."""
        kinds = {"Triton": (twice, plus_one), "Gluon": (twice_gluon, plus_one_gluon)} if self.on_gpu else {}
        for (sender, (produce, _)), (receiver, (_, consume)) in itertools.product(kinds.items(), repeat=2):
            for count in (100, 70_000):
                self.turn.add_(1)
                data, out = self.data(0, count, torch.int32), self.place(count, torch.int32)
                if self.me == 0:
                    send(self.link, data, 1, produce=produce)
                elif self.me == 1:
                    recv(self.link, out, 0, consume=consume)
                    self.check(out, 2 * data + 1)
            self.say(f"from {sender} to {receiver}")

    def stalled(self):
        """One rank sends, call after call, and the other comes late."""
        for count in (100, 70_000, 2_000_000 if self.on_gpu else 70_000):
            late = [torch.empty(count, dtype=torch.int32, device=self.device) for _ in range(STALLED)]
            if self.me == 0:
                for number in range(STALLED):
                    self.turn.fill_(number)
                    send(self.link, self.data(0, count, torch.int32), 1)
            elif self.me == 1:
                time.sleep(0.3)
                for number in range(STALLED):
                    recv(self.link, late[number], 0)
                for number in range(STALLED):
                    self.turn.fill_(number)
                    self.check(late[number], self.data(0, count, torch.int32))
            if self.on_gpu:
                torch.cuda.synchronize()
            self.world.barrier()
        self.turn.fill_(0)


def rank_main(options):
    on_gpu = options.device == "gpu"
    world = symm.init(heap_size=options.heap << 20, timeout=60)
    largest = SIZES[-1] if on_gpu else 4096
    how = {"blocks": options.blocks, "channels": 2, "landing": 4 << 20 if on_gpu else 64 << 10}
    if options.domain is None:
        link = NodeTransport(world, **how)
    else:
        link = MeshTransport(NodeTransport(world, **how), NetworkTransport(world, **how), options.domain)
    start = time.monotonic()
    calls = Calls(world, link, options, largest)
    calls.fronts()
    calls.stalled()
    right = calls.right("messages", 1, options, 500)
    world.barrier()
    if world.get_rank() == 0:
        replays = options.replays if on_gpu else 0
        print(f"{options.calls} calls and {replays} replays in {time.monotonic() - start:.0f} s")
    world.close()
    return 0 if right else 1


def main():
    parser = parser_of(__doc__, calls=5000, replays=1000, heap=2048)
    parser.add_argument("--blocks", type=int, default=32)
    parser.add_argument("--domain", type=int, help="ranks of a node; to others messages go as over a network")
    parser.add_argument("--engine", choices=["nvshmem"], help="what reaches the ranks of other nodes")
    options = parser.parse_args()
    if "RANK" in os.environ:
        return rank_main(options)
    if options.domain and (options.engine or options.device == "cpu"):
        os.environ |= {"SYMM_DOMAIN": str(options.domain)} | ({"SYMM_ENGINE": options.engine} if options.engine else {})
    return run_all(Path(__file__), options)


if __name__ == "__main__":
    sys.exit(main())
