"""What is told of hosts, of their barriers and launches, and of packets that do not come, under symm.check."""

import re

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl


def only(program, ranks=2):
    report = symm.check.run(program, ranks=ranks, heap_size=1 << 24, schedules=0)
    [finding] = report.findings
    return finding, str(report)


def test_a_barrier_that_a_host_leaves_out():
    def uneven(world):
        world.barrier()
        if world.get_rank() == 0:
            world.barrier()

    finding, text = only(uneven)
    assert finding.kind == "barrier-divergence"
    [place] = finding.places
    said = "is at a barrier of all hosts (number 2 of its kind), to which the host of rank 1 does not come: "
    said += "it has ended"
    assert (place.rank, place.program, place.what) == (0, None, said), text
    assert "help: every rank's host has to come to it, as often as the others" in text, text


@triton.jit
def waits(world, flag, slot, PACKET: tl.constexpr):
    if st.rank(world) == 1:
        if PACKET:
            st.wait_packet(world, slot, 1, dtype=tl.int32)
        else:
            st.wait(world, flag, 1)


@pytest.mark.parametrize(
    ("packet", "met", "help"),
    [
        (False, True, "nobody has signalled it, and all others wait for this wait: the signal is missing"),
        (True, True, "nobody has sent this packet, and all others wait for this wait: the op that puts it is missing"),
        (True, False, "nobody sends this packet, and nobody is left who could: the op that puts it is missing"),
    ],
)
def test_the_wait_that_others_wait_for_comes_first(packet, met, help):
    def program(world):
        flag, slot = (world.zeros(64, dtype=torch.int32) for _ in range(2))
        world.barrier()
        waits[(1,)](world, flag, slot, packet)
        if met:
            world.barrier()

    finding, text = only(program)
    assert finding.kind == "never-signalled", text
    assert [place.kernel for place in finding.places] == ["waits", None][: 1 + met], text
    assert finding.help.startswith(help), text
    if met:
        said = "is at a barrier of all hosts (number 2 of its kind), to which the host of rank 1 does not come: "
        said += "it waits for its kernel"
        assert finding.places[1].what == said


@pytest.mark.parametrize(("ranks", "number"), [([1, 2], 1), ([2, 1], 0)])
def test_the_barrier_of_a_team_has_its_name_and_ranks(ranks, number):
    def program(world):
        team = world.team(ranks if world.get_rank() > 0 else [0])
        if world.get_rank() == 1:
            team.barrier()
        world.barrier()

    finding, text = only(program, 3)
    first, *others = finding.places
    assert (first.rank, first.kernel) == (1, "the team's barrier")
    says = r"is at the barrier of World\.team \(made at .*hosts.py:\d+\), "
    says += rf"to which the team's rank {number} \(rank 2\) does not come"
    assert re.fullmatch(says, first.what), text
    assert re.search(r"hosts.py:\d+:\d+: rank 1, the team's barrier: is at", text), text
    assert [(place.rank, place.program) for place in others] == [(0, None), (2, None)], text
    assert finding.help == "every rank of the team has to call its barrier, as often as the others", text
    assert "team_barrier" not in text, text


@triton.jit
def writes(world, box):
    if st.rank(world) == 0:
        st.store(world, box, 1, 1)


@triton.jit
def reads(world, box, out):
    if st.rank(world) == 1:
        tl.store(out, tl.load(box))


@pytest.mark.parametrize("way", ["nothing", "barrier", "device_barrier", "signal"])
def test_what_orders_two_launches_is_named_and_does_it(way):
    def program(world):
        box, out, flag = (world.zeros(size, dtype=torch.int32) for size in (16, 16, 1))
        world.barrier()
        writes[(1,)](world, box)
        if way in ("barrier", "device_barrier"):
            getattr(world, way)()
        if way == "signal":
            world.signal(flag, 1, 1) if world.get_rank() == 0 else world.wait(flag, 1)
        reads[(1,)](world, box, out)

    report = symm.check.run(program, heap_size=1 << 24, schedules=5)
    assert report.is_clean == (way != "nothing"), report
    said = "they are of two launches: world.barrier() or world.device_barrier() between these orders them, too, and so "
    said += "does world.signal after the one that is to come first, with world.wait before the other one"
    assert all(finding.help.endswith(said) for finding in report.findings), report
