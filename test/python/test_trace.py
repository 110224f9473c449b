"""Timelines from recorded events, without ranks: which signal an arrow is from, and pictures of many or odd events."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest
import symm
from symm._trace import merged
from symm._trace_picture import Picture

SENDER, WAITER = 0, 1
FLAG = [WAITER, 4096]


def event(name, begin, end, program=0, signals=(), wait=None):
    common = {"at": "ring.py:7", "peers": [], "bytes": 0, "flag": "", "program": program}
    return {"name": name, "begin": begin, "end": end, "signals": [*signals], "wait": wait, **common}


def signal(begin, end, value, flag=FLAG):
    return event("signal", begin, end, signals=[[*flag, value]])


def arrows(signals, waits):
    """From which signal, by its number, an arrow leads to each wait; None where there is none."""
    program = ["ring", [0, 0, 0], 0, 10_000_000]
    found = merged({
        SENDER: {"programs": [program], "events": signals}, WAITER: {"programs": [program], "events": waits}
    })  # fmt: skip
    starts = {each["id"]: each for each in found if each["ph"] == "s"}
    ends = {each["ts"]: starts[each["id"]]["ts"] for each in found if each["ph"] == "f"}
    number = {min(each["end"], wait["end"]) / 1000: at for wait in waits for at, each in enumerate(signals)}
    return [number.get(ends.get(wait["end"] / 1000)) for wait in waits]


def wait(begin, end, compare, value):
    return event("wait", begin, end, wait=[[FLAG], compare, value])


@pytest.mark.parametrize(
    ("signals", "waits", "wanted"),
    [
        # What a wait was waiting for.
        ([signal(100, 110, 1)], [wait(50, 120, "ge", 1)], [0]),
        # What was there before it: the last one.
        ([signal(100, 110, 1), signal(120, 130, 2)], [wait(200, 210, "ge", 1)], [1]),
        # The first one after which it may end, not one that is too small, or comes later.
        ([signal(100, 110, 1), signal(120, 130, 2), signal(140, 150, 3)], [wait(90, 145, "ge", 2)], [1]),
        ([signal(100, 110, 1), signal(120, 130, 2)], [wait(50, 115, "ge", 1), wait(116, 135, "ge", 2)], [0, 1]),
        # None: too small, another flag, or after the wait.
        ([signal(100, 110, 1)], [wait(50, 300, "ge", 2)], [None]),
        ([signal(100, 110, 1, [WAITER, 4104])], [wait(50, 300, "ge", 1)], [None]),
        ([signal(400, 410, 1)], [wait(50, 300, "ge", 1)], [None]),
        # By its comparison.
        ([signal(100, 110, 5), signal(120, 130, 6)], [wait(50, 300, "eq", 6)], [1]),
        ([signal(100, 110, -1)], [wait(50, 300, "lt", 0)], [0]),
        # Where it is not known what a flag then was, the last one that had come; if none had, the first.
        ([signal(100, 110, None), signal(120, 130, None), signal(140, 150, None)], [wait(90, 145, "ge", 2)], [1]),
        ([signal(100, 110, None), signal(120, 130, None)], [wait(200, 210, "ge", 2)], [1]),
        ([signal(140, 150, None)], [wait(90, 145, "ge", 1)], [0]),
        ([signal(150, 160, None)], [wait(90, 145, "ge", 1)], [None]),
    ],
)
def test_an_arrow_is_from_the_signal_that_ended_the_wait(signals, waits, wanted):
    assert arrows(signals, waits) == wanted


def test_clocks_may_be_wrong():
    programs = [["ring", [0, 0, 0], 0, 10_000_000]]
    sender, waiter = {"events": [signal(150, 160, 1)]}, {"events": [wait(90, 145, "ge", 1)]}
    for error, count in ((2, 0), (3, 1)):
        about = {"clock_error_ns": error, "dropped_events": 0}
        parts = [{"programs": programs, "about": about, **json.loads(json.dumps(each))} for each in (sender, waiter)]
        found = merged(dict(enumerate(parts)))
        assert sum(each["ph"] == "f" for each in found) == count
        # An arrow does not lead back in time.
        times = [each["ts"] for each in found if each["ph"] in "sf"]
        assert times == sorted(times)


def test_times_begin_at_zero_in_microseconds():
    program = ["ring", [0, 0, 0], 5_000_000, 5_010_000]
    made = merged({0: {"programs": [program], "events": [signal(5_002_000, 5_003_000, 1, [0, 0])]}})
    assert [(each["ts"], each["dur"]) for each in made if each["ph"] == "X"] == [(0, 10), (2, 1)]


def test_names_are_escaped():
    odd = '<script>&"\x00\x1b]]>'
    made = merged({0: {"programs": [[odd, [0, 0, 0], 0, 9000]], "events": [event(odd, 0, 5000)]}})
    tree = xml.etree.ElementTree.fromstring(Picture(json.loads(json.dumps(made)), odd).svg)
    titles = [each.text for each in tree.iter() if each.tag.endswith("title")]
    assert any(each.startswith('<script>&"  ]]>, ') for each in titles), titles


@pytest.mark.in_turn
def test_a_picture_of_many_events_has_few_boxes():
    count = 20_000
    signals = [signal(200 * each, 200 * each + 50, each + 1) for each in range(count)]
    waits = [wait(200 * each + 10, 200 * each + 90, "ge", each + 1) for each in range(count)]
    program = ["ring", [0, 0, 0], 0, 200 * count]
    programs = [program, *(["ring", [each, 0, 0], 0, 10] for each in range(1, 300))]
    made = merged({0: {"programs": programs, "events": signals}, 1: {"programs": [program], "events": waits}})
    assert sum(each["ph"] == "f" for each in made) == count
    svg = Picture(made, "many").svg
    assert svg.count("<rect") < 10_000 and svg.count("<line") < 10_000 and "268 programs are not shown" in svg
    xml.etree.ElementTree.fromstring(svg)


def test_kernels_have_their_names_where_there_is_room():
    programs = [["scale_rows", [0, 0, 0], 0, 500_000], ["scale_rows", [1, 0, 0], 0, 1_000_000]]
    programs += [["halo_exchange_of_rows", [0, 0, 0], 500_000, 560_000], ["tiny", [0, 0, 0], 999_000, 1_000_000]]
    svg = Picture(merged({0: {"programs": programs, "events": []}}), "names").svg
    texts = [each.text for each in xml.etree.ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]
    assert "kernels: scale_rows (2 programs), halo_exchange_of_rows (1 program), tiny (1 program)" in texts
    assert texts.count("scale_rows") == 2 and "halo_exc…" in texts and "tiny" not in texts, texts
    many = [[f"kernel_{each}", [0, 0, 0], each, each + 1] for each in range(9)]
    assert "kernel_5 (1 program), 3 more</text>" in Picture(merged({0: {"programs": many, "events": []}}), "many").svg


SLICE = {"ph": "X", "name": "load", "cat": "load", "pid": 0, "tid": 0, "ts": 1.0, "dur": 2.0, "args": {}}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([1, 2], "it has no list traceEvents"),
        ({"weights": []}, "it has no list traceEvents"),
        ({"traceEvents": {"ph": "X"}}, "it has no list traceEvents"),
        ({"traceEvents": [3]}, "event 0 of traceEvents has no 'ph', which says what it is"),
        (
            {"traceEvents": [SLICE, {key: SLICE[key] for key in SLICE if key not in ("ts", "dur")}]},
            "event 1 of traceEvents, 'load', has no ts, dur",
        ),
        ({"traceEvents": [SLICE | {"ts": "soon"}]}, "event 0 of traceEvents, 'load', has no ts"),
        ({"traceEvents": [SLICE | {"args": [1]}]}, "event 0 of traceEvents, 'load', has no args"),
        ({"traceEvents": [{"ph": "s", "pid": 0, "tid": 0, "id": 1}]}, "event 0 of traceEvents, 's', has no ts"),
    ],
)
def test_what_a_file_lacks_for_a_picture_is_said(tmp_path, told, said):
    path = tmp_path / "told.json"
    path.write_text(json.dumps(told))
    with pytest.raises(symm.ArgumentError) as raised:
        symm.trace.plot(path)
    assert str(raised.value) == f"symm.trace.plot: {path} is not a timeline: {said}"


def test_a_picture_leaves_out_events_of_other_kinds(tmp_path):
    path = tmp_path / "told.json"
    path.write_text(json.dumps({"traceEvents": [SLICE, {"ph": "C"}, {"ph": "sf"}]}))
    assert ">1 slices in" in symm.trace.plot(path).svg


def test_a_compiled_kernel_on_the_cpu_is_not_recorded(tmp_path):
    program = "import symm\nwith symm.trace('out.json', world=symm.init(heap_size=4 << 20, device='cpu')): pass"
    stand_in = os.path.join(os.path.dirname(__file__), "stand_in")
    path = os.pathsep.join([stand_in, *sys.path])
    run = {**os.environ, "PYTHONPATH": path, "TRITON_INTERPRET": "0", "WORLD_SIZE": "1", "RANK": "0"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=run, check=False)
    said = "symm.errors.UnsupportedError: symm.trace: this World is on cpu, and kernels are compiled: "
    assert said in done.stderr and done.returncode == 1 and not [*tmp_path.iterdir()], done.stderr


def test_a_trace_needs_a_world():
    with pytest.raises(symm.ArgumentError, match="symm.trace: call symm.init first"):
        symm.trace("out.json")
    with pytest.raises(symm.ArgumentError, match="this process has made no trace"):
        symm.trace.plot()
