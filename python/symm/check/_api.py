"""What users call: `symm.check(…)`, `symm.check.run(…)`, `symm.check.raises(…)`."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, CheckError, UnsupportedError
from ._report import Allowed, Command, Finding, Place, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The most executions of an exhaustive search, and steps of one.
MOST_EXECUTIONS, MOST_STEPS = 100_000, 200_000
# How often a loop that may end by itself looks at the same before it is taken to poll in vain; in a search for all.
POLLS, POLLS_OF_ALL = 2_000, 100
# Random schedules, and how often priorities change in each.
SCHEDULES, CHANGES = 10, 3
# How long a task may run without a step that the checker sees, in seconds.
SECONDS = 60.0
HEAP_SIZE = 1 << 30
# What the checker says of a text that is not a schedule, or of a file that allows nothing.
NO_ARGUMENT = "is not a step of a schedule", "allow: "
# The command line, where that is what checks.
command: Command | None = None


def run(
    program: Callable[..., Any],
    ranks: int = 2,
    *,
    args: Callable[..., Any] | None = None,
    grid: Any = None,
    schedules: int | None = None,
    seed: int | None = None,
    changes: int = CHANGES,
    exhaustive: bool = False,
    executions: int = MOST_EXECUTIONS,
    replay: str | None = None,
    programs: int | None = None,
    steps: int = MOST_STEPS,
    polls: int | None = None,
    seconds: float = SECONDS,
    heap_size: int = HEAP_SIZE,
    html: str | os.PathLike[str] | None = None,
    allow: str | os.PathLike[str] | None = None,
) -> Report:
    """Runs a program on `ranks` ranks, all in this process, and reports what is wrong in any of the schedules tried.

    `program` is a function that each rank calls, with its World as the argument, if it takes one; or it is a kernel, of
    which each rank launches `kernel[grid](*args(world))` after a barrier; `args` may also return a dict.

    It runs one execution in which each task runs as long as it can, and `schedules` (10) random ones, from the seeds
    `seed`, `seed` + 1, …; `seed` alone runs only that one. `exhaustive` tries every distinct schedule instead, up to
    `executions`. `replay` is the schedule of a finding. `programs` is the number of programs of a rank that are
    resident on its device at once. An execution of more than `steps` steps is given up. A loop that may end by
    itself is taken to poll in vain when it has looked `polls` times at the same (2000, if `exhaustive` 100). `seconds`
    limits the time of a task without a step that the checker sees.

    `html` is a file for the report as a web page that draws each finding's execution. `allow` is a file of known
    findings, in lines of PLACE KIND REASON: docs/checking.md; "-" is standard input.

    Raises what the program raises, except for an AssertionError, which is a finding; ArgumentError; UnsupportedError if
    Triton's interpreter cannot run a kernel; and CheckError if a task neither ends nor takes a step. If something was
    found before that, the exception has it as `found`, a Report.
    """
    _check_types(exhaustive, replay, seconds, html=html, allow=allow)
    _check_arguments(ranks, schedules, seed, exhaustive, replay)
    _check_numbers(changes=(changes, 0), executions=(executions, 1), steps=(steps, 0), seed=(seed, 0))
    _check_numbers(programs=(programs, 1), polls=(polls, 2))
    polls = polls or (POLLS_OF_ALL if exhaustive else POLLS)
    function = _function(program, args, grid, heap_size)
    kind = "replay" if replay is not None else "exhaustive" if exhaustive else "in turn"
    if kind == "in turn" and schedules != 0:
        kind, executions = "random", schedules or (SCHEDULES if seed is None else 1)
    from .. import _symm
    from ._kernels import checked
    from ._program import Program, task

    if task() is not None:
        raise ArgumentError("symm.check cannot be called in a program that it checks")
    allowed = _allowances(allow)
    checking = Program(function, ranks, seconds)
    try:
        with checked():
            limits = steps, programs, polls
            schedule = (kind, executions), 1 if seed is None else seed, changes, replay or ""
            said, pictures = _symm.check_program(checking, ranks, *schedule, limits, allowed, html is not None)
    except BaseException as error:
        _keep_found(checking, error, html, program)
        if checking.error is not None:
            _explain(checking, error)
        elif isinstance(error, ValueError) and not isinstance(error, ArgumentError):
            # The checker does not take an op, or the schedule.
            is_argument = any(text in str(error) for text in NO_ARGUMENT)
            raise (ArgumentError if is_argument else CheckError)(f"symm.check: {error}") from None
        raise
    report = Report._of(said, checking, command)
    if command is not None and report.is_clean and not report.given_up and not checking.worlds:
        raise ArgumentError(f"symm.check: {command.script[0]} has not called symm.init, so nothing was checked")
    if html is not None:
        try:
            _write_page(html, report, pictures, checking, getattr(program, "__name__", "a program"))
        except ArgumentError as error:
            # What was found is said even if the page cannot be written.
            error.found = report
            raise
    return report


def _allowances(path):
    """The name and the text of a file; `-` is standard input."""
    if path is None:
        return None
    try:
        text = sys.stdin.read() if os.fspath(path) == "-" else Path(path).read_text(encoding="utf-8")
        return os.fspath(path), text
    except (OSError, ValueError) as error:
        raise ArgumentError(f"symm.check: allow: {error}") from None


def _keep_found(checking, error, html, program):
    """What was found until an exception: its `found`, which is also written as a page where that is asked for."""
    if checking.found is None:
        return
    said, pictures = checking.found
    report = Report._of(said, checking, command)
    if not report.findings:
        return
    if html is not None:
        _write_page(html, report, pictures, checking, getattr(program, "__name__", "a program"))
    with contextlib.suppress(AttributeError):
        error.found = report


def _write_page(path, report, pictures, checking, name):
    from . import _page

    what = name if command is None else command.script[0]
    _page.write(path, report, pictures, checking, f"symm.check: {what} on {checking.ranks} ranks")


def check(program: Callable[..., Any], ranks: int = 2, **options: Any) -> Report:
    """For tests: `symm.check.run`, with a CheckError if anything is wrong or an execution was given up."""
    report = run(program, ranks, **options)
    for each in _open:
        each._tried.append(report)
    if not report.is_clean or report.given_up:
        what = "has given up an execution" if report.is_clean else "has found something"
        raise CheckError(f"symm.check {what}\n{report}", report)
    return report


class Caught:
    """What `raises` has found, when its block is over: `report`, which is also its text."""

    def __init__(self, wanted: str):
        self._wanted = wanted
        # Of the calls in the block.
        self._tried: list[Report] = []
        self._report: Report | None = None

    @property
    def report(self) -> Report:
        if self._report is None:
            raise ArgumentError(f"{self!r}: read its report after the block")
        return self._report

    def __repr__(self) -> str:
        found = "nothing so far" if self._report is None else _kinds_of(self._report)
        return f"<symm.check.raises: expected {self._wanted}, found {found}>"

    def __str__(self) -> str:
        return repr(self) if self._report is None else str(self._report)


# The blocks of `raises` that are entered.
_open: list[Caught] = []


def _kinds_of(report):
    """The kinds of errors in a report, as a text."""
    found = {finding.kind for finding in report.findings if finding.severity == "error"}
    return ", ".join(sorted(found)) or "no error"


@contextlib.contextmanager
def raises(*kinds: str) -> Iterator[Caught]:
    """For tests: the call of `symm.check` in the block must find these kinds of errors, at least one of each, and no
    others. Without a kind it must find any error. The first call that finds something ends the block: give each call a
    block of its own.
    """
    _check_kinds(kinds)
    wanted = ", ".join(sorted(set(kinds))) or "any error"
    caught = Caught(wanted)
    _open.append(caught)
    try:
        yield caught
    except CheckError as error:
        if error.report is None:
            raise
        caught._report = error.report
    else:
        raise AssertionError(f"symm.check.raises: expected {wanted}, but {_nothing(caught._tried)}")
    finally:
        _open.remove(caught)
    found = {finding.kind for finding in caught.report.findings if finding.severity == "error"}
    if found != set(kinds) if kinds else not found:
        raise AssertionError(_other(wanted, set(kinds) - found, found - set(kinds) if kinds else set(), caught.report))


def _nothing(tried):
    """What to say where no call has found an error, with the calls' reports."""
    if not tried:
        return "symm.check was not called in the block; symm.check.run raises nothing, so call symm.check"
    said = "no call of symm.check in the block has found an error. "
    limits = [report.limit for report in tried if report.limit is not None]
    if limits:
        return f"{said}The search has ended at its limit, executions={max(limits)}: raise it"
    if any(report.forgotten for report in tried):
        return f"{said}A flag had more values than are kept, so that not all were tried: try fewer rounds"
    if any(report.exhausted for report in tried):
        return f"{said}There are no other schedules that differ: try other arguments, or more ranks"
    return f"{said}Try more schedules (schedules=…, or exhaustive=True)"


