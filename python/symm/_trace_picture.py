"""A timeline as a picture: a row for each program, a box with a name for each kernel and in it one for each op, and the
arrows from signals to waits, as SVG.
"""

from __future__ import annotations

import collections
import itertools
import math
import os
from html import escape
from pathlib import Path
from typing import Any

from ._memory import text_of as shown
from .errors import ArgumentError

WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM = 1100, 170, 20, 78, 30, 60
# In a row, a kernel's name is above its ops.
NAME, OP, LETTER = 10, 12, 5.5
# Letters of a name that is worth cutting to its box, and kernels that are listed by name.
FEWEST_LETTERS, MOST_NAMES = 4, 6
# Rows of all ranks together, and the least width of a box.
MOST_ROWS, THIN = 64, 1.0
COLOURS = {
    "kernel": "#e4e7ec", "waits": "#e8963c", "signals": "#7e57c2", "puts": "#185abc", "gets": "#34903f",
    "atomics": "#008c9e",
}  # fmt: skip
KINDS = {
    "kernel": "kernel",
    "wait": "waits", "wait_all": "waits", "wait_any": "waits", "wait_packet": "waits", "barrier": "waits",
    "signal": "signals", "put_signal": "signals", "put": "puts", "store": "puts", "put_packet": "puts", "copy": "puts",
    "get": "gets", "load": "gets",
}  # fmt: skip
# What a picture needs of an event, by its kind: its names, and its times in microseconds.
NAMES_OF_EVENTS = {
    "M": ("name", "pid", "tid", "args"), "X": ("name", "cat", "pid", "tid", "args"),
    "s": ("pid", "tid", "id"), "f": ("pid", "tid", "id"),
}  # fmt: skip
TIMES_OF_EVENTS = {"M": (), "X": ("ts", "dur"), "s": ("ts",), "f": ("ts",)}
TIMES = (("s", 1e6), ("ms", 1e3), ("µs", 1))


class Picture:
    """A timeline that a notebook shows. `svg` is its text."""

    def __init__(self, events: list[dict[str, Any]], title: str):
        self.svg: str = drawn(events, title)
        self._title = title

    def __repr__(self) -> str:
        return f"Picture({self._title!r}): a notebook shows it, and save('out.svg') writes it"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file, as SVG."""
        if not isinstance(path, (str, os.PathLike)):
            raise ArgumentError(f"save: path must be the name of a file, not {shown(path)}")
        if Path(path).suffix not in ("", ".svg"):
            raise ArgumentError(f"save writes SVG: the path must end in .svg, not {Path(path).suffix}")
        try:
            Path(path).write_text(self.svg, encoding="utf-8")
        except OSError as error:
            raise ArgumentError(f"save: cannot write {path}: {error}") from None


def events_of(told: Any) -> list[dict[str, Any]]:
    """The events in what a file holds; raises a ValueError that says what they lack."""
    events = told.get("traceEvents") if isinstance(told, dict) else None
    if not isinstance(events, list):
        raise ValueError("it has no list traceEvents")
    for number, event in enumerate(events):
        kind = event.get("ph") if isinstance(event, dict) else None
        if kind is None:
            raise ValueError(f"event {number} of traceEvents has no 'ph', which says what it is")
        lacks = [name for name in NAMES_OF_EVENTS.get(kind, ()) if name not in event]
        lacks += [name for name in TIMES_OF_EVENTS.get(kind, ()) if not _is_time(event.get(name))]
        lacks += [] if isinstance(event.get("args", {}), dict) else ["args"]
        if lacks:
            raise ValueError(f"event {number} of traceEvents, {event.get('name', kind)!r}, has no {', '.join(lacks)}")
    return [event for event in events if event["ph"] in NAMES_OF_EVENTS]


def _is_time(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def text_of(value):
    """Text for XML, which has no control characters."""
    return escape("".join(each if each.isprintable() else " " for each in str(value)))


def time_text(microseconds):
    unit, size = next((each for each in TIMES if microseconds >= each[1]), TIMES[-1])
    return f"{microseconds / size:.3g} {unit}"


def drawn(events, title):
    """The picture of a trace's events, in time that is linear in their number."""
    names = {
        (each["name"], each["pid"], each["tid"]): each["args"].get("name", "") for each in events if each["ph"] == "M"
    }
    slices = [each for each in events if each["ph"] == "X"]
    arrows = [each for each in events if each["ph"] in "sf"]
    last = max((each["ts"] + each["dur"] for each in slices), default=1.0) or 1.0
    rows, left_out = rows_of({(each["pid"], each["tid"]) for each in slices})
    scale = (WIDTH - LEFT - RIGHT) / last
    height = round(TOP + ROW * (max(rows.values(), default=0) + 1) + BOTTOM)
    told = f"{len(slices)} slices in {time_text(last)}{left_out}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        'font-size="11"><rect width="100%" height="100%" fill="white"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#c2185b"/></marker></defs>',
        f'<text x="12" y="24" font-size="15">{text_of(title)}</text>',
        f'<text x="{WIDTH - RIGHT}" y="24" text-anchor="end">{told}</text>',
        f'<text x="12" y="44">{text_of(kernels_of(slices))}</text>',
    ]
    parts += ticks(last, scale, height) + labels(rows, names)
    parts += boxes(slices, rows, scale) + lines(arrows, rows, scale) + legend(height)
    return "\n".join([*parts, "</svg>\n"])


