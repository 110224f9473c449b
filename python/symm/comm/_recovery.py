"""How ranks make a broken communicator or transport good again, together."""

from .._memory import torch
from ..errors import ArgumentError
from ._deadline import Deadline
from ._launch import Launch, called, current_stream
from .kernels_exchange import assemble


class Recovery:
    """The way back of what a deadline watches, in two stages: all have stopped; all have reset what is theirs.

    The numbers of the stages only grow, so that these flags need no reset. A rank that gives up in a stage goes on in
    it when it is called again: after the first one others may already have sent what a second reset would lose.

    `record` is on the heap, as that of `watched` is; `flags` is the address of a line for each member. `members`
    (int32, on the device) has their numbers in the World, which are others than those here in a `subset`. `reset` makes
    all as it was when it was new.
    """

    def __init__(self, watched, record, members, flags, reset, subset=False):
        world, size = watched.world, len(watched.members)
        self.watched, self.members, self.flags, self.reset = watched, members, flags, reset
        self.deadline = Deadline(world, watched.members, watched.me, record, watched.first, watched.locate,
                                 watched.seconds, watched.whose, watched.numbers)  # fmt: skip
        types = torch().int64, torch().int64, torch().int32, torch().int64
        constants = {"WORLD": size, "SUBSET": subset, "WATCH": self.deadline.tag("recover")}
        self.launch, self.table, self.stage = Launch(assemble, 1, 1, types, constants), world.get_device_context(), 0

    def run(self):
        world = self.watched.world
        if world.device.type != "cpu" and torch().cuda.is_current_stream_capturing():
            raise ArgumentError("recover waits on the host: call it outside of a capture")
        world._synchronize()
        self.deadline.reset()
        if self.stage % 2 == 0:
            self._assemble()
            self.reset()
            self.watched.reset()
        self._assemble()

    def _assemble(self):
        world, watched = self.watched.world, self.watched
        if len(watched.members) > 1:
            addresses = self.table, self.deadline.memory, self.members
            stream, addresses = current_stream(world.device), (each.data_ptr() for each in addresses)
            with called("Communicator.recover" if watched.whose == "communicator" else "recover", world.device):
                self.launch.launch(stream, *addresses, self.flags, self.stage + 1, watched.me, world.get_rank())
            world._synchronize()
            self.deadline.check()
        self.stage += 1


def recovery_of(calls):
    """The way back of a communicator's calls."""
    record, members = calls.geometry.record("recover")
    members.copy_(calls.members)

    def reset():
        calls.geometry.reset()
        calls.order.last = None

    return Recovery(calls.deadline, record, members, calls.geometry.recovery_flags(), reset, calls.subset)
