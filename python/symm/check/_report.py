"""The report: for people, and for programs."""

from __future__ import annotations

import json
import linecache
import os
import re
import shlex
from dataclasses import asdict, dataclass
from typing import Any

from .._symm import BARRIERS, PRIVATE_HEAPS, RESERVED_BYTES
from ._heaps import TEAM_BARRIER
from ._place import who

# How the checker says a place in memory, and a task.
MEMORY = re.compile(r"(0x[0-9a-f]+) of rank (\d+)'s heap")
TEAM = re.compile(r"element (\d+) of (World\.team .*)")
# How it says a wait at the barrier of a team, once the flag is named.
AT_BARRIER = re.compile(r"waits for the flag of (.*?) at (barrier \d+ of .*) of rank \d+ >= \d+, sees \d+; .*")
# The same at the barrier of a team that its hosts call.
AT_TEAM = re.compile(r"waits for the flag of (the team's .*?) in (World\.team .*) of rank \d+ >= \d+, sees \d+; .*")
# What these make of it.
MISSED = re.compile(
    r"is at (?:the barrier|barrier (?P<number>\d+)) of (?P<team>World\.team .*?), "
    r"to which .* \(rank (?P<rank>\d+)\) does"
)
EACH_CALLS = "every rank of the team has to call its barrier, as often as the others"
# What else orders two launches: as the checker says it, which knows hosts' barriers alone, and here.
LAUNCHES = "they are of two launches, and a barrier of all hosts (symm.barrier_all) between these orders them, too"
LAUNCHES_HERE = (
    "they are of two launches: world.barrier() or world.device_barrier() between these orders them, too, and so does "
    "world.signal after the one that is to come first, with world.wait before the other one"
)
EACH_COMES = (
    "every rank of the team has to launch the kernel, with as many programs, and each program has to come to the "
    "team's barrier as often"
)
ONE_ORDER = (
    "ranks are at barriers of different teams, and wait for each other: all ranks have to come to these barriers in "
    "the same order"
)
TASK = re.compile(r"rank (\d+) block (\d+)")


# How many calls of a kernel of the package are named, and how many lines of executions that were given up.
MOST_CALLERS, MOST_PLACES = 2, 4
# A schedule of more letters is told by its seed: no shell takes an argument of any length.
LONG = 1000


@dataclass(frozen=True)
class Command:
    """`python -m symm.check` with its options; the script, and what it gets; the option of a seed's schedule."""

    options: list[str]
    script: list[str]
    changes: list[str]

    def again(self, name: str, value: Any) -> str:
        """The command line with this option for the schedule."""
        changes = self.changes if name == "--seed" else []
        return shlex.join([*self.options, name, str(value), *changes, *self.script])


