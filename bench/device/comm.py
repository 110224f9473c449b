#!/usr/bin/env python3
"""Measures symm's collectives on GPUs against NCCL and torch's symmetric memory, inside CUDA graphs.

    python3 bench/device/comm.py --wheel target/wheels/symm-*.whl --ranks 2 -o comm.json --plots .

On two ranks all-reduces are measured against kernels by hand, too (by_hand_comm.cu), which needs CuPy: of these the
fastest with its fastest grid is looked for first. Every call is captured some times in a graph; a time is the median
over the rounds of what the slowest rank took. `--host` measures instead how long an eager call takes on the host. The
results are checked before anything is measured. Needs torch and Triton; nothing is installed. `--device cpu` tries the
script itself.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

from torch_ranks import microseconds, start

SIZES = [1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20]
CALLS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]


def competitors(call, size, world, comm, device):
    """What does a call of `size` bytes a rank in bfloat16: names, functions without arguments, and their results."""
    import torch
    import torch.distributed as dist

    ranks, me, count = world.get_num_ranks(), world.get_rank(), size // 2
    parted, joined = call in ("reduce_scatter", "all_to_all"), call in ("all_gather", "all_to_all")
    # As NCCL's own tests have it: the bytes of a rank are those of its larger tensor's part, or of all that is summed.
    given = count // ranks * ranks if parted else count
    inp = ((torch.arange(given, device=device) + me) % 5).to(torch.bfloat16)
    taken = given // ranks if call == "reduce_scatter" else (count * ranks if call == "all_gather" else given)
    empty = lambda: torch.zeros(taken, dtype=torch.bfloat16, device=device)  # noqa: E731
    heap_in, heap_out = world.zeros(given, dtype=torch.bfloat16), world.zeros(taken, dtype=torch.bfloat16)
    heap_in.copy_(inp)
    out, theirs = empty(), empty()
    actions = {}

    def call_of(source, target):
        if call == "broadcast":
            return lambda: comm.broadcast(source, 0)
        return lambda: getattr(comm, call)(source, out=target)

    actions["symm"] = call_of(inp, out), inp if call == "broadcast" else out
    actions["symm, tensors on the heap"] = call_of(heap_in, heap_out), heap_in if call == "broadcast" else heap_out
    if device.type != "cpu":
        copied = inp.clone()
        nccl = {
            "all_reduce": lambda: dist.all_reduce(theirs),
            "all_gather": lambda: dist.all_gather_into_tensor(theirs, inp),
            "reduce_scatter": lambda: dist.reduce_scatter_tensor(theirs, inp),
            "all_to_all": lambda: dist.all_to_all_single(theirs, inp),
            "broadcast": lambda: dist.broadcast(copied, 0),
        }[call]
        actions["NCCL"] = nccl, None if call == "all_reduce" else (copied if call == "broadcast" else theirs)
        actions |= torch_symmetric(call, inp, taken)
    return actions


def by_hand(kernels, inp, exact, world):
    """The all-reduce by hand that is fastest: its call and its result, and what it is."""
    import torch

    out = torch.zeros_like(inp)

    def right():
        good = bool((out.float() == exact).all())
        out.zero_()
        return all(world.broadcast(good, rank) for rank in range(world.get_num_ranks()))

    times = max(3, min(50, (16 << 20) // inp.nbytes))
    found = kernels.best(inp, out, lambda act: microseconds(act, times, 3, world), right)
    _, name, (blocks, threads) = found[0]
    return (kernels.action(name, (blocks, threads), inp, out), out), f"{name}, {blocks} blocks of {threads} threads"


def torch_symmetric(call, inp, taken):
    """What torch's symmetric memory has for a call of which a rank gets `taken` elements, without NVSHMEM."""
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symmetric

    if call not in ("all_reduce", "all_gather", "reduce_scatter"):
        return {}
    try:
        buffer = symmetric.empty(inp.numel(), dtype=inp.dtype, device=inp.device)
        symmetric.rendezvous(buffer, dist.group.WORLD)
    except Exception as error:
        print(f"torch's symmetric memory: {error}", file=sys.stderr)
        return {}
    buffer.copy_(inp)
    name, ops, result = dist.group.WORLD.group_name, torch.ops.symm_mem, inp.new_empty(taken)
    if call == "all_gather":
        # Each call gives a new tensor.
        wait = torch.ops._c10d_functional.wait_tensor
        return {"torch low-contention": (lambda: wait(ops._low_contention_all_gather(buffer, name)), None)}
    if call == "reduce_scatter":
        return {"torch reduce_scatter_out": (lambda: ops.reduce_scatter_out(buffer, name, False, result), result)}
    found = {"torch two-shot": (lambda: ops.two_shot_all_reduce_(buffer, "sum", name), None)}
    if inp.nbytes <= 16 << 20:
        found["torch one-shot"] = lambda: ops.one_shot_all_reduce_out(buffer, "sum", name, result), None
    return found


