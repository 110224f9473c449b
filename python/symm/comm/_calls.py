"""From a collective and its tensors to launches of kernels, kept for the next call of the kind."""

import functools
import math
from typing import NamedTuple

from .._memory import torch
from . import _plan
from ._deadline import Deadline
from ._geometry import LINES
from ._launch import Launch, StreamOrder, current_stream
from ._table import TunedTable
from ._types import reduction, words
from .kernels_direct import direct_all_reduce, direct_exchange
from .kernels_exchange import exchange, meet
from .kernels_floats import send_floats
from .kernels_packets import send_packets
from .kernels_ragged import ragged
from .kernels_two_shot import two_shot

# Which ranks send to which: a kernel's SHAPE.
SHAPES = {
    "all_reduce": "all", "reduce_scatter": "all", "all_gather": "all", "all_to_all": "all",
    "broadcast": "from root", "scatter": "from root", "reduce": "to root", "gather": "to root",
}  # fmt: skip
# Whether a rank's message for each peer is another one, and whether those that arrive lie one after the other.
PARTED = ("reduce_scatter", "all_to_all", "scatter")
JOINED = ("all_gather", "all_to_all", "gather")
# How many calls are kept.
MOST_KEPT = 4096
# Bytes of a program's piece of a message whose length the host does not know.
RAGGED_BLOCK = 16 << 10
# Where a tensor that is not on the heap lies, as in kernels_direct.py.
NOT_ON_HEAP = -(1 << 62)


class Made(NamedTuple):
    """A launch, and its arguments before the addresses of the tensors and after them."""

    launch: Launch
    before: tuple
    after: tuple
    # Of the tensors, which have to be on the heap for a direct one: "", "in", "out" or "both".
    direct: str
    rooted: bool


