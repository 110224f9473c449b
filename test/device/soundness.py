#!/usr/bin/env python3
"""Repeats what once went wrong on GPUs: threads that part around group ops, copies of a group, arguments that overlap.

    python3 test/device/soundness.py --bin FOLDER --wheel target/wheels/symm-*.whl --ranks 2 --count 100000
    python3 test/device/soundness.py --bin target/release --driver cpu --count 100    # tries the script itself

`parted_threads` and `group_copies` of test/conformance run COUNT rounds, with a wait and a check of every word in each,
the latter with blocks of 17, 96 and 224 threads. With a wheel `alias.py` of test/python/ranks adds up in place COUNT
times (by torch and Triton; nothing is installed). A run that takes longer than SECONDS has failed. The exit status is 1
if anything failed.
"""

import argparse
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONFORMANCE = HERE.parent / "conformance"
BLOCKS = [17, 96, 224]


def programs(options):
    """The command of every run."""
    for ranks in options.ranks:
        for mode in ([], ["--processes"]):
            for name, blocks in [("parted_threads", [None]), ("group_copies", BLOCKS)]:
                for threads in blocks:
                    given = [f"rounds={options.count}"] + ([f"threads={threads}"] if threads else [])
                    start = [str(options.bin / "symm-run"), str(CONFORMANCE / f"{name}.mlir")]
                    words = [word for each in given for word in ("--arg", each)]
                    yield [*start, "--driver", options.driver, "--ranks", str(ranks),
                           "--timeout", str(options.seconds), *mode, *words]  # fmt: skip
    if options.wheel:
        device = ["--device", "cpu"] if options.driver == "cpu" else []
        ranks = [str(each) for each in options.ranks]
        yield [sys.executable, str(HERE / "python.py"), "--wheel", str(options.wheel), "--ranks", *ranks,
               "--only", "alias", "--repeats", str(options.count),
               "--seconds", str(options.seconds), *device]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of symm-run")
    parser.add_argument("--wheel", type=Path, help="also Triton's kernels")
    parser.add_argument("--driver", default="cuda")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2])
    parser.add_argument("--count", type=int, default=100_000, help="rounds of each program")
    parser.add_argument("--seconds", type=int, default=600, help="for one run")
    options = parser.parse_args()
    failed = 0
    for command in programs(options):
        start = time.monotonic()
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=options.seconds + 60,
                check=False,
            )
            ok, output = done.returncode == 0, done.stdout
        except subprocess.TimeoutExpired:
            ok, output = False, "it was still running\n"
        failed += not ok
        print(f"{'ok  ' if ok else 'FAIL'} {time.monotonic() - start:.1f} s: {shlex.join(command)}", flush=True)
        if not ok:
            print("".join(f"    {line}\n" for line in output.splitlines()[-40:]), end="", flush=True)
    print("nothing failed" if not failed else f"{failed} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
