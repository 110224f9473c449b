"""Teams: their ranks, near and far, in kernels and on the host, and that the barriers of two teams and of the World
never meet.
"""

import copy
import os
import pickle
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from leave import leave

sys.path.insert(0, str(Path(__file__).parents[1]))
import far_kernels as kernels

world = symm.init(heap_size=64 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
B = 64
flags = world.zeros(64, dtype=torch.int64)
data = world.zeros(64, dtype=torch.int64)


@triton.jit
def around(team, flags, data, out, STEP: tl.constexpr):
    """Each sends its number to the next one of the team, by pointers of the World's tensors."""
    ctx = st.DeviceContext(team)
    after = (ctx.rank() + 1) % ctx.num_ranks()
    ctx.store(data, ctx.rank() + 100 * STEP, after)
    ctx.signal(flags, STEP, after)
    ctx.wait(flags, STEP)
    tl.store(out, ctx.load(data, ctx.rank()))
    tl.store(out + 1, ctx.num_ranks())


@triton.jit
def meet_often(context, data, slot, ROUNDS: tl.constexpr):
    """Each adds one and meets: nobody finds less than all of the team have added."""
    ctx = st.DeviceContext(context)
    at = slot + tl.program_id(0)
    wrong = 0
    for each in range(ROUNDS):
        ctx.atomic_add(data + at, 1, 0, sem="relaxed")
        ctx.barrier()
        wrong += (ctx.atomic_add(data + at, 0, 0) < (each + 1) * ctx.num_ranks()).to(tl.int32)
        ctx.barrier()
    tl.store(data + 60 + tl.program_id(0), wrong)


@triton.jit
def never(team, flags):
    st.wait(team, flags + 9, 1)


@triton.jit
def locks(team, flags):
    ctx = st.DeviceContext(team)
    while ctx.atomic_cas(flags + 9, 0, 1, ctx.num_ranks() - 1) != 0:
        pass


@triton.jit
def store_to(team, p, rank):
    st.store(team, p, 1, rank)


@triton.jit
def meets(team, flags):
    st.barrier(team)


def fresh():
    """All tensors are zero, and all are here."""
    world.barrier()
    flags.fill_(0)
    data.fill_(0)
    world.barrier()


def sent_around(team, members):
    fresh()
    out = world.zeros(2, dtype=torch.int64)
    for step in (1, 2, 3):
        around[(1,)](team, flags, data, out, step)
        team.barrier()
        number = members.index(me)
        assert out.tolist() == [(number - 1) % len(members) + 100 * step, len(members)]
    assert (team.get_rank(), team.get_num_ranks(), team.get_members()) == (number, len(members), tuple(members))
    assert str(team) == f"Team(rank={number}, num_ranks={len(members)}, members={list(members)})"
    assert team.get_device() == world.get_device() and team.is_open()
    for rank, member in enumerate(members):
        assert team.is_near(rank) == world.is_near(member)
        if team.is_near(rank):
            assert team.as_remote(data, rank).data_ptr() == world.as_remote(data, member).data_ptr()
            continue
        with pytest.raises(symm.FarRankError, match=f"^{re.escape(f'as_remote: {named(team, rank)} is far')}"):
            team.as_remote(data, rank)


def reached(team):
    """Every kind of op leads to the team's rank, whatever number that has in the World."""
    number, count = team.get_rank(), team.get_num_ranks()
    after, before = (number + 1) % count, (number - 1) % count
    p, q, seen, flag, slots = (world.zeros(size, dtype=torch.int32) for size in (B, B, B, 1, 4 * B))
    p.copy_(torch.tensor([100 * number + at for at in range(B)], dtype=torch.int32))
    world.barrier()
    of_before, of_after = ([100 * rank + at for at in range(B)] for rank in (before, after))
    for rank in range(count):
        kernels.reach[(1,)](team, seen, rank)
        assert seen.tolist()[0] == team.is_near(rank)
    kernels.put_signal_and_read[(1,)](team, p, q, flag, seen, after, B)
    assert seen.tolist() == of_before
    kernels.load[(1,)](team, p, seen, after, B)
    assert seen.tolist() == of_after
    kernels.packet_and_read[(1,)](team, slots.view(torch.int64), seen, after, B)
    assert seen.tolist() == [at + 7 for at in range(B)]
    of_the_streams(team, (p, q, flag), (before, after), (of_before, of_after))
    p.fill_(0)
    q.fill_(0)
    seen.fill_(0)
    world.barrier()
    kernels.scalars[(1,)](team, p, q, after)
    kernels.sums[(2,)](team, seen, 0, B)
    team.device_barrier()
    assert seen.tolist() == [2 * count * at * (number == 0) for at in range(B)]
    assert p.tolist()[0] == 5
    p.fill_(1)
    world.barrier()
    kernels.swap[(1,)](team, p, q, after)
    team.barrier()
    assert (p.tolist()[0], q.tolist()[0]) == (2, 1)
    spread(team, p, q, slots)


def of_the_streams(team, tensors, neighbours, wanted):
    """What the host calls in the order of a stream."""
    p, q, flag = tensors
    before, after = neighbours
    of_before, of_after = wanted
    q.fill_(0)
    flag.fill_(0)
    world.barrier()
    team.put(p, q, after)
    team.signal(flag, 3, after)
    team.wait(flag, 3)
    assert q.tolist() == of_before
    for _ in range(3):
        team.device_barrier()
    team.get(p, q, after)
    assert q.tolist() == of_after
    team.signal(flag, 4, before, op="add")
    team.wait(flag, 7)
    if not team.is_near(after):
        with pytest.raises(symm.ArgumentError, match=f"^put: {re.escape(named(team, after))} is far, so both"):
            team.put(p[::2], q[::2], after)
    world.barrier()


def spread(team, p, q, slots):
    """Ranks as blocks, some of them near and some far."""
    number, count = team.get_rank(), team.get_num_ranks()
    p.fill_(0)
    slots.fill_(0)
    world.barrier()
    kernels.to_each[(1,)](team, p, q, slots, 8)
    assert q.tolist()[:8] == [at + 100 * number for at in range(8)]
    mine = [at % count == number for at in range(8)]
    sent = [(at + 100 * rank) * mine[at] for rank in range(count) for at in range(8)]
    assert p.tolist()[: 8 * count] == sent
    came = [rank + 1 for rank in range(count)]
    assert slots.tolist()[:24] == [each * count for each in mine] + [0] * 8 + came + [0] * (8 - count)
    world.barrier()


def met(teams):
    """Kernels of several teams, and of the World, one after the other.
    Teams of the same split meet differently often.
    """
    fresh()
    for slot, team in enumerate(teams):
        meet_often[(2,)](team, data, 4 * slot, 3 + 2 * (me % 2) if team is teams[0] else 5)
        world.device_barrier()
        assert data.tolist()[60:62] == [0, 0]
        team.device_barrier()
        meet_often[(2,)](world, data, 40, 3)
        assert data.tolist()[60:62] == [0, 0]
        fresh()


def refused():
    everyone = list(range(ranks))
    for wrong, what in (
        ([*everyone, ranks], f"team: rank {ranks} out of range"),
        ([-1, *everyone], "team: rank -1 out of range"),
        ([*everyone, 0], "team: .* has a rank twice"),
        ([each for each in everyone if each != me], f"team: .* does not hold this rank, {me}"),
        ([], f"team: .* does not hold this rank, {me}"),
        (3, "team: ranks must be a list of integers, not 3"),
        (["0"], "team: ranks must be a list of integers"),
        # A boolean is no number of a rank, and what has no order gives none to a team.
        ([bool(each) for each in everyone], r"team: ranks must be a list of integers, not \[False"),
        (set(everyone), "team: ranks must be a list of integers, not {"),
        (dict.fromkeys(everyone), "team: ranks must be a list of integers, not {"),
        (bytes(everyone), "team: ranks must be a list of integers, not b"),
    ):
        with pytest.raises((symm.ArgumentError, symm.RankRangeError), match=what):
            world.team(wrong)
    for color in ("red", 1.5, True):
        with pytest.raises(symm.ArgumentError, match="split: color must be an integer or None"):
            world.split(color)
    with pytest.raises(symm.ArgumentError, match="split: key must be an integer or None"):
        world.split(0, key="first")
    if ranks > 1:
        # One rank's mistake is told to all, and nobody waits.
        for wrong in ("red", object()):
            told = "" if me == 1 else "rank 1 of the World: "
            with pytest.raises(symm.ArgumentError, match=f"^split: {told}color must be an integer or None, not "):
                world.split(wrong if me == 1 else 0)
            with pytest.raises(symm.ArgumentError, match=f"^split: {told}key must be an integer or None, not "):
                parity.split(0, key=wrong if me == 1 else None)
        told = "has a rank twice" if me == 0 else "team: rank 0 gave a list that cannot be a team: .* twice"
        with pytest.raises(symm.ArgumentError, match=told):
            world.team([0, 0] if me == 0 else everyone)
        with pytest.raises(symm.MismatchError, match="ranks disagree on a team"):
            world.team(everyone if me == 0 else everyone[::-1])


def says_whose(team):
    """What an error says of a rank has its numbers in the team and in the World."""
    count, mine, last = team.get_num_ranks(), team.get_rank(), team.get_num_ranks() - 1
    everyone, here = list(range(count)), f"{mine} of the team (rank {me} of the World)"
    of_all = ", ".join(map(str, team.get_members()))
    said = f"rank {count} out of range [0, {count}) of the team, whose ranks are {of_all} of the World"
    with pytest.raises(symm.RankRangeError, match=f"^{re.escape(said)}$"):
        team.as_remote(data, count)
    for wrong, kind, text in (
        ([*everyone, count], symm.RankRangeError, f"team: {said}"),
        ([*everyone, mine], symm.ArgumentError, f"] has a rank twice: rank {here}"),
        ([each for each in everyone if each != mine], symm.ArgumentError, f"] does not hold this rank, {here}"),
    ):
        with pytest.raises(kind, match=re.escape(text)):
            team.team(wrong)
    outside, theirs = torch.zeros(1, dtype=torch.int64), team.as_remote(data, last) if team.is_near(last) else None
    of_last, on = f"rank {last} of the team (rank {team.members[last]} of the World)", "symmetric heap of rank"
    cases = [(data, count, symm.RankRangeError, said)]
    cases += [(outside, 0, symm.NotSymmetricError, f"ptr is not on the {on} {here}: it is in p, ")]
    if mine != last and theirs is not None:
        cases += [(theirs, 0, symm.NotSymmetricError, f"{on} {here}: it is on that of {of_last}: give the pointer")]
        for call in (lambda: team.put(data, theirs, 0), lambda: team.as_remote(theirs, 0)):
            with pytest.raises(symm.NotSymmetricError, match=re.escape(f"on the heap of {of_last}")):
                call()
    for argument, rank, kind, text in cases if world.device.type == "cpu" else ():
        with pytest.raises(triton.runtime.errors.InterpreterError) as raised:
            store_to[(1,)](team, argument, rank)
        cause = raised.value.__cause__
        assert type(cause) is kind and text in str(cause), cause
    world.barrier()


def of_the_host(team):
    assert team.split(None) is None
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(symm.ArgumentError, match="a Team cannot be pickled or copied"):
            use(team)
    for wrong in ("0", False):
        with pytest.raises(symm.ArgumentError, match=f"rank must be an integer, not {wrong!r}"):
            team.as_remote(data, wrong)


def named(team, rank):
    return f"rank {rank} of the team (rank {team.get_members()[rank]} of the World)"


def time_out(team, members):
    """The numbers of an error are the team's, and its text says so."""
    if world.device.type != "cpu":
        return
    with pytest.raises(triton.runtime.errors.InterpreterError) as raised, team.timeout(0.3):
        assert team.dtype == torch.uint64 and world.dtype == torch.int64
        never[(1,)](team, flags)
    error = raised.value.__cause__
    if ranks == 1:
        assert isinstance(error, symm.DeadlockError), error
        return
    # Another team may have been first: all ranks wait.
    assert isinstance(error, (symm.WaitTimeoutError, symm.DeadlockError)), error
    if isinstance(error, symm.WaitTimeoutError):
        assert error.rank == members.index(me) and error.flag.startswith("element 9 of World.zeros"), error
        assert f": kernel never: {named(team, error.rank)}, program (0, 0, 0) has waited 0.3 s for " in str(error)
        numbers = [rank for rank in range(team.get_num_ranks()) if rank != error.rank]
        assert len(error.others) == len(numbers), error
        for text, rank in zip(error.others, numbers, strict=True):
            assert text.startswith(named(team, rank)), error


def one_does_not_come(team):
    """The text and the flag name the rank that is missing by both of its numbers, too."""
    last = team.get_num_ranks() - 1
    came = team.as_remote(flags, last)[20:]
    for kernel, flag, text in (
        (locks, f" of {named(team, last)}", ""),
        (meets, f"the barrier's flag of {named(team, last)}", f"{named(team, last)} to come to its barrier number "),
    ):
        fresh()
        flags[9:10].fill_(1)
        world.barrier()
        if team.get_rank() == last:
            while sum(flags[20:].tolist()) < last:
                world.check()
                time.sleep(0.02)
        else:
            with pytest.raises(triton.runtime.errors.InterpreterError) as raised, team.timeout(0.3):
                kernel[(1,)](team, flags)
            error = raised.value.__cause__
            assert isinstance(error, symm.WaitTimeoutError) and error.flag.endswith(flag), error
            assert (text or flag) in str(error), error
            assert f"{named(team, last)} is in no kernel" in error.others, error
            came[team.get_rank() : team.get_rank() + 1].fill_(1)
        world.barrier()


halves = [rank for rank in range(ranks) if rank % 2 == me % 2]
parity = world.split(np.int64(me % 2))
assert parity.dtype == torch.int64
sent_around(parity, halves)
backwards = world.team(range(ranks - 1, -1, -1))
sent_around(backwards, list(range(ranks))[::-1])
by_key = world.split(7, key=-me)
assert by_key.get_members() == backwards.get_members()
met([parity, backwards, by_key])
for each in (parity, backwards):
    reached(each)
inner = parity.split(parity.get_rank() // 2)
assert set(inner.get_members()) <= set(halves)
sent_around(inner, list(inner.get_members()))
alone = world.split(0 if me == 0 else None)
assert (alone is None) == (me != 0)
if alone is not None:
    sent = world.as_remote(data, 0)
    alone.barrier()
world.barrier()
assert world.team([me]).get_num_ranks() == 1
refused()
of_the_host(parity)
says_whose(parity)
# Their memory comes back.
for _ in range(40):
    world.split(0)
world.barrier()
if os.environ.get("TIME_OUT") == "all":
    time_out(parity, halves)
    leave()
if os.environ.get("TIME_OUT") == "but one" and world.device.type == "cpu":
    one_does_not_come(backwards)
    leave()
world.close()
with pytest.raises(symm.ClosedError, match="this Team's World is closed"):
    parity.split(0)
assert str(parity) == f"Team(closed, members={halves})"
