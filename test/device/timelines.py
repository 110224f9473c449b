"""Whether the timeline of a run (`--trace`) can be right, and what it shows.

Of a GPU's blocks, begin and end have to lie within a launch of their rank, up to the error of the clocks that the file
states; every wait that was satisfied by a signal of the program has an arrow, which does not go back in time.
"""

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

NEVER = Path(__file__).resolve().parent / "faults/never.mlir"
#: Nanoseconds that the clocks of host and device may be apart.
MOST_ERROR = 20_000


class Timeline:
    def __init__(self, path):
        whole = json.loads(Path(path).read_text(encoding="utf-8"))
        events = whole["traceEvents"]
        self.slices = [event for event in events if event["ph"] == "X"]
        self.blocks = [event for event in self.slices if event["tid"] > 0]
        self.launches = [event for event in self.slices if event["cat"] == "launch"]
        self.starts = {event["id"]: event for event in events if event["ph"] == "s"}
        self.ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.waits = [event for event in self.blocks if event["cat"] == "wait"]
        self.dropped = whole["otherData"]["dropped_events"]
        self.errors = whole["otherData"]["clock_error_ns"]

    def latencies(self):
        """Microseconds from signals to what they ended, between different ranks."""
        pairs = ((start, self.ends[number]) for number, start in self.starts.items())
        return sorted(end["ts"] - start["ts"] for start, end in pairs if start["pid"] != end["pid"])

    def complaints(self, driver, ranks):
        if {event["pid"] for event in self.launches} != set(range(ranks)):
            yield "not every rank has a launch"
        traced = {event["pid"] for event in self.blocks}
        if driver != "cpu" and set(self.errors) != {f"rank {rank}" for rank in traced}:
            yield f"the clocks of {sorted(self.errors)} are known, and ranks {sorted(traced)} have blocks"
        if not traced:
            yield "no block shows"
        if self.errors and max(self.errors.values()) > MOST_ERROR:
            yield f"the clocks may be {max(self.errors.values())} ns apart"
        slack = max(self.errors.values(), default=0) / 1000
        for event in self.blocks:
            begin, end = event["ts"] + slack + 0.001, event["ts"] + event["dur"] - slack - 0.001
            around = (each for each in self.launches if each["pid"] == event["pid"])
            if event["cat"] != "signal" and not any(
                    each["ts"] <= begin and end <= each["ts"] + each["dur"] for each in around):
                yield f"{event['name']} of rank {event['pid']} at {event['ts']} us is in no launch"
                return
        if any(start["ts"] > self.ends[number]["ts"] for number, start in self.starts.items()):
            yield "an arrow goes back in time"


def check(path, driver, ranks):
    """What is wrong with a timeline; nothing if it can be right."""
    try:
        return "; ".join(Timeline(path).complaints(driver, ranks))
    except (OSError, ValueError, KeyError) as error:
        return f"the timeline cannot be read: {error!r}"


def show(done):
    """A line for each run: events, waits, arrows, the times that those take."""
    for run in done:
        try:
            timeline = Timeline(run.trace)
        except (OSError, ValueError, KeyError):
            continue
        times = timeline.latencies()
        shown = f", {times[0]:.2f} / {statistics.median(times):.2f} us at least / median" if times else ""
        error = max(timeline.errors.values(), default=0)
        print(f"{run.name}, {run.column}: {len(timeline.blocks)} slices of blocks, {len(timeline.waits)} waits, "
              f"{len(timeline.starts)} arrows{shown}; clocks within {error} ns, {timeline.dropped} dropped")


def run_failed(symm_run, driver, ranks):
    """The timeline of runs that hang: it shows which blocks wait. Returns how many were wrong."""
    failed = 0
    for mode in [[], ["--processes"]]:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "hung.json"
            command = [symm_run, NEVER, "--ranks", ranks, "--driver", driver, "--timeout", 4, "--trace", path, *mode]
            words = [str(word) for word in command]
            run = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
            try:
                waits = [event["args"]["satisfied"] for event in Timeline(path).waits]
            except (OSError, ValueError, KeyError) as error:
                waits = repr(error)
            right = run.returncode == 1 and False in waits
            failed += not right
            print(f"timeline of a run that hangs, {mode or ['threads']}: {'ok' if right else f'FAIL {waits}'}: "
                  f"{(run.stderr.strip().splitlines() or [''])[0][:200]}")
    return failed
