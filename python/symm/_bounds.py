"""Bounds checks of compiled kernels: the list of a rank's tensors on its device, and the report of an
access outside of them.

The compiler (symm-guard-accesses) has a kernel look up its arguments in that list, leave out what is outside of their
tensors, and write the record that waits write when their time is over.
"""

from . import _open
from ._memory import torch
from ._open import rank_text
from ._symm import DEADLINE_NUMBERS, DEADLINE_RECORD, RESERVED_BYTES

# How what the compiler says of an access begins that leaves its tensor, and of one through a far rank's as_remote.
OUTSIDE, FAR = "outside ", "far "


LEFT_OUT = "The access was skipped, and what this World's kernels have written is not valid: end the run"


def is_of(what):
    """Whether what the compiler says is of an access."""
    return what.startswith((OUTSIDE, FAR))


class Asked:
    """Whether a kernel that looks at bounds has been compiled or loaded."""

    yet = False


def require():
    """Makes devices know the tensors of all Worlds from now on."""
    if not Asked.yet:
        Asked.yet = True
        for world in _open.worlds:
            tell(world)


def tell(world):
    """Writes the list of a World's tensors to its device, if a kernel may look there."""
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
    """The arguments of the error in a record; `what` is what the compiler said of the access."""
    kernel, file, line, access = what
    is_far = access.startswith(FAR)
    op, operand = access.removeprefix(FAR if is_far else OUTSIDE).rsplit(" ", 1)
    address, start, end = (words[DEADLINE_RECORD[name]] for name in ("address", "expected", "seen"))
    program, base = program_of(words[DEADLINE_RECORD["program"]]), words[DEADLINE_RECORD["base"]]
    who = f"kernel {kernel}: {rank_text(world, rank)}, program {program}"
    if is_far:
        tensor = world.flag_at(address - base)
        peer = "another rank" if start == DEADLINE_NUMBERS["nowhere"] else rank_text(world, start)
        message = f"{who}: {op}: {operand} leads to {tensor} of {peer}"
        message += f", which is far (N4): its heap is not mapped, so use symm's ops, which take the rank. {LEFT_OUT}"
        return message, file, line, kernel, rank, program, tensor, address - base
    offset = address - start
    tensor = world.tensor_at(start - base, end - start)
    place = f"{-offset} bytes before its first" if offset < 0 else f"at byte {offset}"
    message = f"{who}: {op}: {operand} is outside of {tensor}: it is "
    message += f"{place}, and the tensor has {end - start} bytes. Is a mask missing, or wrong? {LEFT_OUT}"
    return message, file, line, kernel, rank, program, tensor, offset


def program_of(packed):
    """The numbers of a program."""
    return packed & 0xFFFF_FFFF, packed >> 32 & 0xFFFF, packed >> 48 & 0xFFFF
