"""Timelines of kernels: what each rank and program did when, for Perfetto and as a picture."""

from __future__ import annotations

import bisect
import fcntl
import functools
import json
import operator
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._agreement import lines, told
from ._device import ForBlocks, place
from ._memory import text_of
from ._open import closed, flag_of, worlds
from ._trace_picture import Picture, events_of
from .errors import ArgumentError, ClosedError, SymmWarning, UnsupportedError

if TYPE_CHECKING:
    from ._world import World

HOLDS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
# Nanoseconds in the unit of times in a trace.
UNIT = 1000
OF_A_CLOSED = "this World is closed: trace before World.close, or in another one that symm.init makes"
# How many records of compiled kernels there is room for: 64 bytes each, on the rank's GPU.
MAX_EVENTS = 1 << 17


class trace(ForBlocks):
    """Records what kernels do, on all ranks, into a file that https://ui.perfetto.dev opens.

    `with symm.trace("out.json"):` around the launches. Each rank is a process there and each program a thread: its
    loads, stores, puts, gets, atomics, signals, waits and barriers, with their bytes, flags and lines; arrows go from a
    signal to the wait that saw it. `path` is the same on all ranks, as is `world`, the World if there are several.
    Collective: it begins and ends with a barrier. If it ends with an exception there is no barrier, and the file has
    what the ranks have recorded by then.

    Kernels are those that Triton interprets, and compiled ones on a GPU: these are compiled once more, to record into a
    buffer on the GPU. It holds `max_events`; a SymmWarning says how many did not fit.
    """

    _last: Path | None = None
    _is_open = False
    _unused = "symm.trace", "write `with symm.trace(…):` around the launches"

    def __init__(self, path: str | os.PathLike[str], world: World | None = None, max_events: int = MAX_EVENTS):
        from ._world import World

        _check_path("symm.trace", path)
        if isinstance(max_events, bool) or not isinstance(max_events, int) or not 0 < max_events < 2**31:
            wanted = "a number of events from 1 to 2**31 - 1"
            raise ArgumentError(f"symm.trace: max_events must be {wanted}, not {text_of(max_events)}")
        if world is None:
            if not worlds and closed:
                raise ClosedError(f"symm.trace: {OF_A_CLOSED}")
            if len(worlds) != 1:
                reason = "call symm.init first" if not worlds else "there are several Worlds: say which, world=…"
                raise ArgumentError(f"symm.trace: {reason}")
            [world] = worlds
        if isinstance(world, World) and not world.is_open():
            raise ClosedError(f"symm.trace: {OF_A_CLOSED}")
        if world not in worlds:
            raise ArgumentError(f"symm.trace: world must be an open World, not {text_of(world)}")
        self.path, self.world, self.max_events = Path(path), world, max_events
        self._made()

    def __repr__(self) -> str:
        return f"symm.trace({os.fspath(self.path)!r})"

    def __enter__(self) -> trace:
        self._is_used = True
        recorder, refused = self._recorder(), None
        if trace._is_open:
            raise ArgumentError("symm.trace: a trace is being made already")
        try:
            self._part().write_text("")
            self._part().unlink()
        except OSError as error:
            refused = f"cannot write {self.path}: {error}"
        if self.path.is_dir():
            refused = f"path must be the name of a file, and {self.path} is a folder"
        self._agree(refused)
        self._meet("symm.trace")
        self._recording, self._recorded = recorder.installed(), recorder
        self._recording.__enter__()
        trace._is_open = self.world.is_traced = True
        return self

    def _agree(self, refused: str | None) -> None:
        """An error on all ranks if they name different files, or one of them cannot write."""
        said = told(self.world, "symm.trace", (str(self.path.absolute()), refused))
        if refused is not None:
            raise ArgumentError(f"symm.trace: {refused}")
        for rank, ((_, theirs), where) in enumerate(said):
            if theirs is not None:
                raise ArgumentError(f"symm.trace: rank {rank} {theirs} (at {where})")
        if len({path for (path, _), _ in said}) > 1:
            paths = lines((path, where) for (path, _), where in said)
            raise ArgumentError(f"symm.trace: ranks name different files, and one file has all ranks:{paths}")

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        meets = False
        try:
            try:
                # What it waits for may have failed.
                self._recording.__exit__(kind, value, traceback)
            finally:
                trace._is_open = self.world.is_traced = False
                trace._last = self.path
                self._leave_part()
            if kind is None:
                self._meet("the end of symm.trace")
                meets = True
        finally:
            if not meets or self.world.get_rank() == 0:
                self._write()
        if meets:
            self._meet("the end of symm.trace")

    def _meet(self, call: str) -> None:
        """All ranks meet in this call, and in no barrier of the user's."""
        here = place()
        self.world._synchronize()
        self.world.check()
        with self.world._meeting(call, here):
            self.world._rank.barrier(here, call)

    def _leave_part(self) -> None:
        """Writes what this rank has recorded, for the one that makes a file of all."""
        about = self._recorded.about
        part = {"programs": self._recorded.programs, "events": self._events(), "about": about}
        fresh = self._part(".new")
        fresh.write_text(json.dumps(part))
        fresh.rename(self._part())
        if about.get("dropped_events"):
            message = f"symm.trace: {about['dropped_events']} events of rank {self.world.get_rank()} did not fit and "
            more = f"are not in the timeline: the buffer holds max_events={self.max_events}"
            warnings.warn(message + more, SymmWarning, stacklevel=3)

    @staticmethod
    def plot(path: str | os.PathLike[str] | None = None) -> Picture:
        """A picture of a timeline: of the file of this name, or of the last trace that this process has made.

        A notebook shows it; `save(path)` writes it, as SVG.
        """
        path = trace._last if path is None else path
        if path is None:
            raise ArgumentError("symm.trace.plot: this process has made no trace: give the name of a file")
        _check_path("symm.trace.plot", path)
        try:
            return Picture(events_of(json.loads(Path(path).read_text())), Path(path).name)
        except (OSError, ValueError, TypeError) as error:
            raise ArgumentError(f"symm.trace.plot: {path} is not a timeline: {error}") from None

    def _recorder(self) -> Any:
        try:
            from triton import knobs

            is_interpreted = knobs.runtime.interpret
        except ImportError:
            is_interpreted = False
        if self.world.device.type != "cpu" and not is_interpreted:
            from ._trace_device import Recorder as DeviceRecorder

            return DeviceRecorder(self.world, self.max_events)
        if self.world.device.type != "cpu" or not is_interpreted:
            kernels = "interpreted" if is_interpreted else "compiled"
            message = f"symm.trace: this World is on {self.world.device}, and kernels are {kernels}: compiled ones are "
            raise UnsupportedError(message + 'recorded on a GPU, and with TRITON_INTERPRET=1 those on device="cpu"')
        from . import _interpreter
        from ._interpreter_trace import Recorder

        return Recorder(self.world, _interpreter.located, _interpreter.table)

    def _part(self, more: str = "", rank: int | None = None) -> Path:
        """Where a rank's part of the trace is until all are there."""
        rank = self.world.get_rank() if rank is None else rank
        return self.path.with_name(f"{self.path.name}.rank{rank}{more}")

    def _events(self) -> list[dict[str, Any]]:
        """The events, each with the name of its flag, the first one of several."""
        name = functools.cache(functools.partial(flag_of, runs=self._recorded.runs))
        for event in self._recorded.events:
            places = event["signals"] or (event["wait"] or [[]])[0]
            event["flag"] = name(places[0][1]) if places else ""
        return self._recorded.events

    def _write(self) -> None:
        """Makes one file of the parts that are there, and of all of them the last time."""
        ranks = range(self.world._rank.num_ranks)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if not self._part().exists():
                # Another rank has found all of them, and made the file.
                return
            files = {rank: part for rank in ranks if (part := self._part(rank=rank)).exists()}
            parts = {rank: json.loads(part.read_text()) for rank, part in files.items()}
            whole = self._part(".whole")
            whole.write_text(json.dumps({"traceEvents": merged(parts), "displayTimeUnit": "ns", **_about_all(parts)}))
            whole.rename(self.path)
            if len(parts) == len(ranks):
                for part in files.values():
                    part.unlink()
        finally:
            os.close(folder)