class Calls:
    """The calls of one communicator that have been made so far, or of a part of its hierarchy.

    With `far`, some of its ranks are only put to, signalled and waited for. `numbers` are what its ranks are called.
    """

    def __init__(self, world, geometry, rank, members, seconds, table=None, far=False, numbers=None):
        self.world, self.geometry, self.rank, self.size = world, geometry, rank, len(members)
        self.device, self.rank_here = world.device, world.get_rank()
        self.table = world.get_device_context()
        record, self.members = geometry.record("calls")
        self.members.copy_(torch().tensor(members, dtype=torch().int32))
        first = geometry.memory.data_ptr()
        self.deadline = Deadline(world, members, rank, record, first, geometry.locate, seconds, numbers=numbers)
        self.subset = members != tuple(range(world.get_num_ranks()))
        self.heap = range(world.bases[world.get_rank()], world.bases[world.get_rank()] + world.heap_size)
        self.made, self.launches, self.far = {}, {}, far
        self.choose = functools.partial(_plan.choose, table or TunedTable(), far=far)
        # All use the same slots.
        self.order = StreamOrder(self.device)

    def run(self, call, op, source, target, count, root=0):
        """Does a collective: `count` elements from each rank to each."""
        here, there = source.data_ptr(), target.data_ptr()
        key = call, op, source.dtype, count, (here | there) & 15
        # Its waits may be those of another call.
        made = self.made.get((self.deadline.called, *key))
        if made is None:
            if len(self.made) >= MOST_KEPT:
                self.made.clear()
            made = self.made[self.deadline.called, *key] = self._make(*key)
        stream = current_stream(self.device)
        self.order.follow(stream)
        launch, before, after, direct, rooted = made
        if direct:
            after = *after, *self._places(call, direct, here, there, source)
        if rooted:
            after = *after, root
        launch.launch(stream, *before, here, there, *after)

    def broadcast(self, tensor, root):
        """A broadcast of `tensor`, which is one piece of memory, by whatever is fastest."""
        if self.size == 2 or tensor.nbytes <= _plan.PARTED_BROADCAST_BYTES:
            return self.run("broadcast", None, tensor, tensor, tensor.numel(), root)
        whole = tensor.view(-1).view(torch().uint8)
        part = whole.numel() // self.size // _plan.PART_ALIGN * _plan.PART_ALIGN
        mine = whole[self.rank * part : (self.rank + 1) * part]
        self.run("scatter", None, whole, mine, part, root)
        self.run("all_gather", None, mine, whole, part)
        rest = whole[self.size * part :]
        if rest.numel():
            self.run("broadcast", None, rest, rest, rest.numel(), root)

    def ragged(self, source, row, counts, target, out_counts):
        """All-to-all of `counts` rows of `row` elements, on the device; tells how many came from each rank."""
        here, there = source.data_ptr(), target.data_ptr()
        bytes_each = row * source.element_size()
        element = words()[math.gcd(bytes_each, (here | there) & 15 or 16, 8)]
        item = element.itemsize
        aligned = (here | there) & 15 == 0
        block = min(self.geometry.slot_bytes, RAGGED_BLOCK)
        constants = {
            "WORLD": self.size, "PROGRAMS": self.geometry.programs, "SLOT": self.geometry.slot_bytes // item,
            "BLOCK": block // item, "ITEM": item, "VECTOR": 16 // item if aligned and bytes_each % 16 == 0 else 1,
            "SUBSET": self.subset, "WATCH": self.deadline.tag("all_to_all_v"), "FAR": self.far,
        }  # fmt: skip
        key = "ragged", element, aligned, counts.dtype, *constants.values()
        launch = self.launches.get(key)
        if launch is None:
            whole = torch().int64
            types = whole, torch().int32, whole, whole, element, whole, element, element, counts.dtype, whole
            # Of the tensors, that is; the counts are aligned to their elements.
            loose = range(len(types) - (2 if aligned else 4), len(types))
            launch = self.launches[key] = Launch(ragged, self.geometry.programs, block // 1024, types, constants, loose)
        stream = current_stream(self.device)
        self.order.follow(stream)
        slots, each = self.geometry.slots("all"), bytes_each // item
        rows = (source.numel() * source.element_size()) // bytes_each
        room = (target.numel() * target.element_size()) // bytes_each
        launch.launch(stream, *self._state("all"), slots, slots, here, there, counts.data_ptr(), out_counts.data_ptr(),
                      each, rows, room, self.rank, self.rank_here)  # fmt: skip

    def meet(self):
        if "meet" not in self.launches:
            types = (torch().int64, torch().int32, torch().int64, torch().int64)
            constants = {"WORLD": self.size, "SUBSET": self.subset, "WATCH": self.deadline.tag("barrier")}
            self.launches["meet"] = Launch(meet, 1, 1, types, constants)
        stream = current_stream(self.device)
        self.order.follow(stream)
        self.launches["meet"].launch(stream, *self._state("all"), self.rank, self.rank_here)

    def _places(self, call, direct, here, there, source):
        """Where the tensors lie, in bytes from my slots: those that peers read or write."""
        base = self.geometry.slots("all")
        inp = here - base if here in self.heap and not here & 15 else NOT_ON_HEAP
        out = there - base if there in self.heap and not there & 15 else NOT_ON_HEAP
        if call == "all_to_all" and there < here + source.numel() * source.itemsize and here < there + source.nbytes:
            # Peers would write what has not been sent yet.
            out = NOT_ON_HEAP
        return 0 if direct == "out" else inp, 0 if direct == "in" else out

    def _state(self, lane):
        geometry = self.geometry
        return self.table.data_ptr(), self.members.data_ptr(), geometry.flags(lane), geometry.steps(lane)

    def _make(self, call, op, dtype, count, offset):
        reduces = op is not None
        element, name, accumulator = reduction(call, dtype, op) if reduces else (dtype, "", None)
        if not reduces:
            bytes_each = count * dtype.itemsize
            element = words()[math.gcd(bytes_each, offset or 16, 8)]
            count = bytes_each // element.itemsize
        item = element.itemsize
        are_floats = reduces and dtype.is_floating_point
        choice = self.choose(call, self.size, count, item, self.geometry, reduces, are_floats=are_floats)
        # What one vector of the kernel's loads has.
        wide = 16 // item if offset == 0 else 1
        direct, shape = choice.algorithm.startswith("direct"), SHAPES[call]
        constants = {
            "WORLD": self.size, "PROGRAMS": self.geometry.programs, "SLOT": self.geometry.slot_bytes // item,
            "BLOCK": choice.block_bytes // item,
        }  # fmt: skip
        if direct:
            constants["ITEM"] = item
        else:
            constants["TILES"] = choice.tiles
        if choice.algorithm.endswith(("two shot", "all reduce")):
            shard = -(-count // self.size)
            # All ranks' shards are alike, however their tensors are aligned.
            shard = -(-shard // (16 // item)) * (16 // item)
            kernel = direct_all_reduce if direct else two_shot
            vector, after, rooted = wide, (count, shard, self.rank, self.rank_here), False
        else:
            kernel = direct_exchange if direct else exchange
            constants["SHAPE"] = shape
            vector, rooted = (wide if count * item % 16 == 0 else 1), True
            after = count, count if call in PARTED else 0, count if call in JOINED else 0, self.rank, self.rank_here
        constants |= {"OP": name, "ACC": accumulator, "VECTOR": vector, "SUBSET": self.subset}
        constants["WATCH"] = self.deadline.tag(call)
        if not direct:
            constants["FAR"] = self.far
        lane = "all" if shape == "all" or direct else "rooted"
        if choice.algorithm in ("packets", "floats"):
            return self._packets(choice, call, shape, name, element, accumulator, count, offset)
        launch = self._launch(kernel, choice, element, offset == 0, constants)
        slots = self.geometry.slots(lane)
        before = *self._state(lane), slots, *([slots] if direct else [])
        needed = ""
        if direct:
            needed = "both" if call == "all_reduce" else ("in" if reduces else "out")
        return Made(launch, before, after, needed, rooted)

    def _packets(self, choice, call, shape, name, element, accumulator, count, offset):
        """A call whose messages are packets, of words of 8 bytes."""
        constants = {
            "WORLD": self.size, "PROGRAMS": self.geometry.programs, "LINES": LINES, "BLOCK": choice.block_bytes // 8,
            "SHAPE": shape, "PARTED": call in PARTED, "OP": name, "ACC": accumulator,
            "WHOLE": offset % 8 == 0 and count * element.itemsize % 8 == 0, "SUBSET": self.subset,
            "WATCH": self.deadline.tag(call),
        }  # fmt: skip
        lane, kernel = "packets" if shape == "all" else "rooted packets", send_packets
        if choice.algorithm == "floats":
            lane, kernel = "floats", send_floats
            takes_turns = count * element.itemsize > choice.programs * choice.block_bytes
            constants |= {"BUFFERS": self.geometry.float_buffers, "AHEAD": choice.tiles if takes_turns else 0}
        launch = self._launch(kernel, choice, element, offset == 0, constants, torch().int64)
        after = count, count if call in PARTED else 0, count if call in JOINED else 0, self.rank, self.rank_here
        return Made(launch, (*self._state(lane), self.geometry.slots(lane)), after, "", True)

    def _launch(self, kernel, choice, element, aligned, constants, slots=None):
        """A launch that there is already, or a new one."""
        key = kernel.__name__, choice.programs, choice.warps, element, aligned, *constants.values()
        if key not in self.launches:
            direct = [torch().int64] if "ITEM" in constants else []
            state = (torch().int64, torch().int32, torch().int64, torch().int64, slots or element)
            types = *state, *direct, element, element
            loose = () if aligned else (len(types) - 2, len(types) - 1)
            self.launches[key] = Launch(kernel, choice.programs, choice.warps, types, constants, loose)
        return self.launches[key]