def kernels_of(slices):
    """The kernels by name, with how many programs of each have run; those with the most first."""
    counts = collections.Counter(each["name"] for each in slices if each["cat"] == "kernel").most_common()
    named = [f"{name} ({count} program{'s' if count > 1 else ''})" for name, count in counts[:MOST_NAMES]]
    more = [f"{len(counts) - MOST_NAMES} more"] if len(counts) > MOST_NAMES else []
    return f"kernels: {', '.join([*named, *more])}" if named else ""


def rows_of(programs):
    """The row of each program that is shown, with a gap between ranks; and what is said of the others."""
    ranks = {rank: [*each] for rank, each in itertools.groupby(sorted(programs), key=lambda program: program[0])}
    most, rows, row = max(1, MOST_ROWS // max(len(ranks), 1)), {}, 0
    for each in ranks.values():
        for program in each[:most]:
            rows[program] = row
            row += 1
        row += 0.4
    left_out = sum(max(0, len(each) - most) for each in ranks.values())
    return rows, f"; {left_out} programs are not shown" if left_out else ""


def middle(row):
    """Of a row, and of its ops' boxes."""
    return round(TOP + ROW * row + ROW / 2, 1)


def middle_of_ops(row):
    return middle(row) + NAME / 2


def ticks(last, scale, height):
    step = 10 ** math.floor(math.log10(last))
    step = next(part for part in (step / 10, step / 5, step / 2, step) if last / part <= 10)
    made = []
    for number in range(int(last / step) + 1):
        x = round(LEFT + number * step * scale, 1)
        made.append(f'<line x1="{x}" y1="{TOP - 4}" x2="{x}" y2="{height - BOTTOM}" stroke="#eeeeee"/>')
        label = time_text(number * step)
        made.append(f'<text x="{x}" y="{TOP - 8}" text-anchor="middle" fill="#606060">{label}</text>')
    return made


def labels(rows, names):
    made = []
    for (rank, program), row in rows.items():
        name = names.get(("thread_name", rank, program), f"program {program}")
        text = f"{names.get(('process_name', rank, 0), f'rank {rank}')}, {name}"
        made.append(f'<text x="{LEFT - 8}" y="{middle(row) + 4}" text-anchor="end">{text_of(text)}</text>')
    return made


def boxes(slices, rows, scale):
    """Kernels, and in them ops; of those of one kind in one pixel, the first."""
    made, drawn_to = [], {}
    for each in sorted(slices, key=lambda each: each["cat"] != "kernel"):
        row, kind = rows.get((each["pid"], each["tid"])), KINDS.get(each["cat"], "atomics")
        x, wide = LEFT + each["ts"] * scale, max(each["dur"] * scale, THIN)
        if row is None or x + wide <= drawn_to.get((row, kind), -1.0) + 0.5:
            continue
        drawn_to[row, kind] = x + wide
        high = ROW - 2 if kind == "kernel" else OP
        y = (middle(row) if kind == "kernel" else middle_of_ops(row)) - high / 2
        told = "".join(f"\n{key}: {value}" for key, value in each["args"].items())
        made.append(
            f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{high}" fill="{COLOURS[kind]}">'
            f"<title>{text_of(each['name'])}, {time_text(each['dur'])}{multiline(told)}</title></rect>"
        )
        if kind == "kernel" and (name := shortened(each["name"], wide)):
            made.append(f'<text x="{x + 2:.1f}" y="{y + NAME:.1f}" font-size="10">{text_of(name)}</text>')
    return made


def shortened(name, wide):
    """As much of a name as fits in a box; nothing where that is too little."""
    letters = int((wide - 4) / LETTER)
    return name if len(name) <= letters else f"{name[: letters - 1]}…" if letters >= FEWEST_LETTERS else ""


def multiline(told):
    return "\n".join(text_of(line) for line in told.split("\n"))


def lines(arrows, rows, scale):
    """The arrows; of those between the same pixels, one."""
    ends, made = {}, {}
    for each in arrows:
        row = rows.get((each["pid"], each["tid"]))
        if row is not None:
            ends.setdefault(each["id"], {})[each["ph"]] = round(LEFT + each["ts"] * scale, 1), middle_of_ops(row)
    for each in ends.values():
        if len(each) == 2:
            (x, y), (to_x, to_y) = each["s"], each["f"]
            made[round(x), y, round(to_x), to_y] = (
                f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="#c2185b" marker-end="url(#tip)"/>'
            )
    return [*made.values()]


def legend(height):
    made, x = [], LEFT
    for name, colour in COLOURS.items():
        made.append(f'<rect x="{x}" y="{height - 28}" width="12" height="12" fill="{colour}"/>')
        made.append(f'<text x="{x + 17}" y="{height - 18}">{name}</text>')
        x += 100
    place = f'x1="{x}" y1="{height - 22}" x2="{x + 26}" y2="{height - 22}"'
    made.append(f'<line {place} stroke="#c2185b" marker-end="url(#tip)"/>')
    return [*made, f'<text x="{x + 32}" y="{height - 18}">from a signal to a wait</text>']
