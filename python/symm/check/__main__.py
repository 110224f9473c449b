"""Checks a script: `python -m symm.check script.py`, as if each of its ranks ran it."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import sys
import types
from pathlib import Path


def main():
    # Before Triton is imported.
    os.environ["TRITON_INTERPRET"] = "1"
    parser = _parser()
    options = parser.parse_args()
    if options.executions is not None and not options.exhaustive:
        parser.error("--executions is the limit of --exhaustive")
    if options.html == "-":
        parser.error("--html -: give a file; the report is on standard output")
    from . import _api

    script = Path(options.script)
    try:
        code = compile(script.read_text(), str(script.resolve()), "exec")
    except (OSError, SyntaxError, ValueError) as error:
        sys.exit(_failed(error))
    sys.path[0] = str(script.resolve().parent)
    sys.argv = [options.script, *options.arguments]
    keywords = {name: value for name, value in vars(options).items() if name not in ("script", "arguments", "json")}
    if options.executions is None:
        del keywords["executions"]
    _api.command = _command(options)
    try:
        # What each rank prints in each execution is not shown.
        with contextlib.redirect_stdout(io.StringIO()):
            report = _api.run(lambda: _execute(code), **keywords)
    except Exception as error:
        if (found := getattr(error, "found", None)) is not None:
            print(found.json() if options.json else found, flush=True)
        if not isinstance(error, _api.ArgumentError | _api.CheckError | _api.UnsupportedError):
            sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(_failed(error))
    try:
        print(report.json() if options.json else report, flush=True)
    except OSError as error:
        # Nothing is left to be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_failed(error))
    sys.exit(1 if not report.is_clean else 2 if report.given_up else 0)


def _command(options):
    """This command line, without what says which schedules are tried and where the report goes."""
    from ._report import Command

    # A word that the shell finds, if it finds this Python.
    python = "python3" if shutil.which("python3") == sys.executable else sys.executable
    words = [python, "-m", "symm.check", "--ranks", str(options.ranks)]
    parser = _parser()
    for name in ("programs", "steps", "polls", "seconds", "allow"):
        value = getattr(options, name)
        # Standard input is another one next time.
        if value not in (parser.get_default(name), "-"):
            words += [f"--{name}", str(value)]
    changes = ["--changes", str(options.changes)] if options.changes != parser.get_default("changes") else []
    return Command(words, [options.script, *options.arguments], changes)


def _failed(error):
    print(f"symm.check: {type(error).__name__}: {error}", file=sys.stderr)
    return 2


def _execute(code):
    module = types.ModuleType("__main__")
    module.__file__ = code.co_filename
    exec(code, module.__dict__)


def _parser():
    text = "Finds races, missing order and deadlocks of a script with Triton kernels, without a GPU. "
    text += "The exit status is 0 if no error was found, 1 if one was, and 2 if the script could not be checked."
    parser = argparse.ArgumentParser(prog="python -m symm.check", description=text)
    parser.add_argument("script", help="a program that calls symm.init; each rank runs it")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the arguments of the script")
    parser.add_argument("--ranks", type=int, default=2, help="number of ranks (2)")
    parser.add_argument("--schedules", type=int, help="random schedules to try (10)")
    parser.add_argument("--seed", type=int, help="first seed of random schedules; alone, only this one")
    parser.add_argument("--changes", type=int, default=3, help="changes of priority in a random schedule (3)")
    parser.add_argument("--exhaustive", action="store_true", help="try every distinct schedule")
    parser.add_argument("--executions", type=int, help="limit of --exhaustive (100000)")
    parser.add_argument("--replay", help="run the schedule of a report again")
    parser.add_argument("--programs", type=int, help="programs of a rank that are resident on its device at once")
    parser.add_argument("--steps", type=int, default=200_000, help="limit on the steps of one execution (200000)")
    text = "looks at the same after which a loop that may end by itself polls in vain (2000, with --exhaustive 100)"
    parser.add_argument("--polls", type=int, help=text)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit on a task without a visible step (60)")
    parser.add_argument("--html", help="also write the report as a web page that draws each finding")
    parser.add_argument("--allow", help="file of known findings, with lines of PLACE KIND REASON; - is standard input")
    parser.add_argument("--json", action="store_true", help="write the report as JSON")
    return parser


if __name__ == "__main__":
    main()
