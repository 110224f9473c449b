"""From a collective and its tensors to launches of kernels, kept for the next call of the kind."""

import math

from .._memory import torch
from . import _plan
from ._launch import Launch, current_stream
from ._types import reduction, words
from .kernels_exchange import exchange, meet

# Which ranks send to which: a kernel's SHAPE, and its lane.
SHAPES = {
    "all_reduce": "all", "reduce_scatter": "all", "all_gather": "all", "all_to_all": "all",
    "broadcast": "from root", "scatter": "from root", "reduce": "to root", "gather": "to root",
}  # fmt: skip
# Whether a rank's message for each peer is another one, and whether those that arrive lie one after the other.
PARTED = ("reduce_scatter", "all_to_all", "scatter")
JOINED = ("all_gather", "all_to_all", "gather")
# How many calls, and how many kernels, are kept.
MOST_KEPT = 4096


class Calls:
    """The calls of one communicator that have been made so far."""

    def __init__(self, world, geometry, rank, members):
        self.world, self.geometry, self.rank, self.size = world, geometry, rank, len(members)
        self.device = world.device
        self.table = world.get_device_context()
        self.members = torch().tensor(members, dtype=torch().int32, device=world.device)
        self.subset = members != tuple(range(world.get_num_ranks()))
        self.made, self.launches = {}, {}
        self.stream = None

    def run(self, call, op, source, target, count, root=0):
        """Does a collective: `count` elements from each rank to each."""
        here, there = source.data_ptr(), target.data_ptr()
        key = call, op, source.dtype, count, (here | there) & 15
        made = self.made.get(key)
        if made is None:
            if len(self.made) >= MOST_KEPT:
                self.made.clear()
            made = self.made[key] = self._make(*key)
        stream = current_stream(self.device)
        if stream != self.stream:
            self._change(stream)
        launch, before, after = made
        launch.launch(stream, *before, here, there, *after, root)

    def meet(self):
        key = "meet"
        if key not in self.launches:
            types = (torch().int64, torch().int32, torch().int64, torch().int64)
            self.launches[key] = Launch(meet, 1, 1, types, {"WORLD": self.size, "SUBSET": self.subset})
        stream = current_stream(self.device)
        if stream != self.stream:
            self._change(stream)
        self.launches[key].launch(stream, *self._state("all"), self.rank)

    def _change(self, stream):
        """Calls are done in their order on whatever streams: they use the same slots."""
        before, self.stream = self.stream, stream
        if before is not None and self.device.type != "cpu" and not torch().cuda.is_current_stream_capturing():
            earlier = torch().cuda.ExternalStream(before, device=self.device)
            torch().cuda.ExternalStream(stream, device=self.device).wait_stream(earlier)

    def _state(self, lane):
        geometry = self.geometry
        return self.table.data_ptr(), self.members.data_ptr(), geometry.flags(lane), geometry.steps(lane)

    def _make(self, call, op, dtype, count, offset):
        """The launch of a call, its arguments before the tensors, and those after them."""
        reduces = op is not None
        element, name, accumulator = reduction(call, dtype, op) if reduces else (dtype, "", None)
        if not reduces:
            bytes_each = count * dtype.itemsize
            element = words()[math.gcd(bytes_each, offset or 16, 8)]
            count = bytes_each // element.itemsize
        aligned = offset == 0
        apart_bytes = count * element.itemsize
        vector = max(1, 16 // element.itemsize) if aligned and apart_bytes % 16 == 0 else 1
        choice = _plan.default(call, self.size, count, element.itemsize, self.geometry, reduces)
        return self._launch(choice, call, name, element, accumulator, count, aligned, vector)

    def _launch(self, choice, call, name, element, accumulator, count, aligned, vector):
        shape = SHAPES[call]
        lane = "all" if shape == "all" else "rooted"
        item = element.itemsize
        key = choice, shape, name, element, aligned, vector
        launch = self.launches.get(key)
        if launch is None:
            constants = {
                "WORLD": self.size, "PROGRAMS": self.geometry.programs, "SLOT": self.geometry.slot_bytes // item,
                "BLOCK": choice.block_bytes // item, "SHAPE": shape, "OP": name, "ACC": accumulator,
                "VECTOR": vector, "SUBSET": self.subset,
            }  # fmt: skip
            types = (torch().int64, torch().int32, torch().int64, torch().int64, element, element, element)
            launch = self.launches[key] = Launch(exchange, choice.programs, choice.warps, types, constants)
        before = (*self._state(lane), self.geometry.slots(lane))
        after = (count, count if call in PARTED else 0, count if call in JOINED else 0, self.rank)
        return launch, before, after
