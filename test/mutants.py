"""Takes one synchronisation out of a right program, or weakens it, and checks what is left with symm-check.

`%mutants PROGRAM…` of the lit suites; without names, every program of test/conformance and examples. A mutant deletes
a signal, wait, fence or barrier, or gives it less: no order, half of one, the scope of a rank or of a block, one thread
in place of its group. Each has to be reported, or explained in mutants.toml. At the end a table; fails if a mutant is
neither, or if an explanation is of none that is left over. Stopped by SIGINT or SIGTERM, it prints the table of what
was tried until then, and fails.
"""

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from checked import ARGUMENTS, ROOT

EXPLAINED = Path(__file__).with_suffix(".toml")
SECONDS = 300
# Tried one after the other, until one reports.
CHECKS = [
    ["--ranks", "2", "--threads", "2"],
    ["--ranks", "2", "--threads", "2", "--schedules", "5", "--steps", "100000"],
    ["--ranks", "3", "--threads", "2", "--schedules", "1", "--steps", "100000"],
    ["--ranks", "4", "--threads", "2"],
]
OP = re.compile(
    r"(?:(%\w+) = )?(symm\.(?:signal|wait|put_signal|fence|barrier|barrier_all|atomic_rmw|atomic_cas|wait_packet)"
    r"|gpu\.barrier)\b"
)
# Processes under way.
CHILDREN = set()
NARROW = ["scope gpu", "scope cta"]
# What a clause is put before, in the order of the assembly; else it stands before the types.
LATER = {"sem": r" scope | group | engine | \{", "scope": r" group | engine | \{"}


@dataclass
class Mutant:
    """A program's text with one op changed."""

    file: Path
    line: int
    op: str
    change: str
    text: str = field(repr=False)
    nth: int = 1

    def __str__(self):
        nth = f" (number {self.nth})" if self.nth > 1 else ""
        return f"{self.file.relative_to(ROOT)}:{self.line}: {self.change}: {self.op}{nth}"


def mutants_of(file):
    """All mutants of a program."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    seen = Counter()
    for at, line in enumerate(lines):
        if not (found := OP.match(line.strip())):
            continue
        end = at + 1
        while lines[end].lstrip().startswith(":") or lines[end - 1].rstrip().endswith(","):
            end += 1
        op = " ".join(part.strip() for part in lines[at:end])
        seen[op] += 1
        for change, weaker in weaken(op, found[1], found[2].partition(".")[2]):
            text = "".join([*lines[:at], weaker + "\n" * (end - at), *lines[end:]])
            yield Mutant(file, at + 1, op.rpartition(" : ")[0] or op, change, text, seen[op])


def weaken(op, result, name):
    """What an op may become: a word for the change, and the text."""
    if name == "wait_packet":
        values, _, types = op.replace(f"{result} =", f"{result}, %mutant_ =").partition(" -> ")
        return [("look once", f"{values.replace('wait_packet', 'try_packet')} -> {types}, i1")]
    made = []
    if name not in ("atomic_rmw", "atomic_cas"):
        nothing = f"{result} = arith.constant true" if result else ""
        made.append(("delete", put_alone(op) if name == "put_signal" else nothing))
    if name not in ("barrier", "barrier_all"):
        made += [(clause, with_clause(op, clause)) for clause in [*orders(op, name), *NARROW] if name != "gpu.barrier"]
    if name in ("signal", "fence") and (group := re.search(r" group (?:block|warp)", op)):
        made.append(("group thread", op.replace(group[0], "")))
    return made


def orders(op, name):
    """The orders that are less than an op's."""
    said = re.search(r" sem (\w+)", op)
    default = {"signal": "release", "wait": "acquire", "put_signal": "relaxed"}.get(name, "acq_rel")
    order = said[1] if said else default
    halves = ["acquire", "release"] if order == "acq_rel" else []
    nothing = ["relaxed"] if order != "relaxed" and name != "fence" else []
    return [f"sem {less}" for less in halves + nothing]


def with_clause(op, clause):
    """The op with a `sem` or `scope` of its own."""
    word = clause.split()[0]
    op = re.sub(rf" {word} \w+", "", op)
    later = re.search(LATER[word], op)
    types = op.rindex(" : ") if " : " in op else len(op)
    start = later.start() if later else types
    return f"{op[:start]} {clause}{op[start:]}"


def put_alone(op):
    """A put_signal that does not signal."""
    head, _, types = op.rpartition(" : ")
    parts = re.fullmatch(r"symm\.put_signal \w+ (%\w+, %\w+, %\w+), %\w+\[[^]]*\], %\w+, (.*)", head)
    how = re.sub(r" scope \w+", "", parts[2])
    return f"symm.put {parts[1]}, {how} : {', '.join(split_types(types)[:2])}"


