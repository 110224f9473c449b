#!/usr/bin/env python3
"""Measures messages from GPU to GPU against NCCL's send and receive and the bulk copy, inside CUDA graphs.

    python3 bench/device/sendrecv.py --wheel target/wheels/symm-*.whl -o sendrecv.json

Two ranks. *one way*: rank 0 sends a graph of messages, and rank 1 receives them; a time is a message's, of the slower
rank. *there and back*: half of what a message and its answer take. *both ways*: both ranks send and receive at once.
The bulk copy (`cp.async.bulk`, bench/device/by_hand.cu) has as many blocks as symm's, and does not signal its end.
Competitors take turns; times are medians over the rounds. The results are checked first. Needs torch and Triton;
nothing is installed. `--device cpu` tries the script itself.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from torch_ranks import microseconds, start

SIZES = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 32 << 20, 64 << 20,
         256 << 20, 1 << 30]  # fmt: skip
WAYS = ["one way", "there and back", "both ways", "all_to_all"]
# Of the bulk copy: 12 stages of 16 KiB and what says that they are full.
SHARED = 128 + 12 * 16384


class Messages:
    """The competitors of one way and one size: functions without arguments, for this rank."""

    def __init__(self, world, link, way, size, blocks, bulk):
        import torch

        self.world, self.link, self.way, self.blocks = world, link, way, blocks
        self.me, self.size, self.bulk = world.get_rank(), size, bulk
        on_gpu = world.device.type != "cpu"
        count = size // 4
        self.inp = (torch.arange(count, device=world.device, dtype=torch.int32) + self.me) % 1000
        self.out = torch.zeros(count, device=world.device, dtype=torch.int32)
        self.theirs = torch.zeros_like(self.out) if on_gpu else None
        self.actions = {"symm": self.ours}
        if on_gpu:
            self.actions["NCCL"] = self.nccl
        if bulk and way in ("one way", "both ways"):
            self.target = world.zeros(count, dtype=torch.int32)
            self.there = world.as_remote(self.target, 1 - self.me)
            self.actions["bulk copy"] = self.copy

    def ours(self):
        from symm.comm import all_to_all, recv, send, sendrecv

        link, peer, blocks = self.link, 1 - self.me, self.blocks
        if self.way == "all_to_all":
            all_to_all(link, self.inp, out=self.out, blocks=blocks)
        elif self.way == "both ways":
            sendrecv(link, self.inp, peer, self.out, peer, blocks=blocks)
        else:
            for sender in (0, 1) if self.way == "there and back" else (0,):
                if self.me == sender:
                    send(link, self.inp, peer, blocks=blocks)
                else:
                    recv(link, self.out, peer, blocks=blocks)

    def nccl(self):
        import torch.distributed as dist

        peer = 1 - self.me
        if self.way == "all_to_all":
            dist.all_to_all_single(self.theirs, self.inp)
        elif self.way == "both ways":
            calls = [dist.P2POp(dist.isend, self.inp, peer), dist.P2POp(dist.irecv, self.theirs, peer)]
            for work in dist.batch_isend_irecv(calls):
                work.wait()
        else:
            for sender in (0, 1) if self.way == "there and back" else (0,):
                if self.me == sender:
                    dist.send(self.inp, peer)
                else:
                    dist.recv(self.theirs, peer)

    def copy(self):
        if self.way == "one way" and self.me == 1:
            return
        each = -(-self.size // 16 // self.blocks)
        each = -(-each // 64) * 64
        self.bulk((self.blocks, 1, 1), (32, 1, 1), (self.there, self.inp, self.size // 16, each), SHARED)

    def right(self):
        """Whether every competitor delivers; what nobody sends to this rank is right."""
        import torch

        count = self.size // 4
        sent = [(torch.arange(count, device=self.world.device, dtype=torch.int32) + rank) % 1000 for rank in (0, 1)]
        wanted = sent[1 - self.me]
        if self.way == "all_to_all":
            half = slice(self.me * (count // 2), (self.me + 1) * (count // 2))
            wanted = torch.cat([each[half] for each in sent])
        self.ours()
        if "bulk copy" in self.actions:
            self.copy()
        self.world.barrier()
        if self.way == "one way" and self.me == 0:
            return True
        copied = "bulk copy" not in self.actions or torch.equal(self.target, wanted)
        return torch.equal(self.out, wanted) and copied


def bulk_copy():
    """The kernel that is written by hand, or None where torch cannot compile it."""
    import torch

    source = (Path(__file__).parent / "by_hand.cu").read_text(encoding="utf-8")
    # torch gives a kernel integers of 32 bits.
    source = source.replace("engine(char *dst, const char *src, u64 count, u64 each)",
                            "engine(char *dst, const char *src, int count, int each)")  # fmt: skip
    try:
        kernel = torch.cuda._compile_kernel(source, "engine", nvcc_options=["--std=c++17"])
        kernel.set_shared_memory_config(SHARED)
    except Exception as error:
        print(f"the bulk copy is left out: {error}", file=sys.stderr)
        return None
    return lambda grid, block, arguments, shared: kernel(grid=grid, block=block, args=arguments, shared_mem=shared)


def line(row):
    """A row in words."""
    size, times = row["bytes"], {name: value for name, value in row.items() if isinstance(value, float)}
    told = ", ".join(f"{name} {value:.2f} µs {size / value / 1e3:.0f} GB/s" for name, value in times.items())
    return f"{row['way']} {size}, {row['blocks']} blocks: {told}{'' if row['right'] else '  WRONG'}"


def draw(rows, folder):
    """Two charts of each way, time and bandwidth: symm with this many blocks, others with as many as the first has."""
    from symm.comm._plot import chart, rates

    first = rows[0]["blocks"]
    for way in dict.fromkeys(row["way"] for row in rows):
        lines = {}
        for row in [row for row in rows if row["way"] == way]:
            for name in [name for name, value in row.items() if isinstance(value, float)]:
                if name == "symm" or row["blocks"] == first:
                    line = f"symm, {row['blocks']} blocks" if name == "symm" else name
                    lines.setdefault(line, []).append((row["bytes"], row[name]))
        if lines:
            name = f"sendrecv_{way.replace(' ', '_')}"
            (folder / f"{name}.svg").write_text(chart(f"{way}, 2 GPUs", lines), encoding="utf-8")
            (folder / f"{name}_bandwidth.svg").write_text(rates(f"{way}, 2 GPUs", lines), encoding="utf-8")


def rank_main(options):
    import symm
    import torch
    from symm.comm import NodeTransport

    on_gpu, rank = options.device == "gpu", int(os.environ["RANK"])
    bulk = None
    if on_gpu:
        import torch.distributed as dist

        torch.cuda.set_device(rank)
        dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
        bulk = bulk_copy()
    world = symm.init(heap_size=(1 << 30) + 2 * options.largest if on_gpu else 256 << 20)
    rows = []
    for blocks in options.blocks:
        link = NodeTransport(world, blocks=blocks, staging=options.staging << 20)
        blocks = link.blocks
        for way in options.only:
            for size in [size for size in SIZES if options.smallest <= size <= options.largest]:
                messages = Messages(world, link, way, size, blocks, bulk)
                right = messages.right()
                row = {"way": way, "bytes": size, "blocks": blocks}
                row["right"] = all(world.broadcast(right, each) for each in range(2))
                times = max(3, min(100, (64 << 20) // size))
                for name, action in messages.actions.items():
                    if on_gpu:
                        row[name] = microseconds(action, times, options.rounds, world)
                        row[name] /= 2 if way == "there and back" else 1
                rows.append(row)
                if rank == 0:
                    print(line(row), flush=True)
                del messages
        link.close()
    if rank == 0:
        told = {"ranks": 2, "torch": torch.__version__, "rows": rows}
        options.output.write_text(json.dumps(told, indent=1), encoding="utf-8")
        if options.plots:
            draw(rows, options.plots)
    world.close()
    return 0 if all(row["right"] for row in rows) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("sendrecv.json"))
    parser.add_argument("--plots", type=Path, help="a folder to draw charts into")
    parser.add_argument("--only", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--smallest", type=int, default=SIZES[0], help="bytes of the smallest message")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="bytes of the largest message")
    parser.add_argument("--blocks", type=int, nargs="+", default=[32], help="that send, and as many that receive")
    parser.add_argument("--staging", type=int, default=128, help="MiB of the heap for a transport")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    options = parser.parse_args()
    return rank_main(options) if "RANK" in os.environ else start(__file__, 2, options.wheel, options.device)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from output import until_reader_leaves

    until_reader_leaves(main)
