"""What ranks that make teams together say to each other, and whether they agree.

All ranks know all that was said before any of them raises an error, so that they raise it alike and stay in step.
"""

from ._device import place
from ._memory import integer, text_of
from .errors import ArgumentError, MismatchError


def told(world, call, value):
    """What each rank of the World says in this call, and where it calls from."""
    mine = value, place()
    return [world._sent(mine, rank, call) for rank in range(world.get_num_ranks())]


def check_lists(said):
    """An error if a rank lists another one in its team that gives another list: `said` is what each rank gives, by
    numbers of the World, and where.
    """
    if all(said[rank][0] == ranks for ranks, _ in said for rank in ranks):
        return
    raise MismatchError(
        "World.team: ranks disagree on a team: all of its ranks give the same list, in the same order; by numbers of "
        f"the World:{lines((listed(ranks), where) for ranks, where in said)}\nNo team was made: the World stays usable"
    )


def check_parents(call, said):
    """An error if a rank with a color splits a team that one of the team's other ranks does not split: `said` is what
    each rank splits, its color, and where.
    """
    if all(said[rank][0] == parent for parent, color, _ in said if color is not None for rank in parent):
        return
    texts = ((f"ranks {listed(parent)} of the World, color {color}", where) for parent, color, where in said)
    raise MismatchError(
        f"{call}: ranks disagree on what is split: all ranks of a team split it, and a rank without a team splits the "
        f"World, with None:{lines(texts)}\nNo team was made: the World stays usable"
    )


def grouped(world, members, number, color, key, call="World.split"):
    """The ranks of the World in groups, by what all of them say; and the group of this one.

    This one is number `number` of `members`. Who gives no color is in a group of its own. What one of them gives wrong
    is an error of all, so that nobody waits for it.
    """
    asked = {"color": color, "key": key}
    wrong = [name for name, value in asked.items() if value is not None and integer(value) is None]
    refused = "".join(f"{name} must be an integer or None, not {text_of(asked[name])}" for name in wrong[:1])
    color, order = integer(color), number if key is None else integer(key)
    said = told(world, call, (members, color, order, number, refused))
    if refused:
        raise ArgumentError(f"split: {refused}")
    for rank, ((*_, theirs), where) in enumerate(said):
        if theirs:
            raise ArgumentError(f"split: rank {rank} of the World: {theirs} (at {where})")
    check_parents(call, [(parent, each, where) for (parent, each, *_), where in said])
    mine, groups = None, {}
    for rank, ((parent, each, *order, _), _) in enumerate(said):
        name = parent, each, rank if each is None else None
        groups.setdefault(name, []).append((*order, rank))
        mine = name if rank == world.get_rank() else mine
    return mine, {name: tuple(rank for *_, rank in sorted(ranks)) for name, ranks in groups.items()}


def lines(texts):
    """A line for each rank: what it said, and where."""
    return "".join(f"\n  rank {rank}: {text} at {where}" for rank, (text, where) in enumerate(texts))


def listed(ranks):
    return f"[{', '.join(map(str, ranks))}]"
