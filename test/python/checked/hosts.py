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
    said = "is at a barrier of all hosts, to which the host of rank 1 does not come: it has ended"
    assert (place.rank, place.program, place.what) == (0, None, said), text
    assert "help: every rank's host has to come to it, as often as the others" in text, text


def test_a_barrier_of_a_loop_is_told_by_how_often_it_was_met():
    def uneven(world):
        for _ in range(2 + (world.get_rank() == 0)):
            world.device_barrier()

    finding, text = only(uneven, 3)
    said = "is at a barrier of all hosts (for the 3rd time at this line), to which the hosts of ranks 1 and 2 do not "
    said += "come: they have ended"
    assert [place.what for place in finding.places] == [said], text


def test_hosts_at_different_barriers():
    def crossed(world):
        if world.get_rank() == 0:
            world.device_barrier()
        world.barrier()

    finding, text = only(crossed)
    said = "is at a barrier of all hosts, to which the host of rank {} does not come: it is at another barrier"
    assert [place.what for place in finding.places] == [said.format(rank) for rank in (1, 0)], text
    assert finding.help.startswith("the hosts are at different barriers: every rank's host has to come to"), text


def test_calls_of_the_host_have_their_names():
    def program(world):
        flag = world.zeros(1, dtype=torch.int32)
        other = world.zeros(1, dtype=torch.int32)
        if world.get_rank() == 0:
            world.signal(other, 1, 1)
            world.wait(flag, 1)

    finding, text = only(program)
    assert finding.places[0].kernel == "World.wait" and ": rank 0, World.wait: waits for" in text, text
    assert "stream_" not in text, text


@triton.jit
def tries(world, slots, out, AT: tl.constexpr):
    if st.rank(world) == 0:
        st.put_packet(world, slots + AT, st.rank(world) + 5, 1, 1)
    else:
        value, has_come = st.try_packet(world, slots, 1, dtype=tl.int32)
        while not has_come:
            value, has_come = st.try_packet(world, slots, 1, dtype=tl.int32)
        tl.store(out, value)


def test_a_packet_that_goes_to_another_line_than_the_one_that_is_looked_at():
    def program(world):
        slots, out = world.zeros(64, dtype=torch.int32), world.zeros(1, dtype=torch.int32)
        world.barrier()
        tries[(1,)](world, slots, out, 16)

    finding, text = only(program)
    says = "polls in vain for the packet of epoch 1 at element 0 of .*, sees epoch 0; nobody has put a packet there; "
    says += "rank 0 program 0 has put the packet of epoch 1 at element 16 of .*, which nobody has received"
    assert finding.kind == "never-signalled" and re.fullmatch(says, finding.places[0].what), text
    assert finding.help.startswith("nobody sends this packet"), text


@triton.jit
def fills(world, box, flag):
    if st.rank(world) == 0:
        st.store(world, box, 1, 1)
        st.signal(world, flag, 1, 1, op="add")
    else:
        st.wait(world, flag, 1)
        tl.store(box, tl.load(box) + 1)


def test_who_has_filled_the_flag_that_lets_a_wait_through_is_named():
    def program(world):
        box, flag = world.zeros(16, dtype=torch.int32), world.zeros(1, dtype=torch.int32)
        flag.fill_(1)
        world.barrier()
        fills[(1,)](world, box, flag)

    report = symm.check.run(program, heap_size=1 << 24, schedules=20)
    found = [each for each in report.findings if each.kind == "wrong-event"]
    assert found, report
    for finding in found:
        said = {place.what: (place.rank, place.program) for place in finding.places}
        assert "waits, and is satisfied by what was written to the flag before, 1" in said, report
        assert said["has written 1 there, which is no signal"] == (1, None), report


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
        said = "is at a barrier of all hosts, to which the host of rank 1 does not come: "
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
