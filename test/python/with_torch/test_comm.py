"""Collectives in Triton's interpreter on one to four ranks. They need torch itself, not what stands in for it."""

from pathlib import Path

import pytest
from test_ranks import outputs, start

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")


TUTORIAL = Path(__file__).parents[3] / "examples/python/collectives.py"
PROGRAMS = ("comm_collectives.py", "comm_large.py", "comm_use.py", "comm_iris.py", "comm_stalled.py", "floats.py",
            "comm_floats.py")  # fmt: skip
# That three ranks are no power of two, the collectives themselves show.
LONG = [("comm_floats.py", 4), *((program, 3) for program in PROGRAMS[1:])]
EVERY = [(program, ranks) for program in PROGRAMS for ranks in (1, 2, 3, 4)]
CASES = [pytest.param(*case, marks=pytest.mark.long if case in LONG else ()) for case in EVERY]


@pytest.mark.parametrize(("program", "ranks"), CASES)
def test_program(program, ranks):
    for output, status in outputs(start(program, ranks, OMP_NUM_THREADS="1")):
        assert status == 0, output


@pytest.mark.parametrize("ranks", [2, 4])
def test_tutorial(ranks):
    for output, status in outputs(start(TUTORIAL, ranks, OMP_NUM_THREADS="1")):
        assert status == 0, output
        assert output.count("as an expert it had") == 1


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_that_do_not_come(ranks):
    for output, status in outputs(start("comm_deadline.py", ranks, OMP_NUM_THREADS="1")):
        assert status == 0, output


@pytest.mark.parametrize(("program", "ranks", "domain"), [("comm_deadline.py", 2, 1), ("comm_hierarchy.py", 4, 2)])
def test_far_ranks_that_do_not_come(program, ranks, domain):
    arguments = ["late"] if program == "comm_hierarchy.py" else []
    told = {"OMP_NUM_THREADS": "1", "SYMM_DOMAIN": str(domain)}
    for output, status in outputs(start(program, ranks, *arguments, **told)):
        assert status == 0, output


@pytest.mark.parametrize(("ranks", "arguments"), [(2, []), (4, []), (4, ["late"])])
def test_domains(ranks, arguments):
    for output, status in outputs(start("comm_hierarchy.py", ranks, *arguments, OMP_NUM_THREADS="1")):
        assert status == 0, output


@pytest.mark.parametrize(
    ("ranks", "domain", "long"),
    [(4, 2, "0"), (2, 1, "0"), *(pytest.param(*case, marks=pytest.mark.long) for case in ((4, 1, "0"), (4, 2, "1")))],
)
def test_every_call_between_domains(ranks, domain, long):
    processes = start("comm_domains.py", ranks, str(domain), OMP_NUM_THREADS="1", LONG=long)
    for output, status in outputs(processes):
        assert status == 0, output


@pytest.mark.long
@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize("program", ["comm_collectives.py", "comm_large.py"])
def test_all_types_and_sizes(program, ranks):
    for output, status in outputs(start(program, ranks, OMP_NUM_THREADS="1", LONG="1")):
        assert status == 0, output


def test_matrix():
    for output, status in outputs(start("comm_matrix.py", 2, OMP_NUM_THREADS="1")):
        assert status == 0, output


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_whole_matrix(ranks):
    processes = start("comm_matrix.py", ranks, OMP_NUM_THREADS="1", LONG="1")
    for output, status in outputs(processes, seconds=3600):
        assert status == 0, output


def test_small_messages_through_slots():
    for output, status in outputs(start("comm_collectives.py", 2, OMP_NUM_THREADS="1", PACKETS="0")):
        assert status == 0, output


def test_with_bounds_checks():
    for output, status in outputs(start("comm_collectives.py", 2, OMP_NUM_THREADS="1", SYMM_BOUNDS_CHECKS="1")):
        assert status == 0, output


CALLS = ("all_reduce", "broadcast", "all_to_all_v", "barrier", "recover")
MESSAGES = ("recv", "sendrecv", "all_to_all")


@pytest.mark.parametrize("call", [*(f"Communicator.{call}" for call in CALLS), *MESSAGES])
def test_a_deadlock_names_the_call(call):
    results = outputs(start("comm_deadlocks.py", 2, call, OMP_NUM_THREADS="1"))
    assert all("found it" in output for output, _ in results), results
