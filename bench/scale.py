#!/usr/bin/env python3
"""Predicts how long collectives take on many ranks: python3 bench/scale.py --plot docs/benchmarks

Ranks are in domains: within one they reach each other over a near level, others over a far one. A level is what
docs/benchmarks.md and docs/scale.md say was measured of it, but for `adapter`, which is assumed; `--levels` lists them.

All ranks do the same at the same time, so one rank is simulated: an algorithm is a list of stages, each of which gives
the rank's two ports messages to send. A port sends one message after the other; a stage of a chunk begins when the one
before has arrived, and chunks overtake nothing at a port. Work on local memory takes no time, and messages of other
ranks do not meet on the way, so what comes out is a floor.

`--check` compares predictions with the tables of docs/comm.md, and prints the ratios.
"""

import argparse
import heapq
import importlib.util
import math
import pathlib
import re
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
MICRO, GIGA = 1e-6, 1e9


class Level(NamedTuple):
    """What is between two ranks: seconds and bytes a second.

    `latency` is the time until a message has arrived whose last byte is sent, `packet` the same of one that needs no
    signal (None: there are none; twice the bytes go). `gap` is how long a message keeps the port besides its bytes.
    `launch` is what a call takes before it sends.
    """

    name: str
    latency: float
    packet: float | None
    gap: float
    bandwidth: float
    launch: float
    # Where the numbers are: a page, and text of it for each.
    page: str
    rows: tuple[str, ...]


# The gap is what two more peers add to a barrier.
NVLINK = Level(
    "nvlink", 1.978 * MICRO, 1.251 * MICRO, (1.764 - 1.720) / 2 * MICRO, 368 * GIGA, 0.614 * MICRO,
    "docs/benchmarks.md",
    ("| put_signal, 8 B     | 1.978 |", "| message, 8 B flag   | 1.251 |", "| barrier, 2 GPUs     | 1.720 |",
     "| barrier, 4 GPUs     | 1.764 |", "|  358 (1.00) |  365 (1.00) |  368 (1.00) |",
     "| launch, in a graph  | 0.614 |"),
)  # fmt: skip
# Its calls return when the message has arrived: a put and its signal one after the other keep the caller.
OPENSHMEM = Level(
    "openshmem", 0.0, None, (174 + 133) * MICRO, 0.1426 * GIGA, 0.0, "docs/scale.md",
    ("| a put of 8 bytes | 174 µs |", "| a signal | 133 µs |", "| 16 MiB, one put | 0.1426 GB/s |"),
)  # fmt: skip
ADAPTER = Level(
    "adapter", 5 * MICRO, None, 0.5 * MICRO, 50 * GIGA, 0.0, "docs/scale.md",
    ("| `adapter` | assumed | 5 µs | 0.5 µs | 50 GB/s |",),
)  # fmt: skip
LEVELS = {level.name: level for level in (NVLINK, OPENSHMEM, ADAPTER)}
# What is compared with measurements, of which docs/scale.md says more.
CHECKED = ("all_reduce", "all_to_all", "all_gather")
# In how many chunks a message may go through the stages.
CHUNKS = (1, 2, 4, 8, 16, 32, 64)
# Most bytes that go as packets, of which every other word is a number, and as floats without such a number.
PACKET_BYTES, FLOAT_BYTES = 128 << 10, 1 << 20
PACKETS, FLOATS = 2, 1
NEAR, FAR = 0, 1


class Layout(NamedTuple):
    """Ranks in domains, with a level within them and one between them."""

    ranks: int
    domain: int
    near: Level
    far: Level

    @property
    def domains(self):
        return self.ranks // self.domain


class Send(NamedTuple):
    """Messages that one rank sends through a port."""

    port: int
    messages: int
    nbytes: float


def simulate(stages, levels, chunks, lines=0):
    """Seconds until the last of `chunks` equal parts of a message has gone through all stages: lists of `Send`. What
    goes in lines that show by themselves that they have come takes `lines` times its bytes; 0 is by signals.
    """
    free = [0.0 for _ in levels]
    ready = [(0.0, chunk, 0) for chunk in range(chunks)]
    end = 0.0
    while ready:
        time, chunk, stage = heapq.heappop(ready)
        arrived = time
        for port, messages, nbytes in stages[stage]:
            if not messages:
                continue
            level = levels[port]
            in_lines = lines and level.packet is not None
            sent = messages * (level.gap + nbytes / chunks * (lines if in_lines else 1) / level.bandwidth)
            free[port] = max(free[port], time) + sent
            arrived = max(arrived, free[port] + (level.packet if in_lines else level.latency))
        end = max(end, arrived)
        if stage + 1 < len(stages):
            heapq.heappush(ready, (arrived, chunk, stage + 1))
    return end


def to_all(layout, nbytes):
    """A message of this many bytes for each other rank."""
    return [Send(NEAR, layout.domain - 1, nbytes), Send(FAR, layout.ranks - layout.domain, nbytes)]


def ring(layout, nbytes):
    """To the next rank; the last of a domain is in another one than its next, and all wait for it."""
    return [Send(NEAR if layout.domains == 1 else FAR, 1, nbytes)]


