#!/usr/bin/env python3
"""Compiles the kernels of public packages with and without a symm op: the machine code has to be the same.

`./x corpus` installs the packages and starts this. A kernel that takes too long, or ends the compiler, is left out.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import selectors
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# Outcomes that are not a fault.
FINE = {"same", "inlined", "skipped"}
# A package may take this many times as long as a kernel until its kernels are found.
IMPORTS = 10


class Worker:
    """One package with one version of Triton; started again after a kernel that it does not survive."""

    def __init__(self, version, python, folder, options):
        self.version, self.package = version, pathlib.Path(folder).name
        self.command = [python, str(HERE / "worker.py"), os.path.abspath(folder), "--keep", options.keep]
        self.command += ["--limit", str(options.limit), "--remote", str(options.remote)]
        self.seconds = options.seconds
        self.log = pathlib.Path(options.keep, f"{self.package}.{version}.log")
        self.found = self.refused = 0
        self.kernel, self.number, self.chosen, self.done, self.rest = None, -1, None, 0, b""
        self.results = []

    def start(self):
        self.since, self.kernel = time.monotonic(), None
        begin = ["--begin", str(self.number + 1)]
        with self.log.open("a") as log:
            # Packages write where they are.
            place = self.log.parent
            self.process = subprocess.Popen(self.command + begin, stdout=subprocess.PIPE, stderr=log, cwd=place)
        os.set_blocking(self.process.stdout.fileno(), False)

    def read(self):
        """Takes what there is; False when there will be no more."""
        if self.seconds and time.monotonic() - self.since > self.seconds * (1 if self.kernel else IMPORTS):
            self.process.kill()
        data = self.process.stdout.read()
        if data is None:
            return True
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"{"):
                self.take(json.loads(line))
        if data:
            return True
        return self.goes_on(self.process.wait())

    def goes_on(self, status):
        """Names what has ended the process too early; True when it has been started again, for the other kernels."""
        if self.chosen and self.done == self.chosen:
            return False
        reason = "took too long" if status == -9 else f"ended the compiler ({status})"
        if self.kernel is None:
            if self.chosen == 0:
                reason = f"no kernels were found, and {self.refused} modules could not be imported"
            result = {"target": "any", "outcome": "nothing", "detail": f"{reason}: see {self.log}"}
            self.results.append({"kernel": self.package, "triton": self.version, **result})
            return False
        self.take({"kernel": self.kernel, "results": [{"target": "any", "outcome": "skipped", "detail": reason}]})
        if self.done == self.chosen:
            return False
        self.start()
        return True

    def take(self, message):
        self.since = time.monotonic()
        if "found" in message:
            self.chosen, self.found, self.refused = message["chosen"], message["found"], message["refused"]
        elif "number" in message:
            self.kernel, self.number = message["kernel"], message["number"]
        else:
            self.done += 1
            self.results += [
                {"kernel": message["kernel"], "triton": self.version, **result} for result in message["results"]
            ]


def bar(workers, start):
    known = sum(worker.chosen or 0 for worker in workers)
    done = sum(worker.done for worker in workers)
    full = 30 * done // known if known else 0
    running = next((worker.kernel for worker in workers if worker.kernel and worker.done < worker.chosen), "")
    text = f"[{'#' * full}{'.' * (30 - full)}] {done} of {known} kernels, {time.monotonic() - start:.0f} s  {running}"
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:120]}", end="", file=sys.stderr, flush=True)


def run(workers, jobs):
    """Lets the workers work, this many at once."""
    start, waiting, running = time.monotonic(), list(workers), []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(waiting.pop(0))
            running[-1].start()
        with selectors.DefaultSelector() as selector:
            for worker in running:
                selector.register(worker.process.stdout, selectors.EVENT_READ)
            selector.select(timeout=1)
        running = [worker for worker in running if worker.read()]
        bar(workers, start)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def known_reasons():
    """Differences that are explained: a pattern of what is printed of one, and why."""
    lines = (HERE / "known.txt").read_text().splitlines()
    return [line.split(" # ", 1) for line in lines if line and not line.startswith("#")]


def report(workers):
    """The table, what differs, and how many differences have no reason."""
    kinds = ["same", "inlined", "differs", "refused", "skipped"]
    print(f"{'package':16} {'triton':8} {'found':>6} {'tried':>6}", *(f"{kind:>8}" for kind in kinds))
    for worker in workers:
        counts = collections.Counter(result["outcome"] for result in worker.results)
        print(
            f"{worker.package:16} {worker.version:8} {worker.found:6} {worker.done:6}",
            *(f"{counts[kind]:8}" for kind in kinds),
        )
    reasons, unexplained = known_reasons(), 0
    for result in (result for worker in workers for result in worker.results if result["outcome"] not in FINE):
        name = f"{result['kernel']} {result['target']} {result['triton']}"
        said = f"{name}: {result['outcome']}: {result['detail']}"
        reason = next((reason for pattern, reason in reasons if fnmatch.fnmatchcase(said, pattern)), None)
        unexplained += reason is None
        print(said + (f" (known: {reason})" if reason else ""))
    return unexplained


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="installed packages")
    parser.add_argument("--python", action="append", required=True, metavar="VERSION=PYTHON", help="with this Triton")
    parser.add_argument("--limit", type=int, default=40, help="kernels of a package, spread over it; 0: all")
    parser.add_argument("--seconds", type=int, default=60, help="for one kernel")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--remote",
        type=int,
        default=0,
        metavar="N",
        help="instead: make up to N accesses of each kernel remote, one at a time",
    )
    parser.add_argument("--keep", required=True, help="folder for machine code that differs, and skipped.txt")
    options = parser.parse_args()
    pythons = [python.split("=", 1) for python in options.python]
    options.keep = os.path.abspath(options.keep)
    pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
    workers = [Worker(*python, folder, options) for folder in options.folders for python in pythons]
    try:
        run(workers, options.jobs)
    except KeyboardInterrupt:
        print("\nended early: this is what has been compared so far", file=sys.stderr)
    unexplained = report(workers)
    skipped = [
        f"{r['kernel']} {r['target']} {r['triton']}: {r['detail']}"
        for w in workers
        for r in w.results
        if r["outcome"] == "skipped"
    ]
    pathlib.Path(options.keep, "skipped.txt").write_text("\n".join(skipped) + "\n")
    if unexplained:
        print(f"{unexplained} differences have no reason in test/corpus/known.txt; their code is in {options.keep}")
    return bool(unexplained)


if __name__ == "__main__":
    sys.exit(main())
