"""What every part of the benchmark has: the ranks, competitors in turns, and figures for rank 0 to write."""

import json
import os
import sys
from pathlib import Path

# Multicast is not measured, and not every host allows it.
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")

import symm  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

sys.path.append(str(Path(__file__).resolve().parents[1] / "device"))
from torch_ranks import captured  # noqa: E402, F401

QUICK = os.environ["SYMM_BENCH_QUICK"] == "1"
REPEATS = 3 if QUICK else 9
WARM = 2


def start(heap_size):
    """Symm's world, and torch's group of the same ranks."""
    world = symm.init(heap_size=heap_size)
    dist.init_process_group(
        "nccl",
        init_method="file://" + os.environ["SYMM_BENCH_MEETING"],
        rank=world.get_rank(),
        world_size=world.get_num_ranks(),
        device_id=world.get_device(),
    )
    return world


def finish(world, name, figures):
    """Writes the figures of a part."""
    if world.get_rank() == 0:
        path = Path(os.environ["SYMM_BENCH_FIGURES"]) / f"{name}.json"
        path.write_text(json.dumps(figures), encoding="utf-8")
    dist.barrier()
    dist.destroy_process_group()
    world.close()


def in_turns(world, actions, repeats=None):
    """Microseconds of each action, several times, of the rank that took longest; {name: [µs, …]}.

    The host does not wait between them, so that its launches do not count; ranks start together.
    """
    repeats = repeats or REPEATS
    events = {name: [] for name in actions}
    for _ in range(WARM + repeats):
        for name, action in actions.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            world.device_barrier()
            begin.record()
            action()
            end.record()
            events[name].append((begin, end))
    torch.cuda.synchronize()
    times = [[1e3 * begin.elapsed_time(end) for begin, end in pairs[WARM:]] for pairs in events.values()]
    slowest = torch.tensor(times, device=world.get_device())
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return dict(zip(actions, slowest.tolist(), strict=True))


def median(values):
    return sorted(values)[len(values) // 2]


def spread(values):
    """Half of the range, relative to the median."""
    return (max(values) - min(values)) / 2 / median(values)


def say(world, *words):
    if world.get_rank() == 0:
        print(*words, flush=True)