def all_reduces(layout, nbytes):
    """The stages of each algorithm for the sum of `nbytes` of each rank."""
    n, d, k = layout.ranks, layout.domain, layout.domains
    found = {
        "one shot": [to_all(layout, nbytes)],
        "two shot": [to_all(layout, nbytes / n)] * 2,
        "ring": [ring(layout, nbytes / n)] * (2 * (n - 1)),
    }
    if d > 1 and k > 1:
        inside = [Send(NEAR, d - 1, nbytes / d)]
        between = {
            "one shot": [[Send(FAR, k - 1, nbytes / d)]],
            "two shot": [[Send(FAR, k - 1, nbytes / n)]] * 2,
            "ring": [[Send(FAR, 1, nbytes / n)]] * (2 * (k - 1)),
        }
        found |= {f"hierarchy, {name}": [inside, *stages, inside] for name, stages in between.items()}
    return found


def all_to_alls(layout, nbytes):
    """The same for all-to-all of `nbytes` of each rank, a part for each."""
    found = {"flat": [to_all(layout, nbytes / layout.ranks)]}
    d, k = layout.domain, layout.domains
    if d > 1 and k > 1:
        # First to the rank of my domain that has the receiver's place in it.
        found["hierarchy"] = [[Send(NEAR, d - 1, nbytes / d)], [Send(FAR, k - 1, nbytes / k)]]
    return found


def all_gathers(layout, nbytes):
    """The same for all-gather of `nbytes` of each rank; a reduce-scatter is its mirror image."""
    found = {"flat": [to_all(layout, nbytes)]}
    d, k = layout.domain, layout.domains
    if d > 1 and k > 1:
        # First from the ranks that have my place.
        found["hierarchy"] = [[Send(FAR, k - 1, nbytes)], [Send(NEAR, d - 1, k * nbytes)]]
    return found


def broadcasts(layout, nbytes):
    """The same for a broadcast of `nbytes`, as the root sends them; a reduce is its mirror image."""
    n, d, k = layout.ranks, layout.domain, layout.domains
    found = {"whole": [to_all(layout, nbytes)], "in parts": [to_all(layout, nbytes / n)] * 2}
    if d > 1 and k > 1:
        inside = [Send(NEAR, d - 1, nbytes / d)]
        found["hierarchy, whole"] = [[Send(FAR, k - 1, nbytes)], [Send(NEAR, d - 1, nbytes)]]
        found["hierarchy, in parts"] = [inside, [Send(FAR, k - 1, nbytes / d)], inside]
        # Shards of the root's domain go between domains as a flat broadcast in parts does.
        found["hierarchy, in parts twice"] = [inside, *[[Send(FAR, k - 1, nbytes / n)]] * 2, inside]
    return found


def scatters(layout, nbytes):
    """The same for a scatter of `nbytes` for each rank; a gather is its mirror image."""
    found = {"flat": [to_all(layout, nbytes)]}
    d, k = layout.domain, layout.domains
    if d > 1 and k > 1:
        found["hierarchy"] = [[Send(NEAR, d - 1, k * nbytes)], [Send(FAR, k - 1, nbytes)]]
    return found


CALLS = {"all_reduce": all_reduces, "all_to_all": all_to_alls, "all_gather": all_gathers, "broadcast": broadcasts,
         "scatter": scatters}  # fmt: skip


def predict(call, layout, nbytes):
    """Seconds that each algorithm takes, in the number of chunks that is best for it."""
    levels, found = (layout.near, layout.far), {}
    for name, stages in CALLS[call](layout, nbytes).items():
        # Chunks of a ring would go through thousands of stages each; its steps are chunks already.
        several = len(stages) > 1 and "ring" not in name
        ways = [simulate(stages, levels, chunks) for chunks in (CHUNKS if several else CHUNKS[:1])]
        if nbytes <= PACKET_BYTES:
            ways.append(simulate(stages, levels, 1, PACKETS))
        if call == "all_reduce" and len(stages) == 1 and nbytes <= FLOAT_BYTES:
            ways.append(simulate(stages, levels, 1, FLOATS))
        found[name] = layout.near.launch + min(ways)
    return found


def shape(found):
    """The times of flat algorithms and of hierarchies: the fastest of each, with its name."""
    best = {}
    for name, seconds in found.items():
        kind = "hierarchy" if name.startswith("hierarchy") else "flat"
        if kind not in best or seconds < best[kind][1]:
            best[kind] = name, seconds
    return best


# What is compared, and how it is shown.


def measured(page, gpus):
    """Microseconds of symm's calls by {call: {bytes: …}}: the table of docs/comm.md for this many GPUs."""
    table = page.partition(f"| bytes per rank, {gpus} GPUs |")[2].partition("\n\n")[0].splitlines()
    calls = re.findall(r"`(\w+)`", table[0])
    found = {call: {} for call in calls}
    for line in table[2:]:
        size, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        number, unit = size.split()
        nbytes = int(number) << {"KiB": 10, "MiB": 20}[unit]
        for call, cell in zip(calls, cells, strict=True):
            found[call][nbytes] = float(cell.split("/")[0])
    return found


