"""Ranks that wait for each other for ever, in Triton's interpreter and in calls of the host: each is told at once."""

import re

import pytest
from test_ranks import HERE, outputs, start

SAID = "deadlock: every rank waits, and nothing is left that could signal"
DEADLOCKS = {
    "nobody_signals": "wait for element 2 of {tensor} to be >= 3: it is 0",
    "later_program": "{file}:{wait}: kernel later_program: wait for element 0 of {tensor} to be == 1: it is 0",
    "another_flag": "several flags, first for element 2 of {tensor} to be >= 1: they are 1, 1, 0, 0, 0, 0, 0, 0",
    "no_packets": "wait_packet: epoch 7 at element 0 of {tensor}: its epoch is 0",
    "no_floats": "wait_floats: floats at element 0 of {tensor}: they have not come",
    "device_barrier_of_the_host": "rank 1: World.device_barrier at {file}:{device}",
    "one_in_a_barrier": "{file}:{barrier}: kernel one_in_a_barrier: barrier number 1",
    "barrier_of_a_team": "{file}:{wait}: kernel barrier_of_a_team: barrier number 1 of a team of 2",
    "barrier_of_the_host": "rank 1: World.barrier at {file}:{host}",
    "barriers_of_two_programs": "program (1, 0, 0), {file}:{wait}: kernel barriers_of_two_programs: barrier number 1",
    "stream_of_the_host": "World.wait at {file}:{wait}: wait for element 0 of {tensor} to be >= 1: it is 0",
    "one_has_ended": "rank 1: World.barrier at {file}:{host}",
}


@pytest.mark.in_turn
@pytest.mark.parametrize(("case", "said"), DEADLOCKS.items())
def test_a_deadlock_is_found_at_once(case, said):
    told = "".join(output for output, status in outputs(start("deadlocks.py", 2, CASE=case)))
    first = "World.wait at " if case == "stream_of_the_host" else "program ("
    assert f"{SAID}\n  rank 0: {first}" in told, told
    file = HERE / "ranks/deadlocks.py"
    lines = file.read_text().splitlines()
    kernel = next(n for n, line in enumerate(lines) if line.startswith(f"def {case}("))

    def line_of(text):
        return next((n for n, line in enumerate(lines[kernel:], kernel + 1) if text in line), None)

    # The host's barrier after the launch is within a `try`.
    places = {"wait": line_of("# wait"), "barrier": line_of("st.barrier(world)")}
    places["host"] = line_of("    world.barrier()")
    places["device"] = line_of("    world.device_barrier()")
    made = next(n for n, line in enumerate(lines, 1) if line.startswith("flags = world.zeros"))
    tensor = f"World.zeros: torch.int32, (8,) (made at {file}:{made})"
    assert said.format(file=file, tensor=tensor, **places) in told, told


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_deadlock_of_one_and_of_four_ranks(ranks):
    told = outputs(start("deadlocks.py", ranks, CASE="nobody_signals"))
    assert any("found it" in output for output, _ in told) and all(status == 1 for _, status in told), told


def test_a_slow_rank_is_no_deadlock():
    for output, status in outputs(start("deadlocks.py", 4, CASE="slow")):
        assert status == 0, output


JAMS = HERE / "ranks/jams.py"
KERNEL = "program (0, 0, 0), {file}:24: kernel waits: wait for element 0 of World.zeros: "
# What rank 0 of ranks/jams.py waits for, and what the others.
TOLD = {
    "kernels": (KERNEL, KERNEL),
    "kernel_and_barrier": (KERNEL, "World.barrier at {file}:"),
    "kernel_and_zeros": ("World.zeros: torch.float32, (4,) at {file}:", KERNEL),
    "wait_and_barrier": ("World.wait at {file}:{line}: wait for element 0 of World.zeros", "World.barrier at {file}:"),
    "barriers": ("World.barrier at {file}:{line}", "World.barrier at {file}:{line}"),
    "broadcast": ("World.broadcast from rank 0 at {file}:{line}", "World.device_barrier at {file}:{line}"),
    "team_and_wait": ("Team.barrier at {file}:{line}: ", "World.wait at {file}:{line}: wait for element 1 of World."),
    "team_and_barrier": ("Team.barrier at {file}:{line}: ", "World.barrier at {file}:{line}"),
    "one_world": ("World.barrier at {file}:{line}", "World.wait at {file}:{line}: wait for element 0 of World.zeros"),
}