def wanted(call, size, world, device):
    import torch

    ranks, me, count = world.get_num_ranks(), world.get_rank(), size // 2
    given = count // ranks * ranks if call in ("reduce_scatter", "all_to_all") else count
    each = [((torch.arange(given, device=device) + rank) % 5).to(torch.bfloat16) for rank in range(ranks)]
    part = slice(me * (given // ranks), (me + 1) * (given // ranks))
    return {
        "all_reduce": lambda: torch.stack(each).float().sum(0), "all_gather": lambda: torch.cat(each).float(),
        "reduce_scatter": lambda: torch.stack(each).float().sum(0)[part],
        "all_to_all": lambda: torch.cat([one[part] for one in each]).float(), "broadcast": lambda: each[0].float(),
    }[call]()  # fmt: skip


def on_the_host(action, device):
    """Microseconds of the host for an eager call, while the device is busy with others."""
    import torch

    synchronize = torch.cuda.synchronize if device.type != "cpu" else lambda: None
    for _ in range(20):
        action()
    taken = []
    for _ in range(20):
        synchronize()
        begin = time.perf_counter()
        for _ in range(20):
            action()
        taken.append((time.perf_counter() - begin) / 20 * 1e6)
    synchronize()
    return statistics.median(taken)


def ours(row):
    """The time of symm, wherever the tensors lie."""
    return min(row["symm"], row["symm, tensors on the heap"])


def table(rows):
    """A table in Markdown: symm / NCCL, and for all-reduces / the faster of torch's two / by hand."""
    calls = list(dict.fromkeys(row["call"] for row in rows))
    lines = ["| bytes of a rank | " + " | ".join(f"`{call}`" for call in calls) + " |", "|---" * (1 + len(calls)) + "|"]
    for size in sorted({row["bytes"] for row in rows}):
        cells = []
        for row in [row for call in calls for row in rows if row["call"] == call and row["bytes"] == size]:
            torch_own = [value for name, value in row.items() if name.startswith("torch ")]
            figures = [ours(row), row.get("NCCL"), min(torch_own, default=None), row.get("by hand")]
            cells.append(" / ".join(f"{value:.3g}" for value in figures if value is not None))
        unit, power = ("MiB", 20) if size >= 1 << 20 else ("KiB", 10)
        lines.append(f"| {size >> power} {unit} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(rows, ranks, folder):
    """Two charts of each collective, as the tuner draws them: how long it takes, and bytes of a rank per second."""
    from symm.comm._plot import chart, rates

    for call in dict.fromkeys(row["call"] for row in rows):
        lines = {}
        for row in [row for row in rows if row["call"] == call]:
            taken = {name: value for name, value in row.items() if isinstance(value, float)}
            for name, value in taken.items():
                lines.setdefault(name, []).append((row["bytes"], value))
        for name, text in {
            "": chart(f"{call}, {ranks} GPUs", lines),
            "_bandwidth": rates(f"{call}, {ranks} GPUs: bytes of a rank per second", lines),
        }.items():
            (folder / f"comm_{call}_{ranks}{name}.svg").write_text(text, encoding="utf-8")


def rank_main(options):
    import symm
    import torch
    from symm.comm import Communicator

    on_gpu = options.device == "gpu"
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if on_gpu:
        import torch.distributed as dist

        torch.cuda.set_device(rank % torch.cuda.device_count())
        dist.init_process_group("nccl", device_id=torch.device("cuda", rank % torch.cuda.device_count()))
    largest = min(options.largest, 1 << 30)
    world = symm.init(heap_size=(2 << 30) + (2 * ranks + 14) * largest if on_gpu else 256 << 20)
    comm = Communicator(world, blocks=options.blocks)
    kernels = None
    if on_gpu and ranks == 2 and not options.host and "all_reduce" in options.only:
        from by_hand_comm import AllReduces

        kernels = AllReduces(world, largest)
    rows = []
    for call in options.only:
        for size in [size for size in SIZES if size <= largest]:
            actions = competitors(call, size, world, comm, world.device)
            exact, times = wanted(call, size, world, world.device), max(3, min(100, (64 << 20) // size))
            row = {"call": call, "bytes": size, "right": True}
            if kernels and call == "all_reduce":
                inp = ((torch.arange(size // 2, device=world.device) + rank) % 5).to(torch.bfloat16)
                actions["by hand"], row["fastest by hand"] = by_hand(kernels, inp, exact, world)
            for name, (action, result) in actions.items():
                action()
                right = result is None or bool((result.float() == exact).all())
                row["right"] = row["right"] and all(world.broadcast(right, each) for each in range(ranks))
                if options.host:
                    row[name] = on_the_host(action, world.device)
                elif on_gpu:
                    row[name] = microseconds(action, times, options.rounds, world)
            rows.append(row)
            if rank == 0:
                figures = ", ".join(f"{key} {value:.2f}" for key, value in row.items() if isinstance(value, float))
                print(f"{call} {size}: {figures}{'' if row['right'] else '  WRONG'}", flush=True)
            del actions
    if rank == 0:
        what = "host" if options.host else "graph"
        told = {"ranks": ranks, "what": what, "torch": torch.__version__, "rows": rows}
        options.output.write_text(json.dumps(told, indent=1), encoding="utf-8")
        if on_gpu or options.host:
            print(table(rows))
        if options.plots and (on_gpu or options.host):
            draw(rows, ranks, options.plots)
    world.close()
    return 0 if all(row["right"] for row in rows) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("comm.json"))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=CALLS, default=CALLS)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="bytes of the largest message")
    parser.add_argument("--blocks", type=int, help="the most blocks a call may take")
    parser.add_argument("--plots", type=Path, help="a folder to draw charts into")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="only draw the charts of an earlier run's output")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--host", action="store_true", help="how long eager calls take on the host")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    options = parser.parse_args()
    if options.draw:
        told = json.loads(options.draw.read_text(encoding="utf-8"))
        draw(told["rows"], told["ranks"], options.plots or Path())
        return 0
    return rank_main(options) if "RANK" in os.environ else start(__file__, options.ranks, options.wheel, options.device)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from output import until_reader_leaves

    until_reader_leaves(main)
