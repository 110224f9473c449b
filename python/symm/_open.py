"""The runs that this process is in."""

import weakref

from ._memory import Memory, text_of, torch
from ._symm import TABLE_HEADER_WORDS, TRACE_OFFSET, decline_run, join_run

# How a World joins; symm.check has a way of its own.
join, decline = join_run, decline_run
# In the order in which all ranks have joined them.
worlds = []
# Those that this process has left, as long as it has them: tensors on their heaps stay valid.
closed = weakref.WeakSet()
# Some of their ranks each.
teams = weakref.WeakSet()


def current(table):
    """The World or Team that a kernel's context table is of, if it is of this process's."""
    bases = list(table[TABLE_HEADER_WORDS:])
    return next((world for world in (*worlds, *teams) if world.bases == bases), None)


def num_ranks(first_base):
    """How many ranks there are in the World or Team of which rank 0's base is an address."""
    world = next((world for world in (*worlds, *teams) if world.bases[0] == first_base), None)
    if world is None:
        wanted = "what get_heap_bases() returns, of a run that is open"
        raise TypeError(f"heap_bases must be {wanted}, and not that of get_device_context()")
    return world.get_num_ranks()


OF_A_CLOSED = "on the heap of a World that is closed"
# Bits of an offset in a heap; above them is the number of the World, where there are several.
OFFSET_BITS = 48


def all_from(world):
    """The open Worlds, a given one first."""
    return [world, *(each for each in worlds if each is not world)]


def place_of(address, runs):
    """The rank in whose heap an address is, -1 for none, and the bytes from that heap's start, with the World's number
    among some above them.
    """
    for number, world in enumerate(runs):
        for rank, base in enumerate(world.bases):
            if base <= address < base + world.heap_size:
                return rank, int(address) - base + (number << OFFSET_BITS)
    return -1, int(address)


def flag_of(place, runs):
    """What lies there, for messages."""
    return runs[place >> OFFSET_BITS].flag_at(place & (1 << OFFSET_BITS) - 1)


def is_on_a_heap(tensor):
    """Whether a tensor is on a heap of this process, or of the one that it was forked from."""
    address = address_of(tensor)
    return any(base <= address < base + world.heap_size for world in worlds for base in world.bases)


def address_of(tensor):
    """Where a tensor lies: torch gives none of one without elements, and nothing has one that is not strided."""
    try:
        return tensor.data_ptr() if tensor.numel() else tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def lies(address, world, rank):
    """What lies at an address that is not on a World's or a Team's own heap, for messages; "" where that is unknown."""
    if address == 0:
        return "it is null, as the pointer of a tensor without elements is"
    home, members = world._place()
    for other in worlds:
        whose, offset = place_of(address, [other])
        if other is home and whose == home.get_rank():
            return f"it is on that of this rank, {rank_text(world, world.get_rank()).removeprefix('rank ')}"
        if whose >= 0 and other is home:
            whose = rank_text(world, members.index(whose)) if whose in members else f"rank {whose} of the World"
            mend = f"give the pointer of {rank_text(world, rank)}, and the rank that is meant"
            return f"it is on that of {whose}: {mend}"
        if whose >= 0:
            return f"it is {other.flag_at(offset)}, on another World's heap"
    return f"it is {OF_A_CLOSED}" if _was_on_a_heap(address) else ""


def _was_on_a_heap(address):
    return place_of(address, list(closed))[0] >= 0


def shown(value, world):
    """What the host API was given where it wants a tensor on a World's or a Team's heap, for messages."""
    if not isinstance(value, torch().Tensor):
        return text_of(value)
    kind = f"a tensor of {value.dtype}, {tuple(value.shape)}, "
    whose, _ = place_of(address_of(value), worlds)
    if whose < 0:
        return f"{kind}{OF_A_CLOSED if _was_on_a_heap(address_of(value)) else f'on no heap ({value.device})'}"
    home, members = world._place()
    whose, _ = place_of(address_of(value), [home])
    if whose < 0:
        return f"{kind}on another World's heap"
    of = "" if home is world else " of the World"
    return f"{kind}on the heap of {rank_text(world, members.index(whose)) if whose in members else f'rank {whose}{of}'}"


def rank_text(world, rank):
    """A rank of a World, or of a Team with its number in the World, too, for messages."""
    members = getattr(world, "members", None)
    return f"rank {rank}" if members is None else f"rank {rank} of the team (rank {members[rank]} of the World)"


def range_text(world, rank, count):
    """A rank that a World or a Team does not have, for messages."""
    members = getattr(world, "members", None)
    of = "" if members is None else f" of the team, whose ranks are {', '.join(map(str, members))} of the World"
    return f"rank {rank} out of range [0, {count}){of}"


def record_into(world, address):
    """Has compiled kernels of a World and its teams record what they do at an address; 0 turns recording off."""
    world.records_at = address
    for each in (world, *(team for team in tuple(teams) if team.world is world)):
        point(each, address)


def point(each, address):
    """Tells kernels of a World or Team on a GPU where to record what they do."""
    word = each.bases[each.get_rank()] + TRACE_OFFSET
    Memory(word, 8, each._rank.hold()).tensor(each.device, torch().int64, (1,)).fill_(address)
