"""Runs symm-check on every program of test/conformance and examples, in all three kinds of schedule.

`%checked` of the lit suites. Nothing may be found: prints what was, and fails if anything was but notes. In turn each
program comes to its end, but for those of LONG; of random schedules and of all of them the first steps are tried.
Programs given by name are checked alone.
"""

import argparse
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300

# What each kind of schedule is asked for.
KINDS = {
    "in turn": [],
    "random": ["--schedules", "1", "--steps", "20000"],
    "exhaustive": ["--exhaustive", "--executions", "2", "--steps", "1000"],
}
# Programs that fill a heap, word by word.
LONG = {"free": ["--steps", "20000"]}
ARGUMENTS = {
    "message_passing": ["--arg", "messages=6"],
    "group_copies": ["--arg", "rounds=2"],
    "heat": ["--input", f"image={ROOT / 'examples/data/heat.npy'}", "--arg", "steps=2"],
    "sharded_matmul": ["--arg", "m=4", "--arg", "k=6", "--arg", "n=5"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release")
    parser.add_argument("--times", action="store_true", help="say how long each program took")
    parser.add_argument("programs", nargs="*", help="names of programs, without .mlir")
    options = parser.parse_args()

    files = sorted([*(ROOT / "test/conformance").glob("*.mlir"), *(ROOT / "examples").glob("*.mlir")])
    files = [file for file in files if not options.programs or file.stem in options.programs]
    runs = [(file, kind) for file in files for kind in KINDS]
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(lambda run: check(options, *run), runs))
    failed = [outcome for outcome in outcomes if outcome]
    for outcome in failed:
        print(outcome)
    print(f"{len(runs) - len(failed)} of {len(runs)} checks found nothing")
    return 1 if failed else 0


def check(options, file, kind):
    limits = KINDS[kind] or LONG.get(file.stem, [])
    command = [options.bin / "symm-check", file, "--ranks", "2", "--threads", "2", *limits]
    command = [str(part) for part in [*command, *ARGUMENTS.get(file.stem, [])]]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        said, status = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired:
        said, status = "", f"more than {SECONDS} s"
    if options.times:
        print(f"{file.stem}, {kind}: {time.monotonic() - begin:.1f} s", flush=True)
    is_cut = "--steps" in limits and "given up after" in said
    if (status == 0 or status == 2 and is_cut) and "symm-check: nothing " in said:
        return None
    return f"{' '.join(command)}\n{said}\nexit status {status}"


if __name__ == "__main__":
    sys.exit(main())
