#!/usr/bin/env python3
"""Measures sums of floats that show by themselves that they have come against those by packets, on GPUs, in one run.

    python3 bench/device/floats.py --wheel target/wheels/symm-*.whl --ranks 2 -o floats.json

Of each of the two the tuner's candidates are tried, checked bit for bit before they are measured, inside CUDA graphs.
The candidates take turns, `--turns` times; a row has the fastest of each algorithm, of which the least time counts.
Needs torch and Triton; nothing is installed. `--device cpu` tries the script itself.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from torch_ranks import start

SIZES = [1 << power for power in range(10, 19)]
ALGORITHMS = ("packets", "floats")


def measured(tuner, case, options):
    """Of each algorithm the fastest choice and its microseconds."""
    found, _ = tuner.candidates(case)
    found = [choice for choice in found if choice.algorithm in ALGORITHMS]
    # One after the other of each: what changes with time changes both.
    found.sort(key=lambda choice: (choice.block_bytes, choice.warps, choice.algorithm))
    taken = {}
    for _ in range(options.turns):
        for choice in found:
            times = tuner.measure(case, choice, False)
            taken[choice] = min(times, taken.get(choice, times))
    fastest = {}
    for algorithm in ALGORITHMS:
        best = min((choice for choice in taken if choice.algorithm == algorithm), key=taken.get)
        fastest[algorithm] = {"microseconds": round(taken[best], 3), **best._asdict()}
    return fastest


def rank_main(options):
    import symm
    import torch
    from symm.comm import _measure, tune

    rank, ranks, on_gpu = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), options.device == "gpu"
    if on_gpu:
        torch.cuda.set_device(rank % torch.cuda.device_count())
    sizes = [size for size in SIZES if size <= options.largest]
    given = tune.parse(["--ranks", str(ranks), "--sizes", *map(str, sizes), "--rounds", str(options.rounds)])
    world = symm.init(heap_size=2 << 30 if on_gpu else 512 << 20)
    tuner, rows = _measure.Tuner(given, world), []
    for call in options.only:
        for dtype in options.dtypes:
            for size in sizes:
                case = _measure.Case(world, tuner.comm, call, size, getattr(torch, dtype), tuner.heap)
                row = {"call": call, "dtype": dtype, "bytes": size, **measured(tuner, case, options)}
                rows.append(row)
                if rank == 0:
                    figures = ", ".join(f"{name} {row[name]['microseconds']:.2f} µs" for name in ALGORITHMS)
                    gain = row["packets"]["microseconds"] / row["floats"]["microseconds"]
                    print(f"{call} {dtype} {size}: {figures}, {gain:.2f} times as fast", flush=True)
    if rank == 0:
        device = torch.cuda.get_device_name() if on_gpu else "cpu"
        told = {"ranks": ranks, "device": device, "torch": torch.__version__, "rows": rows}
        options.output.write_text(json.dumps(told, indent=1), encoding="utf-8")
    world.close()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("floats.json"))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=["all_reduce", "reduce_scatter"], default=["all_reduce"])
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "float32"])
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="bytes of the largest message")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    options = parser.parse_args()
    return rank_main(options) if "RANK" in os.environ else start(__file__, options.ranks, options.wheel, options.device)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from output import until_reader_leaves

    until_reader_leaves(main)
