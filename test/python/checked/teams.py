"""Barriers of teams in kernels, under symm.check."""

import re

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


@triton.jit
def missed(team, COMES: tl.constexpr):
    if COMES:
        st.barrier(team)


@pytest.mark.parametrize("order", [[1, 2], [2, 1]])
def test_who_does_not_come_to_a_teams_barrier_is_told(order):
    def program(world):
        me = world.get_rank()
        team = world.team(order) if me > 0 else world.team([0])
        world.barrier()
        missed[(2,)](team, me == 0)
        missed[(2,)](team, me < 2)

    report = symm.check.run(program, ranks=3, schedules=2, heap_size=1 << 24)
    [finding] = report.findings
    number = order.index(2)
    says = r"is at barrier [01] of World\.team \(made at .*teams.py:\d+\), "
    says += rf"to which the team's rank {number} \(rank 2\) does not come"
    assert finding.kind in ("never-signalled", "deadlock"), report
    assert [place.rank for place in finding.places] == [1, 1], report
    assert all(re.match(says, place.what) for place in finding.places), report
    assert "every rank of the team has to launch the kernel" in finding.help, report


@pytest.mark.parametrize("in_kernels", [False, True])
def test_crossed_barriers_of_two_teams_are_told_apart(in_kernels):
    def program(world):
        teams = [world.team([0, 1]) for _ in range(2)]
        world.barrier()
        for team in teams if world.get_rank() == 0 else reversed(teams):
            if in_kernels:
                missed[(1,)](team, True)
            else:
                team.barrier()

    report = symm.check.run(program, schedules=0, heap_size=1 << 24)
    [finding] = report.findings
    assert {place.rank for place in finding.places} == {0, 1}, report
    for place in finding.places:
        number = place.rank + 1
        assert re.search(rf"World\.team \(made at .*teams.py:\d+, number {number} of 2\), to which", place.what), report
    assert "all ranks have to come to these barriers in the same order" in finding.help, report


def test_barriers_of_two_teams_that_are_not_crossed():
    def program(world):
        me = world.get_rank()
        team = world.team([0, 1] if me < 2 else [2, 3])
        if me % 2 == 0:
            team.barrier()

    report = symm.check.run(program, ranks=4, schedules=0, heap_size=1 << 24)
    assert [finding.help for finding in report.findings] == [
        "every rank of the team has to call its barrier, as often as the others"
    ], report