def split_types(text):
    """Types, of which each may have commas in it."""
    return re.findall(r"(?:[^,<]|<(?:[^<>]|<[^<>]*>)*>)+", text.strip())


class Stopped(Exception):
    """By a signal."""


def stop(number, _):
    raise Stopped(number)


def run(command):
    """What a command printed. A signal of the terminal does not reach it: `tried` ends it."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as child:
        CHILDREN.add(child)
        try:
            out, err = child.communicate(timeout=SECONDS)
        finally:
            child.kill()
            CHILDREN.discard(child)
    return subprocess.CompletedProcess(command, child.returncode, out, err)


def check(mutant, options, folder):
    """Which check reports a mutant, and of what kind; or nothing."""
    path = Path(folder) / f"{mutant.file.stem}.{mutant.line}.{mutant.change.replace(' ', '-')}.mlir"
    path.write_text(mutant.text, encoding="utf-8")
    for limits in CHECKS[: options.checks]:
        command = [options.bin / "symm-check", path, "--as-written", *limits, *ARGUMENTS.get(mutant.file.stem, [])]
        try:
            done = run([str(each) for each in command])
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 1:
            return re.search(r" error: ([\w-]+)", done.stdout)[1]
        if "symm-check: nothing " not in done.stdout:
            sys.exit(f"{mutant}\n{done.stdout}{done.stderr}is no program")
    return None


@dataclass
class Reason:
    """Why mutants of a program need not be reported: those whose op has this text in it and whose change is named."""

    program: str
    op: str
    changes: list[str]
    reason: str
    numbers: list[int] = field(default_factory=list)

    def covers(self, mutant):
        is_named = mutant.change in self.changes or mutant.change.split()[0] in self.changes
        is_there = self.program == mutant.file.stem and self.op in mutant.op
        return is_there and is_named and (not self.numbers or mutant.nth in self.numbers)


def explained(programs):
    """The reasons for these programs."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["explained"]
    return [Reason(**entry) for entry in entries if entry["program"] in programs]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--checks", type=int, default=len(CHECKS), help="how many of the checks are tried")
    parser.add_argument("--progress", action="store_true", help="say of each mutant what was reported")
    parser.add_argument("programs", nargs="*", help="names of programs, without .mlir")
    options = parser.parse_args()

    files = sorted([*(ROOT / "test/conformance").glob("*.mlir"), *(ROOT / "examples").glob("*.mlir")])
    files = [file for file in files if not options.programs or file.stem in options.programs]
    mutants = [mutant for file in files for mutant in mutants_of(file)]
    reasons = explained({file.stem for file in files})
    with tempfile.TemporaryDirectory() as folder:
        outcomes, stopped = tried(mutants, options, folder)
    failed = report(len(mutants), outcomes, stopped, reasons)
    return 128 + stopped if stopped else int(failed)


def tried(mutants, options, folder):
    """Each mutant that was checked, with what was reported; and the signal that came before the last one, or None."""
    outcomes = []
    pool = ThreadPoolExecutor(max_workers=options.jobs)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        running = {pool.submit(check, mutant, options, folder): mutant for mutant in mutants}
        for future in as_completed(running):
            mutant, kind = running[future], future.result()
            outcomes.append((mutant, kind))
            if options.progress:
                done = f"{len(outcomes)} of {len(mutants)}"
                print(f"{done}: {mutant}: {kind or 'not reported'}", file=sys.stderr, flush=True)
    except Stopped as stopped:
        return outcomes, stopped.args[0]
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        pool.shutdown(wait=False, cancel_futures=True)
        for child in list(CHILDREN):
            child.kill()
        pool.shutdown()
    return outcomes, None


def report(count, outcomes, stopped, reasons):
    """Prints the table; whether anything is unexplained, or explained in vain."""
    kinds = Counter(kind for _, kind in outcomes if kind)
    left = [mutant for mutant, kind in outcomes if not kind]
    survived = [mutant for mutant in left if not any(reason.covers(mutant) for reason in reasons)]
    stale = [reason for reason in reasons if not any(reason.covers(mutant) for mutant in left) and not stopped]
    for mutant in sorted(survived, key=str):
        print(f"survived: {mutant}")
    for reason in stale:
        print(f"explains nothing that is left: {reason}")
    for kind, times in kinds.most_common():
        print(f"{times:6} {kind}")
    verdicts = f"{kinds.total()} reported, {len(left) - len(survived)} explained, {len(survived)} survived"
    if stopped:
        print(f"stopped: {len(outcomes)} of {count} mutants: {verdicts}")
    else:
        print(f"{count} mutants: {verdicts}")
        print("nothing unexplained" if not survived else "each that survived has to be reported, or explained")
    return bool(survived or stale)


if __name__ == "__main__":
    sys.exit(main())
