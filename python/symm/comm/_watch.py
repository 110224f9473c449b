"""The deadline of a transport's calls, and how its ranks recover."""

import collections
import functools

from ..errors import CallMismatchError
from ._deadline import Deadline
from ._launch import StreamOrder
from ._recovery import Recovery


class Watch:
    """What is watched and recovers together: a transport, or the two of a mesh and the mesh itself."""

    def __init__(self, world, memory, seconds):
        self.memories, self.joined = [memory], None
        # What ranks have called differently, in the debug mode.
        self.mismatch = None
        # Of each channel.
        self.streams = collections.defaultdict(functools.partial(StreamOrder, world.device))
        members, me = tuple(range(world.get_num_ranks())), world.get_rank()
        locate = functools.partial(locate_in, self.memories)
        self.deadline = Deadline(world, members, me, memory.records[0], memory.heap.data_ptr(), locate, seconds,
                                 "transport")  # fmt: skip
        reset = functools.partial(reset_all, self.memories, self.streams)
        # All ranks are members, so that nobody asks for their numbers: any memory does.
        self.recovery = Recovery(self.deadline, memory.records[1], memory.records[1], memory.recovery_flags(), reset)

    def join(self, other):
        """Watches what another one has watched, too."""
        one, other = self.whole(), other.whole()
        if other is not one:
            one.memories += other.memories
            other.joined = one

    def mismatched(self, message):
        """The error of ranks that call different things; later calls raise it too, until all have recovered."""
        self.mismatch = message
        return CallMismatchError(message)

    def check(self):
        """Raises what has gone wrong so far, without waiting for the device while all is well."""
        self.deadline.check()
        if self.mismatch is not None:
            raise CallMismatchError(self.mismatch)

    def recover(self):
        self.recovery.run()
        self.mismatch = None

    def whole(self):
        """What watches now."""
        return self if self.joined is None else self.joined.whole()


def locate_in(memories, offset):
    """What lies this many bytes after the first of several memories, of what waits wait for; None if it is nothing."""
    first = memories[0].heap.data_ptr()
    found = (memory.locate(offset - (memory.heap.data_ptr() - first)) for memory in memories)
    return next((place for place in found if place is not None), None)


def reset_all(memories, streams):
    """Restores the initial state; nobody waits."""
    for memory in memories:
        memory.reset()
    streams.clear()