def _check_path(call: str, path: object) -> None:
    if not isinstance(path, (str, os.PathLike)) or not Path(path).name:
        raise ArgumentError(f"{call}: path must be the name of a file, not {text_of(path)}")


def _about_all(parts: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """What is known of the whole: of compiled kernels how wrong the clocks may be, and how much was not recorded."""
    names = ("clock_error_ns", "dropped_events")
    told = {f"rank {rank}": part["about"] for rank, part in sorted(parts.items()) if part["about"]}
    return {"otherData": {name: {rank: about[name] for rank, about in told.items()} for name in names}} if told else {}


def merged(parts: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """What ranks have recorded, in Chrome's trace format: slices of programs and ops, and the arrows between."""
    made: list[dict[str, Any]] = []
    first = min((begin for part in parts.values() for _, _, begin, _ in part["programs"]), default=0)
    for rank, part in sorted(parts.items()):
        threads = {place: number for number, place in enumerate(sorted({tuple(each[1]) for each in part["programs"]}))}
        made.append(_about(rank, 0, "process_name", f"rank {rank}"))
        made += [_about(rank, number, "thread_name", f"program {place}") for place, number in threads.items()]
        for kernel, place, begin, end in part["programs"]:
            made.append(_slice(kernel, "kernel", (rank, threads[tuple(place)]), (begin - first, end - first)))
        for event in part["events"]:
            event["at_thread"] = rank, threads[tuple(part["programs"][event["program"]][1])]
            event["begin"], event["end"] = event["begin"] - first, event["end"] - first
            made.append(_op(event))
    # By so much two ranks' clocks may differ.
    slack = 2 * max((part.get("about", {}).get("clock_error_ns", 0) for part in parts.values()), default=0)
    return made + _arrows([event for part in parts.values() for event in part["events"]], slack)


def _about(rank: int, thread: int, what: str, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": rank, "tid": thread, "name": what, "args": {"name": name}}


def _slice(name: str, kind: str, at: tuple[int, int], times: tuple[int, int], **args: Any) -> dict[str, Any]:
    begin, end = times
    times_of = {"ts": begin / UNIT, "dur": (end - begin) / UNIT}
    return {"ph": "X", "name": name, "cat": kind, "pid": at[0], "tid": at[1], **times_of, "args": args}


def _op(event: dict[str, Any]) -> dict[str, Any]:
    peers = ", ".join(map(str, event["peers"]))
    name = f"{event['name']} \u2192 {peers}" if peers else event["name"]
    args = {"line": event["at"]}
    args |= {key: event[key] for key in ("bytes", "flag") if event[key]}
    if event["signals"]:
        # Compiled kernels know what they add to a flag, not what it then is.
        args["value"] = event["value"] if "value" in event else [new for *_, new in event["signals"]]
    if event["wait"]:
        compare, value = event.get("wanted", event["wait"][1:])
        args["waits for"] = f"{compare} {value}"
        if event["wait"][1] == "found":
            args["found"] = event["wait"][2]
    return _slice(name, event["name"], event["at_thread"], (event["begin"], event["end"]), **args)


def _arrows(events: list[dict[str, Any]], slack: int) -> list[dict[str, Any]]:
    """From each signal that a wait has seen to the wait."""
    sent: dict[tuple[int, int], list[tuple[dict[str, Any], Any]]] = {}
    for event in sorted(events, key=lambda event: event["end"]):
        for rank, offset, new in event["signals"]:
            sent.setdefault((rank, offset), []).append((event, new))
    made: list[dict[str, Any]] = []
    for wait in events:
        places, compare, expected = wait["wait"] or ([], "eq", 0)
        for number, place in enumerate(places):
            asked = expected[number] if compare == "found" else expected
            signal = _seen(sent.get(tuple(place), []), wait, (HOLDS.get(compare, operator.eq), asked), slack)
            if signal is not None:
                made += _arrow(len(made) // 2, signal, wait)
    return made


def _seen(
    sent: list[tuple[dict[str, Any], Any]], wait: dict[str, Any], asked: tuple[Any, Any], slack: int
) -> dict[str, Any] | None:
    """The signal that has ended a wait: the last one before it, or the first one in it after which it may end. Where it
    is not known what a flag was then, the last one that had come.
    """
    holds, value = asked
    later = bisect.bisect_right(sent, wait["begin"], key=lambda each: each[0]["end"])
    last = None
    for signal, new in sent[max(later - 1, 0) :]:
        if signal["begin"] > wait["end"] + slack:
            break
        if new is None:
            last = signal if last is None or signal["end"] <= wait["end"] + slack else last
        elif holds(new, value):
            return signal
    return last


def _arrow(number: int, signal: dict[str, Any], wait: dict[str, Any]) -> list[dict[str, Any]]:
    common = {"id": number, "name": "signal", "cat": "signal"}
    ends = {"s": (signal, min(signal["end"], wait["end"])), "f": (wait, wait["end"])}
    made = []
    for phase, (event, time) in ends.items():
        rank, thread = event["at_thread"]
        made.append({"ph": phase, "pid": rank, "tid": thread, "ts": time / UNIT, **common})
    made[1]["bp"] = "e"
    return made
