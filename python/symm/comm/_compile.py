"""Compiles what the tuner will try, in several processes: Triton's cache then has it for the ranks."""

import subprocess
import sys

from .._memory import torch
from ._calls import Calls
from ._deadline import seconds_of
from ._geometry import geometry_for
from ._measure import SUMS, elements, plans, tried
from ._plan import usable

# Bytes of a heap that has room for everything.
UNBOUNDED = 1 << 62


class CompileOnlyWorld:
    """What calls need of a World, to compile them only: nothing lies in a GPU's memory."""

    def __init__(self, ranks):
        self.ranks, self.device, self.heap_size, self.bases = ranks, torch().device("cpu"), 0, [0] * ranks

    def get_rank(self):
        return 0

    def get_num_ranks(self):
        return self.ranks

    def get_device_context(self):
        return torch().zeros(2 + self.ranks, dtype=torch().int64)


class CompileOnlyCalls(Calls):
    """Calls whose launches are made, and nothing else."""

    def run(self, call, op, source, target, count, root=0):
        self._make(call, op, source.dtype, count, 0)


def launches(options, most_blocks):
    """The launches of all candidates, by what they are compiled for; a GPU runs `most_blocks` at once (None: any)."""
    world = CompileOnlyWorld(options.ranks)
    geometry = geometry_for(options.ranks, UNBOUNDED, most_blocks, options.blocks, options.staging)
    geometry.place(torch().empty(geometry.bytes, dtype=torch().uint8))
    seconds = seconds_of(None, world.device)
    calls = CompileOnlyCalls(world, geometry, 0, tuple(range(options.ranks)), seconds)
    for call, dtype, nbytes in plans(options):
        message, given, _ = elements(call, nbytes, dtype, options.ranks)
        tensor = torch().empty(given, dtype=dtype, device="meta")
        for choice in tried(call, dtype, message, options.ranks, geometry, options.only)[0]:
            calls.choose = lambda *told, choice=choice, **_: usable(choice, *told)
            if call == "broadcast":
                calls.broadcast(tensor, 0)
            else:
                calls.run(call, "sum" if call in SUMS else None, tensor, tensor, message)
    return calls.launches


def share(arguments, number):
    """Compiles the launches of one of `options.jobs` processes, which has this number."""
    from .tune import parse

    options = parse(arguments)
    most_blocks = torch().cuda.get_device_properties(torch().cuda.current_device()).multi_processor_count
    for launch in list(launches(options, most_blocks).values())[number :: options.jobs]:
        launch.compile()


def compile_all(options, arguments):
    """Compiles what the tuner tries with these arguments, a share in each process; whether all did well."""
    print(f"compiling in {options.jobs} processes …", file=sys.stderr, flush=True)
    program = "import sys; from symm.comm import _compile; _compile.share(sys.argv[2:], int(sys.argv[1]))"
    command = [sys.executable, "-c", program]
    processes = [subprocess.Popen([*command, str(number), *arguments]) for number in range(options.jobs)]
    return not any([process.wait() for process in processes])
