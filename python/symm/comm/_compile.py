"""Compiles what the tuner will try, in several processes: Triton's cache then has it for the ranks."""

import subprocess
import sys

from .._memory import torch
from ._calls import Calls
from ._candidates import candidates
from ._geometry import geometry_for
from ._plan import usable

# Bytes of a heap that has room for everything.
UNBOUNDED = 1 << 62


class CompileOnlyWorld:
    """What calls need of a World, to compile them only."""

    def __init__(self, ranks, device):
        self.ranks, self.device, self.heap_size, self.bases = ranks, device, 0, [0] * ranks

    def get_rank(self):
        return 0

    def get_num_ranks(self):
        return self.ranks

    def get_device_context(self):
        return torch().zeros(2 + self.ranks, dtype=torch().int64, device=self.device)


def launches(options):
    """The launches of all candidates, each once."""
    from ._measure import plans

    device = torch().device("cuda", torch().cuda.current_device())
    most_blocks = torch().cuda.get_device_properties(device).multi_processor_count
    geometry = geometry_for(options.ranks, UNBOUNDED, most_blocks, options.blocks, options.staging)
    geometry.place(torch().empty(16, dtype=torch().uint8, device=device))
    calls = Calls(CompileOnlyWorld(options.ranks, device), geometry, 0, tuple(range(options.ranks)))
    found = {}
    for call, dtype, nbytes in plans(options):
        reduces = call in ("all_reduce", "reduce_scatter")
        count = max(1, nbytes // dtype.itemsize // options.ranks) * options.ranks
        count = count // options.ranks if call in ("reduce_scatter", "all_to_all") else count
        item = dtype.itemsize
        if not reduces and count * item % 8 == 0:
            items = count * item // 8, 8
        else:
            items = count, item
        for choice in candidates(call, options.ranks, *items, geometry, reduces):
            if options.only and choice.algorithm not in options.only:
                continue
            calls.choose = lambda call, size, count, item, geometry, reduces, choice=choice: usable(
                choice, call, size, count, item, geometry, reduces
            )
            launch = calls._make(call, "sum" if reduces else None, dtype, count, 0).launch
            constants = launch.kernel, launch.warps, tuple(map(str, launch.types)), launch.constants
            found.setdefault(str(constants), launch)
    return list(found.values())


def share(arguments, number):
    """Compiles the launches of one of `options.jobs` processes, which has this number."""
    from .tune import parse

    options = parse(arguments)
    for launch in launches(options)[number :: options.jobs]:
        launch.compile()


def compile_all(options, arguments):
    """Compiles what the tuner tries with these arguments, a share in each process."""
    program = "import sys; from symm.comm import _compile; _compile.share(sys.argv[2:], int(sys.argv[1]))"
    command = [sys.executable, "-c", program]
    processes = [subprocess.Popen([*command, str(number), *arguments]) for number in range(options.jobs)]
    for process in processes:
        process.wait()