def _other(wanted, missing, more, report):
    """What to say where a call has found something else."""
    said = [f"symm.check.raises: expected {wanted}, found {_kinds_of(report)}"]
    said += [f"not found: {', '.join(sorted(missing))}"] * bool(missing)
    said += [f"not expected: {', '.join(sorted(more))}"] * bool(more)
    if report.given_up:
        which = "each of its executions" if report.given_up == report.executions else "an execution"
        said += [f"the call has given up {which} after too many steps, before the end: raise steps"]
    if report.findings:
        said += ["the call has ended the block; to see a finding again, give symm.check what stands after 'again:'"]
    return "; ".join(said) + f"\n{report}"


class Checker:
    """What `symm.check` is to a type checker: the module, which can be called."""

    Report, Finding, Place, Allowed, CheckError = Report, Finding, Place, Allowed, CheckError
    __call__ = staticmethod(check)
    run, raises = staticmethod(run), staticmethod(raises)


checker = Checker()


def _check_arguments(ranks, schedules, seed, exhaustive, replay):
    from .._symm import MAX_RANKS

    if isinstance(ranks, bool) or not isinstance(ranks, int) or not 1 <= ranks <= MAX_RANKS:
        raise ArgumentError(f"symm.check: ranks must be 1 to {MAX_RANKS}, not {ranks!r}")
    _check_numbers(schedules=(schedules, 0))
    if (schedules is not None or seed is not None) + exhaustive + (replay is not None) > 1:
        raise ArgumentError("symm.check: random schedules, exhaustive and replay exclude each other")
    if os.environ.get("TRITON_INTERPRET", "0") != "1":
        message = "symm.check runs kernels in Triton's interpreter: set TRITON_INTERPRET=1 before Triton is imported, "
        raise ArgumentError(message + "or call python -m symm.check script.py")
    _need_interpreter()