@dataclass(frozen=True)
class Place:
    """A task at a line: `program` is its number in the grid, None for a rank's host; `kernel` that of the program."""

    rank: int
    program: int | None
    kernel: str | None
    file: str
    line: int
    column: int
    what: str


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: docs/checking.md has the kinds. `rule` is one of the memory model, or empty.

    `severity` is "error" or "note". `seed` and `schedule` reproduce it; `seed` is None if the schedule was not random.
    """

    kind: str
    rule: str
    severity: str
    places: tuple[Place, ...]
    help: str
    seed: int | None
    schedule: str


@dataclass(frozen=True)
class Allowed:
    """A finding that a file of allowances allows: why, and which of its lines says so (FILE:LINE)."""

    finding: Finding
    reason: str
    stands: str


# Of a report, the fields between its lists and its own: what the checker says of the executions.
COUNTS = "executions", "given_up", "left_early", "limit", "forgotten", "not_shortest", "left_out", "exhausted"


@dataclass(frozen=True)
class Report:
    """The findings of a number of `executions`, of which `given_up` were ended after too many steps.

    `limit` is the number of executions at which an exhaustive search has ended before it was done, and `left_early` how
    many of them were ended because they are equal to others. `forgotten` says that it has left out reads of values of a
    flag that are older than the newest 64.
    `not_shortest` is how many schedules may be longer than needed, because to shorten them would take too long.
    `left_out` is how many steps of a replayed schedule could not be followed: it is one of another program.
    `exhausted` says that every distinct schedule was tried; `unused` names the lines of the allowances that match no
    finding. `str` of it is for people, with the lines of the source.
    """

    findings: tuple[Finding, ...]
    allowed: tuple[Allowed, ...]
    unused: tuple[str, ...]
    executions: int
    given_up: int
    left_early: int
    limit: int | None
    forgotten: bool
    not_shortest: int
    left_out: int
    exhausted: bool
    _ends: dict[str, int]
    _command: Command | None
    _given_up_at: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether there are no errors, apart from allowed ones; notes do not count. What an execution in `given_up`
        would have shown later is not known.
        """
        return all(finding.severity == "note" for finding in self.findings)

    def json(self) -> str:
        """The report for programs to read: the fields of this class and of its findings."""
        fields = {name: value for name, value in asdict(self).items() if not name.startswith("_")}
        return json.dumps(fields, indent=2)

    def __str__(self) -> str:
        said = [self._text(finding) for finding in self.findings]
        for each in self.allowed:
            where = f"{_where(each.finding.places[0])}: " if each.finding.places else ""
            said.append(f"{where}allowed: {each.finding.kind} ({each.stands}): {each.reason}")
        return "\n\n".join([*said, *self.unused, f"symm.check: {self.summary()}"])

    @staticmethod
    def _of(said: str, program: Any, command: Command | None) -> Report:
        """The report that the checker has written of a program."""
        whole = json.loads(said)
        findings = tuple(_finding(found, program) for found in whole["findings"])
        allowed = []
        for found in whole["allowed"]:
            why = {name: found.pop(name) for name in ("reason", "stands")}
            allowed.append(Allowed(_finding(found, program), **why))
        counts = (whole[name] for name in COUNTS)
        lines = dict.fromkeys(site.rsplit(":", 1)[0] for site in program.given_up)
        ends = program.sites.ends
        return Report(findings, tuple(allowed), tuple(whole["unused"]), *counts, ends, command, tuple(lines))

    def _text(self, finding):
        rule = f" ({finding.rule})" if finding.rule else ""
        first = f"{_where(finding.places[0])}: " if finding.places else ""
        lines, last = [f"{first}{finding.severity}: {finding.kind}{rule}"], None
        for place in finding.places:
            where = _where(place)
            what = place.what.replace(f"{os.getcwd()}/", "")
            lines.append(f"{where}: rank {place.rank}, {name_of(place)}: {what}")
            if where != last:
                lines += self._caret(place)
            last = where
        lines += [f"  help: {finding.help}"] if finding.help else []
        return "\n".join([*lines, f"  again: {self.again(finding)}"])

    def again(self, finding: Finding) -> str:
        """What shows a finding again: a command line, or arguments of `symm.check` if it was called as a function."""
        is_long = finding.seed is not None and len(finding.schedule) > LONG
        if self._command is not None:
            return self._command.again(*(("--seed", finding.seed) if is_long else ("--replay", finding.schedule)))
        seed = f"seed={finding.seed}" if finding.seed is not None else ""
        return seed if is_long else f"{seed}{', or ' if seed else ''}replay='{finding.schedule}'"

    def _caret(self, place):
        source = linecache.getline(place.file, place.line).rstrip()
        if not source:
            return []
        end = self._ends.get(f"{place.file}:{place.line}:{place.column}", place.column)
        indent = "".join("\t" if letter == "\t" else " " for letter in source[: place.column - 1])
        return [source, indent + "^" + "~" * (min(end, len(source)) - place.column)]

    def summary(self) -> str:
        """The last line of the text: how much was found, in how many executions."""
        errors = sum(finding.severity == "error" for finding in self.findings)
        notes = len(self.findings) - errors
        found = [_counted(errors, "error")] * bool(errors) + [_counted(notes, "note")] * bool(notes)
        nothing = "nothing else found" if self.allowed else "nothing found"
        said = [", ".join(found) or nothing, f"{_counted(self.executions, 'execution')} tried"]
        if self.limit is not None:
            if self.left_early:
                said[-1] += f", {self.left_early} more left early, because they are equal to others"
            said.append(f"the limit of {_counted(self.limit, 'execution')} is reached")
        said += [f"{len(self.allowed)} allowed"] * bool(self.allowed)
        if self.forgotten:
            values = "a flag had more than 64 values that a read could take"
            said.append(f"{values}, and none older than the newest 64 was tried")
        if self.given_up:
            at = ", ".join(self._given_up_at[:MOST_PLACES]).replace(f"{os.getcwd()}/", "")
            said.append(f"{self.given_up} given up after too many steps" + (f", in the end at {at}" if at else ""))
        if self.not_shortest:
            said.append(f"{_counted(self.not_shortest, 'schedule')} not shortened to the end")
        if self.left_out:
            said.append(f"{_counted(self.left_out, 'step')} of the schedule not followed: it is another program's")
        known = "there are no others that differ" if self.exhausted else "nothing is known of other schedules"
        return "; ".join([*said, known])


