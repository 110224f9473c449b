"""What users get wrong, on several ranks: every rank is told, in bounded time, who did what."""

import time

import pytest
from test_ranks import HERE, outputs, start

# How rank 1's program ends, and what the other ranks are told of it.
ENDINGS = {
    "exit(3)": "rank 1 ended with exit status 3; its own output says why",
    "quit(4)": "rank 1 ended with exit status 4; its own output says why",
    "raise SystemExit(5)": "rank 1 ended with exit status 5; its own output says why",
    "raise SystemExit('no data')": "rank 1 ended with exit status 1; its own output says why",
    "import sys; sys.exit(6)": "rank 1 ended by sys.exit(6); its own output says why",
    "raise ValueError('no data')": "rank 1 ended by ValueError: no data; its own output says why",
    "busy()": "rank 1 ended by WaitTimeoutError: {file}:{wait}: kernel wait_for: rank 1, program (0, 0, 0) has waited "
    "0.3 s for element 0 of World.zeros: torch.int32, (4,)",
}
WHERE = ("kernel", "barrier", "stream", "zeros")


@pytest.mark.in_turn
@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("where", WHERE)
def test_who_waits_for_a_rank_that_ends_is_told_why(how, where):
    file = HERE / "ranks/endings.py"
    wait = next(n for n, line in enumerate(file.read_text().splitlines(), 1) if "st.wait(" in line)
    begin = time.monotonic()
    (waiting, status), (ended, other) = outputs(start("endings.py", 2, HOW=how, WHERE=where))
    assert status == 1 and other == int(next((digit for digit in how if digit in "3456"), 1)), waiting + ended
    assert "RankFailedError" in waiting and ENDINGS[how].format(file=file, wait=wait) in waiting, waiting
    assert time.monotonic() - begin < 45


@pytest.mark.parametrize("how", ["exit(0)", "raise SystemExit"])
def test_a_rank_that_exits_without_a_failure_leaves_the_run(how):
    (waiting, status), (ended, other) = outputs(start("endings.py", 2, HOW=how, WHERE="kernel"))
    assert (status, other) == (1, 1)
    assert "rank 1: World.close at the end of the program" in waiting and "DeadlockError" in waiting, waiting
    assert "symm: rank 1 could not leave the run: " in ended, ended
    (waiting, status), (ended, other) = outputs(start("endings.py", 2, HOW=how, WHERE="barrier"))
    assert "rank 1: World.close at the end of the program" in waiting and "MismatchError" in waiting, waiting
    # Where all ranks do so, nothing is wrong.
    for output, status in outputs(start("endings.py", 2, HOW=how, WHERE="leave")):
        assert (output, status) == ("", 0)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_that_disagree_on_a_team(ranks):
    for output, status in outputs(start("disagree.py", ranks)):
        assert status == 0, output


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("case", ["kinds", "counts", "tensors", "values"])
def test_ranks_that_make_other_calls_for_teams(case, ranks):
    for output, status in outputs(start("steps.py", ranks, CASE=case)):
        assert status == 0, output


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_what_a_world_and_a_team_refuse(ranks):
    for output, status in outputs(start("bad_input.py", ranks)):
        assert status == 0, output


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_what_iris_refuses_and_shows(ranks):
    for rank, (output, status) in enumerate(outputs(start("iris_wrong.py", ranks))):
        assert status == 0, output
        assert output.splitlines() == [
            f"Context(rank={rank}, world_size={ranks})",
            f"IrisDeviceCtx(cur_rank={rank}, num_ranks={ranks})",
            "TileView(pid_m=0, pid_n=1, block_m=2, block_n=4)",
            "TensorView(ptr=pointer<int32>, M=2, N=4, stride_m=4, stride_n=1)",
        ]


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_autotune_in_the_interpreter(ranks):
    for output, status in outputs(start("autotune.py", ranks)):
        assert status == 0, output
