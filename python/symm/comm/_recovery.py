"""How ranks make a broken communicator good again, together."""

from .._memory import torch
from ._deadline import Deadline
from ._launch import Launch, current_stream
from .kernels_exchange import assemble


class Recovery:
    """The way back of one communicator, in two stages: all have stopped; all have reset what is theirs.

    The numbers of the stages only grow, so that these flags need no reset. A rank that gives up in a stage goes on in it
    when it is called again: after the first one others may already have sent what a second reset would lose.
    """

    def __init__(self, calls):
        world, geometry = calls.world, calls.geometry
        record, self.members = geometry.record("recover")
        self.members.copy_(calls.members)
        members, first = tuple(calls.members.tolist()), geometry.memory.data_ptr()
        seconds = calls.deadline.seconds
        self.deadline = Deadline(world, members, calls.rank, record, first, geometry.locate, seconds)
        types = torch().int64, torch().int32, torch().int64
        constants = {"WORLD": calls.size, "SUBSET": calls.subset, "WATCH": self.deadline.tag("recover")}
        self.launch, self.calls, self.stage = Launch(assemble, 1, 1, types, constants), calls, 0

    def run(self):
        calls = self.calls
        calls.world._synchronize()
        self.deadline.reset()
        if self.stage % 2 == 0:
            self._assemble()
            calls.geometry.reset()
            calls.deadline.reset()
            calls.stream = None
        self._assemble()

    def _assemble(self):
        calls = self.calls
        if calls.size > 1:
            stream, flags = current_stream(calls.device), calls.geometry.recovery_flags()
            table, members = calls.table.data_ptr(), self.members.data_ptr()
            self.launch.launch(stream, table, members, flags, self.stage + 1, calls.rank, calls.rank_here)
            calls.world._synchronize()
            self.deadline.check()
        self.stage += 1
