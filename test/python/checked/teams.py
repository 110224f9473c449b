"""Barriers of teams in kernels, under symm.check."""

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def handed_over(team, box, out, MEET: tl.constexpr):
    """Each rank writes to the other one of its team, meets it or not, and reads."""
    st.store(team, box, 1 + st.rank(team), 1 - st.rank(team))
    if MEET:
        st.barrier(team)
    tl.store(out, tl.load(box))


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(("meet", "times", "is_right"), [(True, 1, True), (False, 1, False), (True, 2, False)])
def test_a_barrier_orders_the_ranks_of_its_team(meet, times, is_right, ranks):
    def program(world):
        box, out = (world.zeros(16, dtype=torch.int32) for _ in range(2))
        team = world.split(world.get_rank() // 2)
        world.barrier()
        # Nothing tells the other rank that the box has been read.
        for _ in range(times):
            handed_over[(1,)](team, box, out, meet)

    report = symm.check.run(program, ranks=ranks, schedules=2, heap_size=1 << 24)
    assert report.is_clean == is_right, report
    # The flags of a team are flags like others: that the barrier ends with the next launch's signal is told, too.
    assert {each.kind for each in report.findings} <= {"race", "write-after-read", "wrong-event"}, report


@triton.jit
def there_and_back(team, box, out):
    st.store(team, box + st.rank(team), 1, 1 - st.rank(team))
    st.barrier(team)
    tl.store(out, tl.load(box + 1 - st.rank(team)))
    st.barrier(team)


def test_barriers_of_two_teams_never_meet():
    def program(world):
        box, out = (world.zeros(16, dtype=torch.int32) for _ in range(2))
        teams = [world.team([0, 1]), world.team([1, 0]), world]
        world.barrier()
        for team in (*teams, *teams):
            there_and_back[(1,)](team, box, out)

    report = symm.check.run(program, ranks=2, schedules=2, heap_size=1 << 24)
    assert report.is_clean, report