def check(page):
    """Rows of (GPUs, call, bytes, predicted, measured), in microseconds."""
    for gpus in (2, 4):
        figures = measured(page, gpus)
        for call in CHECKED:
            for nbytes, microseconds in figures[call].items():
                layout = Layout(gpus, gpus, NVLINK, NVLINK)
                yield gpus, call, nbytes, min(predict(call, layout, nbytes).values()) / MICRO, microseconds


def charts():
    """The charts of symm.comm, without the rest of the package, which needs its compiled part."""
    place = ROOT / "python/symm/comm/_plot.py"
    spec = importlib.util.spec_from_file_location("symm_plot", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_of(seconds):
    micro = seconds / MICRO
    return f"{micro:.3g} µs" if micro < 1e3 else (f"{micro / 1e3:.3g} ms" if micro < 1e6 else f"{micro / 1e6:.3g} s")


def print_check(size_text):
    print("| GPUs | call | bytes per rank | predicted, µs | measured, µs | predicted / measured |")
    print("|---:|---|---|---:|---:|---:|")
    for gpus, call, nbytes, predicted, seen in check((ROOT / "docs/comm.md").read_text(encoding="utf-8")):
        row = f"| {gpus} | `{call}` | {size_text(nbytes)} | {predicted:.3g} | {seen:.3g} |"
        print(row, f"{predicted / seen:.2f} |")


def print_predictions(options, size_text):
    """The table; returns the lines of the charts."""
    near, far = LEVELS[options.near], LEVELS[options.far]
    lines = {}
    print("| call | ranks | bytes per rank | flat | hierarchy | ratio |\n|---|---:|---|---:|---:|---:|")
    for call in CALLS:
        for ranks in options.ranks:
            print(f"{call} on {ranks} ranks …", file=sys.stderr, flush=True)
            layout = Layout(ranks, min(options.domain, ranks), near, far)
            for nbytes in options.bytes:
                best = shape(predict(call, layout, nbytes))
                for kind, (_, seconds) in best.items():
                    line = lines.setdefault(call, {}).setdefault(f"{ranks} ranks, {kind}", [])
                    line.append((nbytes, seconds / MICRO))
                several = call in ("all_reduce", "broadcast")
                cells = [f"{text_of(seconds)}, {name.removeprefix('hierarchy, ')}" if several else text_of(seconds)
                         for name, seconds in best.values()]  # fmt: skip
                cells += ["–"] * (2 - len(cells))
                ratio = f"{best['flat'][1] / best['hierarchy'][1]:.2g}" if len(best) > 1 else "–"
                print(f"| `{call}` | {ranks} | {size_text(nbytes)} | {cells[0]} | {cells[1]} | {ratio} |")
    return lines


def number_of(what, most):
    """A parser of whole numbers from 1 to `most`."""

    def parse(text):
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{what} must be a whole number from 1 to {most}, not {text!r}")
        return int(text)

    return parse


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ranks, nbytes = number_of("a number of ranks", 100_000), number_of("bytes", 1 << 40)
    parser.add_argument("--ranks", type=ranks, nargs="+", default=[8, 72, 1000, 10000], help="numbers of ranks")
    parser.add_argument("--domain", type=ranks, default=8, help="ranks of a domain (8)")
    parser.add_argument("--bytes", type=nbytes, nargs="+", default=[1 << power for power in (10, 16, 20, 24, 28)])
    parser.add_argument("--near", choices=LEVELS, default="nvlink", help="the level within a domain")
    parser.add_argument("--far", choices=LEVELS, default="adapter", help="the level between domains")
    parser.add_argument("--levels", action="store_true", help="print the levels, and end")
    parser.add_argument("--check", action="store_true", help="compare with what was measured on 2 and 4 GPUs, and end")
    parser.add_argument("--plot", type=pathlib.Path, metavar="FOLDER", help="where scale_CALL.svg go")
    options = parser.parse_args(arguments)
    for each in options.ranks:
        if each % min(options.domain, each):
            parser.error(f"--ranks {each} is no multiple of --domain {options.domain}: domains have equally many ranks")
    if options.plot and not options.plot.is_dir():
        parser.error(f"--plot {options.plot} is no folder")
    return options


def main(arguments=None):
    options, plots = parse(arguments), charts()
    if options.levels:
        for level in LEVELS.values():
            packet = "–" if level.packet is None else text_of(level.packet)
            print(f"{level.name}: latency {text_of(level.latency)}, of a packet {packet}, gap {text_of(level.gap)},",
                  f"{level.bandwidth / GIGA:g} GB/s, launch {text_of(level.launch)} ({level.page})")  # fmt: skip
        return
    if options.check:
        print_check(plots.size_text)
        return
    lines = print_predictions(options, plots.size_text)
    for call, each in lines.items():
        if options.plot:
            title = f"{call}, predicted: domains of {options.domain}, {options.near} and {options.far}"
            (options.plot / f"scale_{call}.svg").write_text(plots.chart(title, each), encoding="utf-8")


if __name__ == "__main__":
    from output import until_reader_leaves

    until_reader_leaves(main)