def name_of(place):
    """Who is at a place, of its rank."""
    return who(None if place.program is None else f"{place.program} of", place.kernel)


def _counted(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _where(place):
    file = os.path.relpath(place.file)
    return f"{place.file if file.startswith('..') else file}:{place.line}:{place.column}"


def _finding(said, program):
    places = tuple(_place(place, program) for place in said.pop("places"))
    help = said["help"].replace(LAUNCHES, LAUNCHES_HERE).replace("symm.barrier_all", "world.barrier()")
    said["help"] = help.replace("(symm.barrier)", "(barrier of symm.triton)")
    said["help"] = _help_at_barriers([place for place in places if place.program is not None]) or said["help"]
    return Finding(places=places, **said)


def _help_at_barriers(places):
    """What to do where all tasks that wait are at barriers of teams; None where they are not."""
    found = [MISSED.match(place.what) for place in places]
    if not found or not all(found):
        return None
    is_crossed = {int(each["rank"]) for each in found} <= {place.rank for place in places}
    if is_crossed and len({each["team"] for each in found}) > 1:
        return ONE_ORDER
    return EACH_CALLS if all(each["number"] is None for each in found) else EACH_COMES


def _place(said, program):
    site = f"{said['file']}:{said['line']}:{said['column']}"
    kernel = None if said["block"] is None else " or ".join(program.sites.kernels.get(site, [])) or None
    what = AT_BARRIER.sub(r"is at \2, to which \1 does not come", named(said["what"], program))
    if kernel == TEAM_BARRIER:
        what = AT_TEAM.sub(r"is at the barrier of \2, to which \1 does not come", what)
    if callers := list(program.sites.callers.get((site, said["rank"]), ())):
        what += f" (called at {', '.join(callers[:MOST_CALLERS])}{', …' if len(callers) > MOST_CALLERS else ''})"
    return Place(said["rank"], said["block"], kernel, said["file"], said["line"], said["column"], what)


def named(text, program):
    """What the checker says, with the names that memory and tasks have here."""
    text = MEMORY.sub(lambda found: _memory(int(found[1], 16), int(found[2]), program), text)
    return TASK.sub(r"rank \1 program \2", text)


def _memory(start, heap, program):
    """What lies at a place: an element of a tensor of the World, or a rank's own tensor."""
    if heap >= PRIVATE_HEAPS:
        rank = heap - PRIVATE_HEAPS
        known = program.private.get(rank, {})
        for (_, size), (first, name) in known.items():
            if first <= start < first + size:
                return f"byte {start - first} of rank {rank}'s own tensor {name}"
        return f"memory of rank {rank}'s own"
    number, rank = divmod(heap, program.ranks)
    if start >= BARRIERS:
        return f"the barriers' flags of rank {rank}"
    world = program.worlds.get(number)
    what = _told_apart(world, start) if world is not None else hex(start)
    return f"{TEAM.sub(lambda found: _team_flag(found, program, heap, start), what)} of rank {rank}"


def _told_apart(world, start):
    """What lies at a place, with the number of its tensor among those that are made alike at one line."""
    what, made = world.flag_at(start), world._made_at
    for first, (size, _, call, here) in made.items():
        if first <= start < first + size:
            alike = sorted(other for other, (*_, called, there) in made.items() if (called, there) == (call, here))
            nth = f"(made at {here}, number {alike.index(first) + 1} of {len(alike)})"
            return what.replace(f"(made at {here})", nth) if len(alike) > 1 else what
    return what


def _team_flag(found, program, heap, start):
    """What lies in a team's memory. First come the flags of barriers in kernels, for each program how often this rank
    has come, and how often the others have; then the same of barriers that the hosts call.
    """
    number, team = int(found[1]), found[2]
    if number >= RESERVED_BYTES // 8:
        if number == RESERVED_BYTES // 8:
            return f"the count of the barriers in {team}"
        members = program.heaps.members.get((heap, start - 8 * number), ())
        number -= RESERVED_BYTES // 8 + 1
        rank = f" (rank {members[number]})" if number < len(members) else ""
        return f"the flag of the team's rank {number}{rank} in {team}"
    members = program.heaps.members.get((heap, start - 8 * number), (0,))
    program, word = divmod(number, len(members) + 1)
    if word == 0:
        return f"the count of barrier {program} of {team}"
    return f"the flag of the team's rank {word - 1} (rank {members[word - 1]}) at barrier {program} of {team}"
