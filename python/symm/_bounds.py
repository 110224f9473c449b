"""Bounds checks of compiled kernels: the list of a rank's tensors on its device, and what is told of an access that
leaves them.

The compiler (symm-guard-accesses) has a kernel look up its arguments in that list, leave out what is outside of their
tensors, and write the record that waits write when their time is over.
"""

from . import _open
from ._memory import torch
from ._symm import DEADLINE_RECORD, RESERVED_BYTES

# How what the compiler says of such an access begins.
OUTSIDE = "outside "


class Asked:
    """Whether a kernel that looks at bounds has been compiled or loaded."""

    yet = False


def require():
    """From now on devices know the tensors of all Worlds."""
    if not Asked.yet:
        Asked.yet = True
        for world in _open.worlds:
            tell(world)


def tell(world):
    """Has a World's device know its tensors, if a kernel may ask."""
    if not Asked.yet or world.device.type == "cpu" or torch().cuda.is_current_stream_capturing():
        return
    # Kernels under way may read the old list until they are done.
    words = torch().tensor(words_of(world), dtype=torch().int64, device=world.device)
    for each in (world, *(team for team in _open.teams if team.world is world)):
        each._timeouts.record[DEADLINE_RECORD["tensors"]] = words.data_ptr()
    world._synchronize()
    world._tensors = words


def words_of(world):
    """The list: how many stretches, then the ends of each; the heap is the first."""
    allocated = ((offset, offset + made[0]) for offset, made in tuple(world._made_at.items()))
    stretches = [(RESERVED_BYTES, world.heap_size), *allocated]
    return [len(stretches), *(world._mine + end for ends in stretches for end in ends)]


def described(world, rank, words, what):
    """The arguments of the error that a record tells of; `what` is what the compiler said of the access."""
    kernel, file, line, access = what
    op, operand = access.removeprefix(OUTSIDE).rsplit(" ", 1)
    address, start, end = (words[DEADLINE_RECORD[name]] for name in ("address", "expected", "seen"))
    offset, program = address - start, program_of(words[DEADLINE_RECORD["program"]])
    tensor = world.tensor_at(start - words[DEADLINE_RECORD["base"]], end - start)
    place = f"{-offset} bytes before its first" if offset < 0 else f"at byte {offset}"
    message = f"kernel {kernel}: rank {rank}, program {program}: {op}: {operand} is outside of {tensor}: it is "
    message += f"{place}, and the tensor has {end - start} bytes. Is a mask missing, or wrong? The access was left "
    message += "out, and what this World's kernels have written is no result: end the run"
    return message, file, line, kernel, rank, program, tensor, offset


def program_of(packed):
    """The numbers of a program."""
    return packed & 0xFFFF_FFFF, packed >> 32 & 0xFFFF, packed >> 48 & 0xFFFF
