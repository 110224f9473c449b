"""The runs that this process is in."""

import ctypes
import weakref

from ._memory import Memory, torch
from ._symm import TABLE_HEADER_WORDS, TABLE_OFFSET, TRACE_OFFSET, decline_run, full_fence, join_run
from .errors import SymmError

# How a World joins; symm.check has a way of its own.
join, decline = join_run, decline_run
# In the order in which all ranks have joined them.
worlds = []
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
        raise SymmError("these are not the heap bases of a run: call symm.init, or symm.iris.iris, first")
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


def record_into(world, address):
    """Has compiled kernels of a World and its teams record what they do at an address; 0 turns recording off."""
    world.records_at = address
    for each in (world, *(team for team in tuple(teams) if team.world is world)):
        point(each, address)


def point(each, address):
    """Tells kernels of a World or Team on a GPU where to record what they do."""
    word = each.bases[each.get_rank()] + TRACE_OFFSET
    Memory(word, 8, each.rank.hold()).tensor(each.device, torch().int64, (1,)).fill_(address)


# A Standing lies where a heap on a GPU has its table, and one on the CPU has nothing; these are the bytes of its texts.
TEXT_BYTES, DOES_BYTES = 1024, 512


class Standing(ctypes.Structure):
    """Where a rank of a run on the CPU stands, in its heap, for all ranks to see."""

    _fields_ = (
        ("waits", ctypes.c_int64),
        ("meets", ctypes.c_int64),
        ("begun", ctypes.c_int64),
        ("meetings", ctypes.c_int64),
        ("looks", ctypes.c_int64),
        ("bytes", ctypes.c_char * TEXT_BYTES),
        ("does", ctypes.c_char * DOES_BYTES),
    )

    @staticmethod
    def of(base):
        """That of the rank whose heap begins at an address."""
        return Standing.from_address(base + TABLE_OFFSET)

    @property
    def text(self):
        return self.bytes.decode(errors="replace")

    def describe(self, rank):
        """What the rank of this number does, for messages."""
        if self.waits or self.meets:
            return f"rank {rank}: {self.text}"
        return f"rank {rank} {self.does.decode(errors='replace') or 'is in no kernel'}"

    def do(self, text):
        """What the rank does while it does not wait; nothing where it is in no kernel."""
        self.does = text.encode()[: DOES_BYTES - 1]

    def state(self):
        """What is the same as long as the rank waits for the same; and last how often it has looked."""
        return self.waits, self.meets, self.begun, self.meetings, self.looks

    def begin(self, text):
        """The rank waits in a kernel."""
        self.bytes = text.encode()[: TEXT_BYTES - 1]
        self.begun += 1
        full_fence()
        self.waits = 1

    def end(self):
        self.waits = 0
        full_fence()

    def meet(self, text):
        """The rank is in a call where all ranks meet."""
        self.may_meet(text)
        full_fence()
        self.meets = 1

    def may_meet(self, text):
        """The rank is to be in such a call; returns the address of the word that then becomes 1."""
        self.bytes = text.encode()[: TEXT_BYTES - 1]
        self.meetings += 1
        return ctypes.addressof(self) + Standing.meets.offset

    def part(self):
        self.meets = 0
        full_fence()
