"""Where the ranks of runs on the CPU stand, each in its heap, for all ranks to see."""

import ctypes
import random

from ._open import worlds
from ._symm import TABLE_OFFSET, full_fence

# A Standing lies where a heap on a GPU has its table, and one on the CPU has nothing; these are the bytes of its texts.
TEXT_BYTES, DOES_BYTES = 1024, 512


class Standing(ctypes.Structure):
    """Where a rank stands. Its process may be in several runs, and says in all of them in which it waits."""

    _fields_ = (
        # Whether it waits in a kernel; is in a call where all ranks meet; has left this run.
        ("waits", ctypes.c_int64),
        ("meets", ctypes.c_int64),
        ("left", ctypes.c_int64),
        # Whether it has been found to wait forever: it stands still then.
        ("stuck", ctypes.c_int64),
        # How often it has begun to wait, and to how many calls it has come where all ranks of this run meet.
        ("begun", ctypes.c_int64),
        ("meetings", ctypes.c_int64),
        # The key of the run in which it waits or meets, and the number of the call there where it meets.
        ("where", ctypes.c_int64),
        ("number", ctypes.c_int64),
        # How often it has looked in vain.
        ("looks", ctypes.c_int64),
        # Numbers that nobody else has: of this run, which rank 0 says, and of the process.
        ("key", ctypes.c_int64),
        ("process", ctypes.c_int64),
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

    def describe(self, who):
        """What this rank does, for messages; `who` names it."""
        if self.waits or self.meets or self.left:
            return f"{who}: {self.text}"
        return f"{who} {self.does.decode(errors='replace') or 'is in no kernel'}"

    def do(self, text):
        """What the rank does while it does not wait; nothing where it is in no kernel."""
        self.does = text.encode()[: DOES_BYTES - 1]

    def state(self):
        """What is the same as long as the rank waits for the same; and last how often it has looked."""
        return self.waits, self.meets, self.left, self.begun, self.meetings, self.where, self.number, self.looks

    def say(self, text):
        if not self.stuck:
            self.bytes = text.encode()[: TEXT_BYTES - 1]

    def begin(self, text, where, number):
        """The rank waits in the run with a key: in a kernel, or in the call of a number, from 1, where all meet."""
        self.end()
        self.say(text)
        self.begun += 1
        self.where, self.number = where, number
        full_fence()
        if number:
            self.meets = 1
        else:
            self.waits = 1

    def end(self):
        if not self.stuck:
            self.waits = self.meets = 0
            full_fence()

    def leave(self, text):
        """The rank leaves this run, for good: the heap may be gone then."""
        self.left = ctypes.c_int64.from_address(self.may_leave(text)).value = 1

    def may_leave(self, text):
        """The rank is to leave; returns the address of the word that then becomes 1."""
        self.end()
        self.say(text)
        self.meetings += 1
        full_fence()
        return ctypes.addressof(self) + Standing.left.offset


def begin(world):
    """This process has joined a run."""
    standing = world._standing()
    if standing is None:
        return
    standing.process = number_of_process()
    if world.get_rank() == 0:
        standing.key = _number()


def number_of_process():
    if not hasattr(number_of_process, "number"):
        number_of_process.number = _number()
    return number_of_process.number


def _number():
    return random.SystemRandom().randrange(1, 2**63)


def on_the_cpu():
    """The runs on the CPU that this process is in."""
    return [world for world in tuple(worlds) if world.device.type == "cpu" and world.is_open()]


def standings(world):
    """Those of all ranks."""
    return [Standing.of(base) for base in world.bases]


def key_of(world):
    """The number of a run; 0 as long as rank 0 has not said it."""
    return Standing.of(world.bases[0]).key