def _check_types(exhaustive, replay, seconds, **files):
    if not isinstance(exhaustive, bool):
        raise ArgumentError(f"symm.check: exhaustive must be True or False, not {exhaustive!r}")
    if not (replay is None or isinstance(replay, str)):
        raise ArgumentError(f"symm.check: replay must be the text of a schedule, not {replay!r}")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ArgumentError(f"symm.check: seconds must be more than 0, not {seconds!r}")
    for name, path in files.items():
        if path is not None and not (isinstance(path, (str, os.PathLike)) and isinstance(os.fspath(path), str)):
            raise ArgumentError(f"symm.check: {name} must be the path of one file, not {path!r}")


def _check_kinds(kinds):
    """Each is the name of an error."""
    from .._symm import CHECK_KINDS

    errors = [name for name, is_note in CHECK_KINDS.items() if not is_note]
    for kind in kinds:
        if kind in errors:
            continue
        if isinstance(kind, str) and kind in CHECK_KINDS:
            raise ArgumentError(f"symm.check.raises: {kind!r} is a note, with which nothing is raised")
        near = difflib.get_close_matches(str(kind), errors, 1)
        meant = f"; did you mean {near[0]!r}?" if near else "."
        raise ArgumentError(f"symm.check.raises: {kind!r} is no kind of error{meant} The kinds are {', '.join(errors)}")


def _check_numbers(**numbers):
    """Each is an integer that is at least so large, and that the checker has room for; or it is None."""
    for name, (value, least) in numbers.items():
        if value is None and name in ("schedules", "seed", "programs", "polls"):
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1 << 64:
            raise ArgumentError(f"symm.check: {name} must be {least} to 2**64 - 1, not {value!r}")


def _need_interpreter():
    from .. import _need_triton  # noqa: F401  # An error that says what is missing.

    from triton import knobs

    if not knobs.runtime.interpret:
        raise ArgumentError("symm.check: TRITON_INTERPRET=1 was set after Triton was imported: set it before")


def _function(program, args, grid, heap_size):
    """What each rank's task does."""
    from triton.runtime.jit import JITFunction, KernelInterface

    import symm

    def world():
        return symm.init(heap_size=heap_size, device="cpu")

    if isinstance(program, JITFunction):
        name = program.__name__
        raise ArgumentError(f"symm.check: {name} was made without TRITON_INTERPRET=1: set it before Triton is imported")
    if isinstance(program, KernelInterface):
        if not callable(args) or grid is None:
            raise ArgumentError("symm.check: a kernel needs grid, and args: a function that makes them of a World")

        def launch(_):
            joined = world()
            given = args(joined)
            joined.barrier()
            if not isinstance(given, (dict, tuple, list)):
                raise ArgumentError(f"symm.check: args must make a tuple or a dict of arguments, not {given!r}")
            program[grid](**given) if isinstance(given, dict) else program[grid](*given)

        return launch
    if args is not None or grid is not None:
        raise ArgumentError("symm.check: args and grid are for kernels")
    if not callable(program):
        raise ArgumentError(f"symm.check: the program must be a function or a kernel, not {program!r}")
    takes = any(each.default is each.empty for each in inspect.signature(program).parameters.values())
    return (lambda _: program(world())) if takes else (lambda _: program())


def _explain(checking, error):
    """Adds whose exception it is, and for what the interpreter cannot run its line."""
    from . import _gpus, _place

    rank, kernel, grid, raised = checking.error
    program = None if kernel is None else f"{', '.join(map(str, grid[0]))} of kernel"
    who = _place.who(program, kernel)
    errors = _place.causes(raised)
    place = checking.sites.of(errors, kernel).rsplit(":", 1)[0]
    unable = next(filter(_place.is_unable, errors), None)
    said = _gpus.said_of(errors) if unable is None else f"Triton's interpreter cannot run this: {unable}"
    if said is not None:
        message = f"{place}: symm.check: rank {rank}, {who}: {said}"
        unsupported = UnsupportedError(message)
        unsupported.found = getattr(error, "found", None)
        raise unsupported from error
    if sys.version_info >= (3, 11):
        error.add_note(f"symm.check: raised by rank {rank}, {who}, at {place}")
