#!/usr/bin/env python3
"""Runs the programs of test/python/ranks and examples/python on GPUs: Triton kernels on torch tensors.

Each rank is a process. With SYMM_TIMEOUT=60 in the environment, `--speed` tells what time-outs cost.

    python3 test/device/python.py --wheel target/wheels/symm-*.whl --ranks 1 2 4 [--rounds 1000000] [--speed]

It needs torch and Triton; nothing is installed. Prints a line for each run, and the output of what failed, cut short.
The exit status is 1 if anything failed. `--device cpu` tries the script itself, under Triton's interpreter.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/python"))
from rank_cases import IN_TIME, TIMEOUTS  # noqa: E402

TESTS, EXAMPLES = ROOT / "test/python/ranks", ROOT / "examples/python"
SHOWN = 40
# Programs of ranks/.
PROGRAMS = ["host.py", "ops.py", "alias.py", "tma.py", "messages.py", "iris_host.py", "iris_triton.py", "worlds.py",
            "iris_tiles.py", "flags.py", "teams.py", "streams.py", "packets.py", "each.py", "traces.py", "far.py",
            "floats.py", "comm_floats.py", "comm_matrix.py", "comm_iris.py", "sendrecv_checked.py",
            "sendrecv_stalled.py"]  # fmt: skip
# Kernels of bounds.py that leave their tensors.
BOUNDS = ["forgotten_mask", "whole_program_outside", "before", "wrong_mask", "far_away", "source_of_a_copy",
          "flag_of_another", "packets", "one_of_two", "rank_for_each",
          "exchanged", "exchanged_while"]  # fmt: skip
# Another, where ranks are far.
FAR_BOUNDS = "of_a_far_rank"


def run(program, ranks, environment, seconds, arguments=(), live=False):
    """Whether a program did well, how long it took, and what its ranks printed; `live`: rank 0 prints by itself."""
    start = time.monotonic()
    environment = {**environment, "WORLD_SIZE": str(ranks), "TORCHELASTIC_RUN_ID": uuid.uuid4().hex}
    command = [sys.executable, program, *arguments]
    files = [None if live and rank == 0 else tempfile.TemporaryFile("w+") for rank in range(ranks)]
    processes = [
        subprocess.Popen(command, env={**environment, "RANK": str(rank)}, stdout=file, stderr=subprocess.STDOUT)
        for rank, file in enumerate(files)
    ]
    codes = []
    for process in processes:
        try:
            codes.append(process.wait(max(0.1, start + seconds - time.monotonic())))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append(f"still running after {seconds} s")
    outputs = []
    for rank, (file, code) in enumerate(zip(files, codes)):
        lines = []
        if file:
            file.seek(0)
            lines = file.read().splitlines()
        outputs += [f"[rank {rank}: {code}]", *lines[-SHOWN:]] if code else lines
    return not any(codes), time.monotonic() - start, outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10_000, help="messages around the ring")
    parser.add_argument("--repeats", type=int, default=2, help="sums in place, where arguments overlap")
    parser.add_argument("--only", nargs="+", metavar="STEM", help="programs: ops, ring_of_slots, …")
    parser.add_argument("--speed", action="store_true", help="also measure, on two ranks and more")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--engine", choices=["nvshmem"], help="what reaches far ranks")
    parser.add_argument("--domain", type=int, help="how many ranks count as a node")
    parser.add_argument("--seconds", type=int, default=180, help="for one run")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time, which share the GPUs")
    options = parser.parse_args()
    on_gpu = options.device == "gpu"
    # Triton's interpreter has no Gluon, and kernels that are compiled before a trace.
    names = PROGRAMS + (["graph.py", "iris_gluon.py", "traced.py"] if on_gpu else [])
    programs = [(program, {}) for program in [*(TESTS / name for name in names), *sorted(EXAMPLES.glob("*.py"))]]
    timeouts = {**TIMEOUTS, **dict.fromkeys(IN_TIME, {})}
    programs += [(TESTS / "timeouts.py", {"CASE": case, **more}) for case, more in timeouts.items()]
    far = options.domain == 1 and max(options.ranks) > 1
    # Which of several ranks is far is not looked at.
    cases = [*(case for case in BOUNDS if case != "rank_for_each"), FAR_BOUNDS] if far else BOUNDS
    bounds = [{}, *({"CASE": case} for case in cases if on_gpu)]
    programs += [(TESTS / "bounds.py", {"SYMM_BOUNDS_CHECKS": "1", **more}) for more in bounds]
    if options.only:
        unknown = set(options.only) - {program.stem for program, _ in programs}
        if unknown:
            parser.error(f"--only: no such program: {', '.join(sorted(unknown))}")
        programs = [(program, more) for program, more in programs if program.stem in options.only]
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(options.wheel).extractall(folder)
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path, "ROUNDS": str(options.rounds)}
        environment["REPEATS"] = str(options.repeats)
        environment |= {"SYMM_ENGINE": options.engine} if options.engine else {}
        environment |= {"SYMM_DOMAIN": str(options.domain)} if options.domain else {}
        if not on_gpu:
            environment["TRITON_INTERPRET"] = "1"
        if options.speed:
            environment["SPEED"] = "1"
        todo = []
        for ranks in options.ranks:
            speed = [(TESTS / "speed.py", {})] if options.speed and ranks > 1 else []
            alone = ("meeting", FAR_BOUNDS)
            todo += [(*each, ranks) for each in programs + speed if ranks > 1 or each[1].get("CASE") not in alone]

        def one(program, more, ranks):
            with tempfile.TemporaryDirectory() as made:
                told = {**environment, **more, "FOLDER": made}
                ok, seconds, lines = run(program, ranks, told, options.seconds)
            what = " ".join([program.name, *more.values()])
            verdict = f"{'ok  ' if ok else 'FAIL'} {what} on {ranks} ranks, {seconds:.1f} s"
            print("\n  ".join([verdict, *lines]), flush=True)
            return ok

        with ThreadPoolExecutor(options.jobs) as pool:
            failed = list(pool.map(lambda each: one(*each), todo)).count(False)
    print("nothing failed" if not failed else f"{failed} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
