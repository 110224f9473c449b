#!/usr/bin/env python3
"""Runs the whole of test/conformance, examples and test/litmus on a machine without a build, tries faults and graphs.

    python3 test/device/run.py --bin FOLDER --driver cuda --ranks 1 2 4 --rounds 1000000 --faults --sanitize

FOLDER holds symm-run. Prints a line for each run, one table, and the output of what failed, cut short. The exit
status is 1 if anything failed. `--driver cpu` tries the script itself.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import faults
import graphs
import timelines

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import litmus  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ["test/conformance", "examples", "test/litmus"]
SANITIZERS = ["memcheck", "racecheck"]
SHOWN = 12


class Run:
    """A program in a configuration, and what came out."""

    def __init__(self, name, column, command, seconds, trace=None):
        self.name, self.column, self.command, self.seconds, self.trace = name, column, command, seconds, trace
        self.ok, self.time, self.output = False, 0.0, ""

    def run(self):
        start = time.monotonic()
        child = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 errors="replace", start_new_session=True)
        try:
            self.output = child.communicate(timeout=self.seconds)[0]
            self.ok = child.returncode == 0
            self.output += "" if self.ok else f"\nexit status {child.returncode}"
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            self.output = child.communicate()[0] + f"\nstill running after {self.seconds} s"
        self.time = time.monotonic() - start
        print(f"{'ok  ' if self.ok else 'FAIL'} {self.name}, {self.column}, {self.time:.1f} s", flush=True)


def run_lines(program, scratch):
    """The arguments of each `RUN: %run-all` line of a program."""
    text = program.read_text(encoding="utf-8")
    for line in re.findall(r"^// RUN: %run-all(.*)$", text, re.MULTILINE):
        line = line.replace("%S", str(program.parent)).replace("%t", str(Path(scratch) / program.stem))
        yield shlex.split(line)


def restricted(program):
    match = re.search(r"^// RANKS: ([\d ]+)$", program.read_text(encoding="utf-8"), re.MULTILINE)
    return match and [int(ranks) for ranks in match[1].split()]


def runs(options, scratch):
    for folder in FOLDERS:
        for program in litmus.programs(ROOT / folder, scratch):
            name = f"{Path(folder).name}/{program.stem}"
            if options.only and not re.search(options.only, name):
                continue
            for number, arguments in enumerate(run_lines(program, scratch)):
                if folder == "test/litmus" and options.rounds:
                    more = [f"rounds={options.rounds}", "instances=16", "stress=8"]
                    arguments = [*arguments, *(word for each in more for word in ("--arg", each))]
                for ranks in options.ranks:
                    if ranks not in (restricted(program) or options.ranks):
                        continue
                    full = name + ("" if number == 0 else f" ({number + 1})")
                    yield from configurations(options, scratch, full, program, arguments, ranks)


def configurations(options, scratch, name, program, arguments, ranks):
    for mode in options.modes:
        filled = [each.replace("{ranks}", str(ranks)).replace("{mode}", mode) for each in arguments]
        command = [str(options.bin / "symm-run"), str(program), "--ranks", str(ranks), "--driver", options.driver,
                   "--timeout", str(options.seconds), *(["--processes"] if mode == "processes" else []), *filled]
        trace = None
        if options.timelines and "litmus" not in name:
            trace = Path(scratch) / f"{name.replace('/', '-')}-{ranks}-{mode}.json"
        traced = ["--trace", str(trace)] if trace else []
        yield Run(name, f"{ranks} {mode}", command + traced, options.seconds + 20, trace)
        if options.sanitizer and ranks == min(options.ranks) and mode == "threads" and "litmus" not in name:
            for tool in SANITIZERS:
                wrapped = [options.sanitizer, "--tool", tool, "--error-exitcode", "9", "--target-processes", "all"]
                yield Run(name, f"{ranks} {tool}", wrapped + command, 4 * options.seconds)


def table(done):
    columns = list(dict.fromkeys(run.column for run in done))
    names = list(dict.fromkeys(run.name for run in done))
    by_place = {(run.name, run.column): run for run in done}
    width = max(map(len, names), default=0)
    print(" " * width, *(f"{column:>12}" for column in columns))
    for name in names:
        cells = []
        for column in columns:
            run = by_place.get((name, column))
            cells.append("-" if run is None else f"{'ok' if run.ok else 'FAIL'} {run.time:.1f}s")
        print(f"{name:<{width}}", *(f"{cell:>{max(12, len(column))}}" for cell, column in zip(cells, columns)))


def show_failed(done):
    for run in done:
        if not run.ok:
            print(f"\nFAILED: {run.name}, {run.column}: {shlex.join(run.command)}")
            lines = run.output.strip().splitlines()
            cut = lines if len(lines) <= SHOWN else [*lines[: SHOWN // 2], "…", *lines[-SHOWN // 2 :]]
            print("\n".join("    " + line[:240] for line in cut))


def show_litmus(done):
    """How many rounds were played, and what showed; the histograms are in the log."""
    for run in done:
        variants = re.findall(r"\] (.*): (\d+) of (\d+) (forbidden|weak)$", run.output, re.MULTILINE)
        if variants:
            rounds = sum(int(times) for _, _, times, _ in variants)
            print(f"{run.name}, {run.column}: {rounds} rounds in {len(variants)} variants of rank 0")
        for name, seen, times, kind in variants:
            if seen != "0":
                print(f"    {name}: {seen} of {times} {kind}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of symm-run")
    parser.add_argument("--driver", default="cuda")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--modes", nargs="+", default=["threads", "processes"])
    parser.add_argument("--only", help="a pattern that names of programs must match")
    parser.add_argument("--jobs", type=int, default=4, help="runs at a time; litmus tests run alone")
    parser.add_argument("--seconds", type=int, default=60, help="for one run")
    parser.add_argument("--rounds", type=int, help="of each litmus test; their own default without it")
    parser.add_argument("--sanitize", action="store_true", help="also under compute-sanitizer, on the fewest ranks")
    parser.add_argument("--log", type=Path, help="a file for what all runs print")
    parser.add_argument("--faults", action="store_true", help="also the faults of faults.py")
    parser.add_argument("--timelines", action="store_true", help="also the timelines of all but the litmus tests")
    parser.add_argument("--ipc", action="store_true", help="heaps that are opened, as where memory cannot be mapped")
    parser.add_argument("--graphs", action="store_true", help="also CUDA graphs, from what graphs.py has put in FOLDER")
    parser.add_argument("--no-programs", action="store_true", help="only the faults and the graphs")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    if options.ipc:
        os.environ["SYMM_IPC"] = "1"
    options.sanitizer = shutil.which("compute-sanitizer") if options.sanitize else None
    if options.sanitize and not options.sanitizer:
        print("compute-sanitizer is not installed: nothing ran under it")

    with tempfile.TemporaryDirectory() as scratch:
        todo = [] if options.no_programs else list(runs(options, scratch))
        alone = [run for run in todo if "litmus" in run.name]
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(Run.run, [run for run in todo if run not in alone]))
        for run in alone:
            run.run()
        for run in todo:
            if run.ok and run.trace:
                complaint = timelines.check(run.trace, options.driver, int(run.column.split()[0]))
                run.ok, run.output = not complaint, run.output + complaint
        if todo:
            table(todo)
            show_litmus(alone)
            timelines.show(run for run in todo if run.trace)
            show_failed(todo)
        if options.log:
            options.log.write_text("".join(f"{shlex.join(run.command)}\n{run.output}\n" for run in todo), "utf-8")
        failed = sum(not run.ok for run in todo)
        print(f"\n{len(todo) - failed} runs passed, {failed} failed", flush=True)
        if options.graphs:
            failed += graphs.run(options.bin, options.ranks)
        if options.timelines:
            failed += timelines.run_failed(options.bin / "symm-run", options.driver, max(options.ranks))
        if options.faults:
            failed += faults.run(options.bin / "symm-run", options.driver, max(2, max(options.ranks)))
    sys.exit(failed > 0)


main()
