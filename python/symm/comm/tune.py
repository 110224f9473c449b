"""Finds which algorithm with which grid is fastest for each collective and size, and writes a table of it.

    python -m symm.comm.tune --ranks 2 -o table.json --plot table.svg
    SYMM_COMM_TABLE=table.json torchrun --nproc-per-node 2 mine.py

Every candidate is checked before it is measured: calls with new data each time, in outputs that were poisoned, bit for
bit. Of those within 2.5 % of the fastest, the one of the fewest blocks is taken. Times are those of a call in a CUDA
graph, of the slowest rank; without a GPU (TRITON_INTERPRET=1) those of calls, which tries the program itself.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import uuid
from pathlib import Path

from .._symm import MAX_RANKS

CALLS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast")
SIZES = [1 << power for power in range(10, 29, 2)] + [1 << 15, 1 << 17, 1 << 19, 1 << 21]


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m symm.comm.tune", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("table.json"), help="keeps its rows for other calls")
    parser.add_argument("--plot", type=Path, help="SVG file for a plot of the times")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--calls", nargs="+", choices=CALLS, default=list(CALLS))
    parser.add_argument("--sizes", nargs="+", type=int, default=sorted(SIZES), help="sizes of a rank's input, in bytes")
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "float32"], help="data types of sums")
    parser.add_argument("--blocks", type=int, default=None, help="limit on the blocks of a call")
    parser.add_argument("--staging", type=int, default=None, help="bytes of heap for a communicator")
    parser.add_argument("--checks", type=int, default=5, help="checked calls of each candidate")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each candidate")
    parser.add_argument("--only", nargs="+", help="algorithms to try")
    parser.add_argument("--jobs", type=int, default=0, help="processes that compile candidates in advance")
    parser.add_argument("--all", action="store_true", help="write the times of all candidates to the table")
    options = parser.parse_args(arguments)
    if options.ranks < 2:
        parser.error("--ranks must be 2 or more: one rank has nothing to tune")
    if options.ranks > MAX_RANKS:
        parser.error(f"--ranks must be {MAX_RANKS} or less, which is the most ranks of a run")
    if min(options.sizes) < 1 or min(options.checks, options.rounds) < 1:
        parser.error("--sizes, --checks and --rounds must be 1 or more")
    if options.blocks is not None and not 1 <= options.blocks <= 1024:
        parser.error("--blocks must be from 1 to 1024")
    if options.jobs < 0 or (options.staging is not None and options.staging < 0):
        parser.error("--jobs and --staging must be 0 or more")
    if wrong := wrong_algorithms(options.only) or wrong_dtypes(options.dtypes):
        parser.error(wrong)
    return options


def wrong_algorithms(names):
    """What is wrong with the names of algorithms; None if nothing is."""
    from ._table import ALGORITHMS

    unknown = [name for name in names or () if name not in ALGORITHMS]
    return f"--only: there is no algorithm {unknown[0]!r}: there are {', '.join(ALGORITHMS)}" if unknown else None


def wrong_dtypes(names):
    """What is wrong with the names of data types; None if nothing is."""
    from ._types import accumulators

    known = [str(dtype).removeprefix("torch.") for dtype in accumulators()]
    unknown = [name for name in names if name not in known]
    return f"--dtypes: there are no sums of {unknown[0]!r}: there are {', '.join(known)}" if unknown else None


def wrong_machine(options):
    """What this machine lacks; None if nothing."""
    if os.environ.get("TRITON_INTERPRET") == "1":
        return "--jobs compiles for a GPU: leave it out with TRITON_INTERPRET=1" if options.jobs else None
    import torch

    count = torch.cuda.device_count()
    if not count:
        return "there is no GPU here: TRITON_INTERPRET=1 tries the tuner without one"
    return f"--ranks {options.ranks} is more than this machine has GPUs: {count}" if options.ranks > count else None


def wrong_files(options):
    """What is wrong with the files that will be written or are read; None if nothing is."""
    from ..errors import ArgumentError
    from ._table import VARIABLE, read

    for name, path in (("--output", options.output), ("--plot", options.plot)):
        if path is not None and (wrong := unwritable(path)):
            return f"{name}: {path} cannot be written: {wrong}"
    try:
        for path in filter(None, [options.output if options.output.exists() else None, os.environ.get(VARIABLE)]):
            read(path)
    except ArgumentError as error:
        return f"{error}, or give another --output" if path is options.output else str(error)
    return None


def unwritable(path):
    """Why a file cannot be written; None if it can."""
    if path.is_dir():
        return "it is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    return None if os.access(path if path.exists() else path.parent, os.W_OK) else "no permission"


def start(options, arguments):
    """Starts a process for each rank; the exit status is the worst of theirs."""
    if options.jobs:
        from ._compile import compile_all

        if not compile_all(options, arguments):
            return 1
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "WORLD_SIZE": str(options.ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                   "TORCHELASTIC_RUN_ID": uuid.uuid4().hex}  # fmt: skip
    command = [sys.executable, "-m", "symm.comm.tune", *arguments]
    ranks = [
        subprocess.Popen(command, env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(options.ranks)
    ]
    return max(abs(process.wait()) for process in ranks)


def merged(path, table):
    """A table with the rows of the file that it replaces, of the same device, for what it has none for."""
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))
        new = {place(row) for row in table["rows"]}
        if before.get("device") == table["device"]:
            table["rows"] += [row for row in before["rows"] if place(row) not in new]
    table["rows"].sort(key=lambda row: (*place(row), row["algorithm"] != "floats"))
    return table


def place(row):
    """What a row is for."""
    return row["ranks"], row["call"], row["element_bytes"], row["bytes"]


def written(table):
    """The text of a table: a line for each row."""
    rows = ",\n".join("  " + json.dumps(row) for row in table["rows"])
    rest = "".join(f'"{name}": {json.dumps(value)},\n ' for name, value in table.items() if name != "rows")
    return f'{{{rest}"rows": [\n{rows}\n]}}\n'


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parse(arguments)
    is_rank = "RANK" in os.environ
    if wrong := (None if is_rank else wrong_machine(options)) or wrong_files(options):
        print(f"python -m symm.comm.tune: {wrong}", file=sys.stderr)
        return 2
    if not is_rank:
        return start(options, arguments)
    from ..errors import SymmError
    from ._measure import tune

    try:
        table = tune(options)
    except SymmError as error:
        print(f"python -m symm.comm.tune: {error}", file=sys.stderr)
        return 1
    if table is not None:
        table = merged(options.output, table)
        options.output.write_text(written(table), encoding="utf-8")
        if options.plot:
            from ._plot import plot

            options.plot.write_text(plot(table), encoding="utf-8")
        print(f"{len(table['rows'])} rows in {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
