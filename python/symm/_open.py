"""The runs that this process is in."""

from ._symm import TABLE_HEADER_WORDS
from .errors import SymmError

# In the order in which all ranks have joined them.
worlds = []


def current(table):
    """The World that a kernel's context table is of, if it is of this process's."""
    bases = list(table[TABLE_HEADER_WORDS:])
    return next((world for world in worlds if world.bases == bases), None)


def num_ranks(first_base):
    """How many ranks there are in the World of which rank 0's heap is at an address."""
    world = next((world for world in worlds if world.bases[0] == first_base), None)
    if world is None:
        raise SymmError("these are no heap bases of a run: call symm.init, or symm.iris.iris, first")
    return world.get_num_ranks()


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