@pytest.mark.in_turn
@pytest.mark.parametrize(("case", "ranks"), [*((case, 2) for case in TOLD), ("kernels", 4), ("barriers", 4)])
def test_a_deadlock_of_two_worlds(case, ranks):
    line = next(n for n, text in enumerate(JAMS.read_text().splitlines(), 1) if f'"{case}": ' in text)
    texts = [text.format(file=JAMS, line=line) for text in TOLD[case]]
    for output, status in outputs(start("jams.py", ranks, CASE=case)):
        report = output.rpartition(f"{SAID}\n")[2].splitlines()
        assert "DeadlockError" in output and status == 1, output
        for rank in range(ranks):
            assert report[rank].startswith(f"  rank {rank}: {texts[rank > 0]}"), output


def seconds_of(case):
    """How long each rank has waited."""
    results = outputs(start("jams.py", 2, CASE=case))
    times = [re.findall(r"after ([\d.]+) s", output) for output, _ in results]
    return results, max(float(found) for each in times for found in each)


@pytest.mark.in_turn
@pytest.mark.parametrize(("case", "how"), [("ends", "sys.exit"), ("ends_first", "exit"), ("closes", None)])
def test_who_leaves_a_world_keeps_nobody_waiting_in_another(case, how):
    """Who leaves one of two Worlds waits for five seconds where nobody is seen to wait for it."""
    runs = [seconds_of(case)]
    while runs[-1][1] >= 4 and len(runs) < 3:
        runs.append(seconds_of(case))
    for results, _ in runs:
        (waiting, status), _ = results
        assert status == (0 if how is None else 1), results
        assert how is None or f"{SAID}\n  rank 0: " in waiting, waiting
        assert how is None or "\n  rank 1: World.close at the end of the program" in waiting, waiting
    # The machine may be busy once.
    assert min(seconds for _, seconds in runs) < 4, runs


def test_a_slow_rank_of_two_worlds_is_no_deadlock():
    for output, status in outputs(start("jams.py", 3, CASE="slow")):
        assert status == 0, output


TRACES = {
    "folder": (0, ""),
    "closes": (0, ""),
    "second": (0, ""),
    "waits": (1, f"{SAID}\n  rank 0: the end of symm.trace at "),
    "barrier": (1, "\n  rank 0: the end of symm.trace at "),
}


@pytest.mark.in_turn
@pytest.mark.parametrize(("case", "ends"), TRACES.items())
def test_the_end_of_a_trace(case, ends, tmp_path):
    status, said = ends
    for output, ended in outputs(start("trace_ends.py", 2, CASE=case, FOLDER=str(tmp_path))):
        assert ended == status and said in output, output


LATE = {
    "one_of": (2, "wait for one of several flags, first for element 3 of World.arange: ", " >= 9: they are 3, 4\n"),
    "all_of": (2, "wait for several flags, first for element 3 of World.arange: ", " >= 4: they are 3, 4\n"),
    "meets": (2, "rank 1: Team.barrier at ",
              ": wait for rank 1 of the team (rank 0 of the World) to come to its barrier number 1: it has come to 0"),
    "late": (3, "", ""),
}  # fmt: skip


@pytest.mark.in_turn
@pytest.mark.parametrize(("case", "told"), LATE.items())
def test_a_wait_says_for_which_flags_and_for_whom(case, told):
    ranks, *texts = told
    for output, status in outputs(start("late.py", ranks, CASE=case)):
        assert status == (case != "late") and all(text in output for text in texts), output
