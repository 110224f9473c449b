"""What the hosts say when kernels on GPUs have written records of waits whose time is over, or of accesses that leave
their tensor; here this program writes them."""

import gc
import re

import pytest
import symm
import torch
from symm import _bounds, _timeouts
from symm._timeouts import BROKEN, TOLD, WORD

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
flags = world.zeros(2, 4, dtype=torch.int32)
offset = flags.data_ptr() - world.get_heap_bases().tolist()[me]
_timeouts.learn("11\tring\tk.py\t20\twait ge\n12\tmeet\tk.py\t30\tbarrier\n13\tmail\tk.py\t40\twait_packet\n")
_timeouts.learn("14\tring\tk.py\t50\twait lt unsigned\n15\tspill\tk.py\t60\toutside symm put dst\n")
_timeouts.learn("16\tring\tk.py\t70\twait ge any\n")


def write(timeouts, entries, state=BROKEN):
    """The record of this rank, and its log, as kernels write them: (tag, offset, expected, seen, program) each."""
    record = timeouts.record
    base = record[WORD["base"]]
    for number, (tag, at, *rest) in enumerate(entries):
        words = [tag, base + at, *rest]
        if number == 0:
            places = [WORD[name] for name in ("tag", "address", "expected", "seen", "program")]
            for place, word in zip(places, words, strict=True):
                record[place] = word
        start = WORD["log"] + number * WORD["entry_words"]
        for place, word in enumerate([1, *words]):
            record[start + place] = word
    record[WORD["state"]] = state


def raised(where, kind=symm.WaitTimeoutError):
    with pytest.raises(kind) as error:
        where.check()
    with pytest.raises(kind, match=re.escape(str(error.value).splitlines()[0])):
        world.barrier()
    return error.value


def by_a_team():
    """The team's ranks have other numbers; the World says it, too."""
    team = world.team(range(ranks - 1, -1, -1))
    world._rank.barrier("")
    if team.get_rank() == 0:
        write(team._timeouts, [(13, offset - team._offset, 4, -3, 0)])
        team._timeouts.state.value = BROKEN
        error = raised(world)
        assert (error.rank, error.flag.split(" (made")[0]) == (
            0,
            "element 0 of World.zeros: torch.int32, (2, 4)",
        ), error
        assert "a packet of epoch 4 at element 0 of World.zeros" in error.message and "its epoch is -3" in error.message
        who = [f"rank {rank} of the team (rank {ranks - 1 - rank} of the World)" for rank in range(ranks)]
        assert error.message.startswith(f"kernel mail: {who[0]}, program (0, 0, 0) has waited "), error
        assert error.others == tuple(f"{each} is not waiting in a watched kernel" for each in who[1:]), error
    world._rank.barrier("")


def outside(first, bounds, tensor, place):
    """A team's kernel has left a tensor, or the heap; offsets are from the start of the World's heap."""
    team = world.team(range(ranks))
    world._rank.barrier("")
    if me == 0:
        mine = team._timeouts.record[WORD["base"]]
        start, end = (mine - team._offset + end for end in bounds)
        write(team._timeouts, [(15, first - team._offset, start, end, 3)])
        team._timeouts.state.value = BROKEN
        error = raised(world, symm.BoundsError)
        told = error.file, error.line, error.kernel, error.rank, error.program
        assert told == ("k.py", 60, "spill", 0, (3, 0, 0)), error
        assert error.tensor.split(" (made")[0] == tensor and error.offset == first - bounds[0], error
        assert f"program (3, 0, 0): symm put: dst is outside of {tensor}" in str(error) and place in str(error), error
        assert isinstance(error, IndexError) and error.__reduce__()[1] == error.args and len(error.args) == 8
    world._rank.barrier("")


assert world.check() is None
# What kernels are given to know: the heap, and its tensors.
count, *ends = _bounds.words_of(world)
mine = world.get_heap_bases().tolist()[me]
stretches = list(zip(ends[::2], ends[1::2], strict=True))
assert len(stretches) == count and stretches[0] == (mine + symm._symm.RESERVED_BYTES, mine + world.heap_size)
assert (mine + offset, mine + offset + 32) in stretches[1:]
zeros = "World.zeros: torch.int32, (2, 4)"
outside(offset + 32, (offset, offset + 32), zeros, "at byte 32, and the tensor has 32 bytes")
gc.collect()
outside(offset - 8, (offset, offset + 32), zeros, "8 bytes before its first")
gc.collect()
outside(16 << 20, (2 << 20, world.heap_size), "the heap", "at byte ")
# Their errors hold the teams, of which the World would tell again.
gc.collect()
by_a_team()
if me == 0:
    # The barrier's words of program 1: an epoch, then a flag of each rank.
    entries = [(11, offset + 24, 3, -1, 5 | 6 << 32 | 7 << 48), (12, 8 * (ranks + 1 + ranks), 9, 8, 1)]
    write(world._timeouts, entries)
if me == 1:
    # The last one waits for no flag: there is no address.
    write(world._timeouts, [(14, offset, 2, 2, 2), (99, 8, 1, 0, 3), (16, -1 - mine, -1, -1, 4)], state=0)
world._rank.barrier("")
if me == 0:
    world._timeouts.state.value = BROKEN
    error = raised(world)
    told = [
        f"rank 0, program (1, 0, 0), k.py:30: kernel meet: rank {ranks - 1} to come to its barrier number 9: it has"
        " come to 8"
    ]
    if ranks > 1:
        told.append("rank 1, program (2, 0, 0), k.py:50: kernel ring: element 0 of World.zeros")
        unknown = "heap+0x8 to satisfy a comparison with 1: it is 0"
        told.append(f"rank 1, program (3, 0, 0), kernel of another program: {unknown}")
        nothing = "one of several flags, of which its mask leaves out all"
        told.append(f"rank 1, program (4, 0, 0), k.py:70: kernel ring: {nothing}")
    told += [f"rank {rank} is not waiting in a watched kernel" for rank in range(2, ranks)]
    assert len(error.others) == len(told), error
    assert all(other.startswith(what) for other, what in zip(error.others, told, strict=True)), error.others
world._rank.barrier("")
if me > 0:
    # What its kernel's wait would have told the host.
    world._timeouts.state.value = world._timeouts.record[WORD["state"]]
    assert world._timeouts.state.value == TOLD + 0
    error = raised(world)
assert str(error).startswith(
    "k.py:20: kernel ring: rank 0, program (5, 6, 7) has waited too long for element 6 of "
)
assert (error.rank, error.program, error.kernel, error.expected, error.seen) == (0, (5, 6, 7), "ring", 3, -1)
assert (error.file, error.line) == ("k.py", 20) and error.flag.startswith(
    "element 6 of World.zeros: torch.int32, (2, 4)"
)
assert isinstance(error, TimeoutError) and "This World's kernels no longer wait" in str(error)
world._rank.barrier("")
# Who has been told may leave.
world.close()
