"""Calls of symm.comm under symm.check: nothing is found, and of copies with one synchronisation less it is.

They are run by checked/comm.py, with Triton's interpreter. They need torch itself, not what stands in for it.
"""

import functools
import json
from pathlib import Path

import pytest
from test_check import checked, kinds, python

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

PROGRAM = Path(__file__).resolve().parents[1] / "checked/comm.py"
TUTORIAL = PROGRAM.parents[3] / "examples/python/collectives.py"
# Of each case the kernels that do it.
KERNELS = {
    "packets": ["meet", "send_packets"],
    "slots": ["exchange", "meet"],
    "two_shot": ["exchange", "meet", "two_shot"],
    "direct": ["direct_all_reduce", "direct_exchange", "exchange", "meet"],
    "direct_elsewhere": ["direct_all_reduce", "direct_exchange", "exchange", "meet"],
    "ahead_in_packets": ["meet", "send_packets"],
    "ahead_in_slots": ["exchange", "meet"],
    "rows": ["ragged"],
    # Each of two ranks is alone.
    "some_ranks": [],
    "messages": ["mail", "swap", "swap_in_place", "transfer"],
    "domains": ["exchange", "meet"],
    "floats": ["send_floats"],
    "floats_in_turns": ["send_floats"],
    "network": ["swap", "swap_in_place", "transfer"],
}
MORE_RANKS = {3: ["packets", "two_shot", "messages", "floats"], 4: ["some_ranks", "domains"]}


@functools.cache
def reports(*arguments):
    done = python(PROGRAM, *arguments, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_right(report, executions):
    assert report["findings"] == [] and report["given_up"] == 0, report["text"]
    assert report["executions"] == executions


@pytest.mark.parametrize("case", KERNELS)
def test_nothing_is_found(case):
    report = reports("--schedules=1")[case]
    is_right(report, 2)
    assert report["kernels"] == KERNELS[case]


@pytest.mark.parametrize("ranks", MORE_RANKS)
def test_nothing_is_found_on_more_ranks(ranks):
    for case, report in reports(f"--ranks={ranks}", "--schedules=0", *MORE_RANKS[ranks]).items():
        is_right(report, 1)
        assert report["kernels"] == (KERNELS[case] or ["exchange"])


def test_what_has_less_order_is_found():
    found = reports("--less", "--schedules=0")
    assert len(found) == 19
    for name, report in found.items():
        assert report["wanted"] in kinds(report), f"{name}\n{report['text']}"


def test_tutorial_is_right():
    done = checked(TUTORIAL, "--ranks=2", "--schedules=1", OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("symm.check: nothing found; 2 executions tried")


def test_all_are_run():
    assert set(reports("--schedules=1")) == set(KERNELS)
