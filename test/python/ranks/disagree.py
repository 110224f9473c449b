"""Ranks that do not agree on their teams: all get an error that says who gave what, and the World stays usable."""

import pytest
import symm

world = symm.init(heap_size=64 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
everyone = list(range(ranks))


def given(lists):
    """Each rank gives one of these lists."""
    with pytest.raises(symm.MismatchError, match="^World.team: ranks disagree on a team") as raised:
        world.team(lists[me])
    for rank, each in enumerate(lists):
        assert f"\n  rank {rank}: {each} at {__file__}:" in str(raised.value), raised.value
    world.barrier()


def split(parents, colors):
    """Rank 0 splits the World, the others a team that all are in, with these colors."""
    with pytest.raises(symm.MismatchError, match="^World.split: ranks disagree on what is split") as raised:
        parents[me].split(colors[me])
    for rank, color in enumerate(colors):
        members = everyone[::-1] if rank else everyone
        text = f"\n  rank {rank}: ranks {members} of the World, color {color} at {__file__}:"
        assert text in str(raised.value), raised.value
    world.barrier()


if ranks > 1:
    # Another order; other ranks.
    given([everyone, *[everyone[::-1]] * (ranks - 1)])
    given([everyone, *[[rank] for rank in everyone[1:]]])
    # One splits the World, the others a team that it is in.
    backwards = world.team(everyone[::-1])
    split([world, *[backwards] * (ranks - 1)], [0] * ranks)
    split([world, *[backwards] * (ranks - 1)], [None, *[0] * (ranks - 1)])
if ranks > 3:
    # Two agree, and are told that others do not.
    given([[0, 1], [0, 1], [2, 3], [3, 2], *[[rank] for rank in everyone[4:]]])
# Who splits no team, and who splits alone, disturbs nobody.
alone = world.split(0 if me == 0 else None)
inner = (alone or world).split(0 if me == 0 else None)
assert (inner is None) == (me != 0)
assert world.team(everyone).get_num_ranks() == ranks
