"""From a transfer and its tensors to the launch of a kernel, kept for the next one of the kind."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from triton import knobs
from triton import language as tl
from triton.runtime import driver

from .._memory import torch
from ..errors import ArgumentError, DtypeError, StagingError
from . import kernels_channel
from ._launch import Launch, Pointer, called, current_stream, tensor_at
from ._messages import MAIL_WORDS, Access, Plan, extra_of, is_gluon, part_of, parts_of, plan
from ._told import compare
from ._types import words
from .hooks import consume as copy_out
from .hooks import produce as copy_in
from .transport import P2pTransport, check_blocks, element_size

if TYPE_CHECKING:
    from torch import dtype as Dtype

# Triton's names for torch's floats of 8 bits.
FLOAT8 = {"float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5", "float8_e4m3fnuz": "float8e4b8",
          "float8_e5m2fnuz": "float8e5b16"}  # fmt: skip
# How many launches of a transport are kept.
MOST_KEPT = 1024


class Transfer:
    """One call, checked: what its messages are, and how they go."""

    def __init__(self, call, transport, channel, rows, wire, blocks, extra):
        if not isinstance(transport, P2pTransport):
            raise ArgumentError(f"{call}: transport must be a NodeTransport or another transport, not {transport!r}")
        transport.usable(call)
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
            raise ArgumentError(f"{call}: rows must be a number of rows, at least 1, not {rows!r}")
        if wire is not None:
            element_size(call, wire)
        blocks = transport.blocks if blocks is None else blocks
        check_blocks(call, transport, blocks)
        self.call, self.transport, self.channel = call, transport, transport.channel(call, channel)
        self.rows, self.wire, self.blocks = rows, wire, blocks
        self.extra = extra_of(call, extra, transport.device)

    def peer(self, rank, itself=False):
        rank = self.transport.peer(self.call, rank)
        if rank == self.transport.me and not itself:
            raise ArgumentError(f"{self.call}: rank {rank} is this rank: use sendrecv for a message to itself")
        return rank

    def message(self, tensor, name, access=Access.READ):
        return part_of(self.call, tensor, name, self.transport.device, self.rows, access)

    def parts(self, tensor, name, access=Access.READ):
        transport = self.transport
        return parts_of(self.call, tensor, name, transport.device, transport.world_size, self.rows, access)

    # Messages between two ranks.

    def run(self, sent, received, to, source, produce, consume):
        """Sends a message, receives one, or both."""
        if to != self.transport.me:
            compare(self, sent, received, (to,), (source,))
        elif sent.count * (self.wire or sent.dtype).itemsize != received.count * (self.wire or received.dtype).itemsize:
            said = f"{sent.count} elements of {sent.dtype}, and {received.count} of {received.dtype}"
            raise ArgumentError(f"{self.call}: a rank that sends to itself receives as many bytes as it sends: {said}")
        self.launch_both(sent, received, to, source, produce, consume)

    def launch_one(self, sent, received, peer):
        """Launches the kernel that sends a message or receives one, as it is."""
        self.launch_both(sent, received, peer, peer, None, None)

    def launch_both(self, sent, received, to, source, produce, consume):
        """Launches the kernel that sends a message, receives one, or both."""
        goes = self._way(sent, to, produce is None) if sent is not None and sent.count else None
        comes = self._way(received, source, consume is None) if received is not None and received.count else None
        if goes and comes and goes.cut.packets != comes.cut.packets:
            # What is sent here waits for nothing that comes in this call: packets have room, and a ring has a reader.
            self._launch(goes, None, to, source, produce, consume)
            self._launch(None, comes, to, source, produce, consume)
        elif goes or comes:
            self._launch(goes, comes, to, source, produce, consume)

    def _way(self, message, peer, plain):
        """How a message goes between this rank and a peer."""
        kind = self.wire or message.dtype
        cut = plan(self.transport, (peer,), message.count * kind.itemsize, kind.itemsize, self.rows, message.cols,
                   self.blocks)  # fmt: skip
        operand = _Operand(message)
        if plain and self.wire is None:
            cut, kind = operand.as_words(cut, self.rows is None)
        else:
            self._kernels_have(kind, message.dtype)
        return Way(cut, kind, operand)

    def _launch(self, goes, comes, to, source, produce, consume):
        one, other = goes or comes, comes or goes
        there, here = self.transport.link(to), self.transport.link(source)
        packets, both = one.cut.packets, goes is not None and comes is not None
        hooks = produce or copy_in, consume or copy_out
        whole = torch().int64
        regions = [whole, whole] if packets else [one.kind, other.kind]
        staging = [] if packets else [one.kind]
        types = [whole, whole, *regions, *[whole] * 6, *staging, one.operand.dtype, other.operand.dtype]
        addresses = self._addresses(there.memory, here.memory, to, source, packets)
        addresses = *addresses, one.operand.address, other.operand.address
        constants = {"SENDS": goes is not None, "RECEIVES": comes is not None, "BLOCKS": there.memory.blocks}
        programs = max(one.cut.programs, other.cut.programs)
        if packets:
            numbers = one.operand.count, other.operand.count, to, source, self.transport.me
            constants |= {"WORDS": MAIL_WORDS, "TILE": one.cut.tile, "WIRE": triton_type(one.kind),
                          "OUT_TILE": other.cut.tile, "OUT_WIRE": triton_type(other.kind)}  # fmt: skip
        else:
            numbers = *one.operand.numbers(), *other.operand.numbers(), to, source, self.transport.me
            constants |= {"RING": there.memory.ring, "SEND_BLOCKS": one.cut.programs, "GROUP": one.cut.group,
                          **tiles(one.cut, ""), "RECV_BLOCKS": other.cut.programs, "OUT_GROUP": other.cut.group,
                          **tiles(other.cut, "OUT_")}  # fmt: skip
            programs *= 2 if both and not interpreted() else 1
        constants |= {"LAYOUT": one.cut, "OUT_LAYOUT": other.cut, "SEND_OPS": there.ops, "RECV_OPS": here.ops,
                      "PRODUCE": hooks[0], "CONSUME": hooks[1]}  # fmt: skip
        kernel = kernels_channel.mail if packets else kernels_channel.transfer
        warps = max(one.cut.warps, other.cut.warps)
        self.launch(kernel, programs, warps, types, addresses, numbers, constants, hooks)

    def _addresses(self, there, here, to, source, packets):
        channel, me = self.channel, self.transport.me
        place = type(there).mail if packets else type(there).rings
        return (
            *self._context(), place(there, channel, me), place(here, channel, source),
            there.flags(channel, me), here.flags(channel, me), there.flags(channel, to), here.flags(channel, source),
            there.cursors_of(channel, to), here.cursors_of(channel, source),
            *([] if packets else [there.stage(channel, to)]),
        )  # fmt: skip

    # All-to-all.

    def swap(self, source, target, produce, consume):
        """Launches all-to-all through rings."""
        others = self._others()
        compare(self, source, target, others, others)
        if not source.count:
            return
        cut, kind, (inp, out) = self._cut(source, [source, target], produce is None and consume is None)
        transport, channel = self.transport, self.channel
        memory, far = (link.memory for link in transport.domain()[1:])
        addresses = (
            *self._context(), *self._lanes(memory), *self._lanes(far), far.stage(channel, 0), inp.address, out.address,
        )  # fmt: skip
        whole = torch().int64
        types = [whole, whole, *[kind, kind, whole, whole, whole] * 2, kind, inp.dtype, out.dtype]
        numbers = *inp.numbers(), *out.strides, inp.apart, out.apart, transport.me
        hooks = produce or copy_in, consume or copy_out
        constants = {**self._world(), "RING": memory.ring, "GROUP": cut.group, **self._tiles(cut, inp, out),
                     "PRODUCE": hooks[0], "CONSUME": hooks[1]}  # fmt: skip
        programs = cut.programs * (1 if interpreted() else 2)
        self.launch(kernels_channel.swap, programs, cut.warps, types, addresses, numbers, constants, hooks)

    def _lanes(self, memory):
        """Where the lanes of all peers begin, in one transport's memory."""
        me, channel = self.transport.me, self.channel
        flags = memory.flags(channel, me), memory.flags(channel, 0)
        return memory.rings(channel, me), memory.rings(channel, 0), *flags, memory.cursors_of(channel, 0)

    def land(self, source, produce):
        """Launches all-to-all into the transport's memory; returns the view of it."""
        transport, memory = self.transport, self.transport.memory
        kind, ranks = self.wire or source.dtype, transport.world_size
        size = source.count * kind.itemsize
        if size > memory.landing_bytes:
            said = f"{size} bytes a part, but the transport has {memory.landing_bytes} for each rank's"
            raise StagingError(f"all_to_all: {said}: make it with landing={size} or more")
        apart = -(-size // 16) * 16 // kind.itemsize
        start = memory.landing() - memory.heap.data_ptr()
        landing = memory.heap[start : start + ranks * apart * kind.itemsize].view(kind).view(ranks, apart)
        view = landing[:, : source.count]
        view = view.unflatten(1, (source.rows, source.cols)) if self.rows else view
        others = self._others()
        compare(self, source, source, others, others)
        if not source.count:
            return view
        source.keep_apart(landing)
        cut, _, (inp,) = self._cut(source, [source], False)
        channel, hooks = self.channel, (produce or copy_in,)
        addresses = (
            *self._context(), memory.flags(channel, transport.me), memory.flags(channel, 0),
            memory.cursors_of(channel, 0), inp.address, memory.landing(),
        )  # fmt: skip
        types = [*[torch().int64] * 5, inp.dtype, kind]
        constants = {**self._world(), **self._tiles(cut, inp, inp, 16 // kind.itemsize), "PRODUCE": hooks[0]}
        numbers = *inp.numbers(), inp.apart, apart, transport.me
        self.launch(kernels_channel.swap_in_place, cut.programs, cut.warps, types, addresses, numbers, constants, hooks)
        return view

    def _cut(self, source, messages, plain):
        """How parts go, the elements that travel, and the operands."""
        kind = self.wire or source.dtype
        cut = plan(self.transport, self._others(), source.count * kind.itemsize, kind.itemsize, self.rows, source.cols,
                   self.blocks, packets=False)  # fmt: skip
        operands = [_Operand(each) for each in messages]
        if not plain or self.wire is not None:
            self._kernels_have(kind, *(each.dtype for each in messages))
            return cut, kind, operands
        item = math.gcd(*(each.word(self.rows is None) for each in operands))
        for each in operands:
            each.view_as(item)
        return cut._replace(tile=cut.tile * kind.itemsize // item), words()[item], operands

    def _others(self):
        return [rank for rank in range(self.transport.world_size) if rank != self.transport.me]

    def _context(self):
        """What a kernel makes its context of: the addresses of the table and of its deadline's record."""
        return self.transport.table.data_ptr(), self.transport.watch.deadline.memory.data_ptr()

    def _kernels_have(self, *types):
        """Raises DtypeError for elements that are not numbers in a kernel: they can only be moved."""
        for each in types:
            if triton_type(each) is None:
                raise DtypeError(f"{self.call}: kernels have no elements of {each}: view them as floats or integers")

    def _world(self):
        transport = self.transport
        return {"ME": transport.me, "WORLD": transport.world_size, "BLOCKS": transport.memory.blocks}

    def _tiles(self, cut, inp, out, vector=16):
        domain, near, far = self.transport.domain()
        vector = math.gcd(vector, *(16 // each.dtype.itemsize for each in (inp, out)), inp.apart, out.apart)
        return {**tiles(cut, ""), "LAYOUT": cut, "VECTOR": vector, "DOMAIN": domain, "NEAR_OPS": near.ops,
                "FAR_OPS": far.ops}  # fmt: skip

    # Launches.

    def launch(self, kernel, programs, warps, types, addresses, numbers, constants, hooks):
        """Launches a kernel on the current stream, after what the channel's other streams were given."""
        deadline = self.transport.watch.deadline
        constants["WATCH"] = deadline.tag(self.call)
        gluon = any(is_gluon(each) for each in hooks)
        kernel = in_gluon(kernel) if gluon else kernel
        for name in {"LAYOUT", "OUT_LAYOUT"} & constants.keys():
            constants[name] = layout_of(constants[name], warps) if gluon else None
        stream = current_stream(self.transport.device)
        # Calls of a channel use the same ring.
        self.transport.watch.streams[self.channel].follow(stream)
        with called(self.call, self.transport.device):
            if self.extra:
                pointers = [Pointer(*each) for each in zip(addresses, types, strict=True)]
                if interpreted():
                    pointers = [tensor_at(*each) for each in zip(addresses, types, strict=True)]
                more = *numbers, self.extra, *constants.values()
                kernel[(programs,)](*pointers, *more, num_warps=warps, num_stages=1)
            else:
                self._launched(kernel, programs, warps, types, addresses, numbers, constants, stream)
        # In the interpreter the call is over.
        deadline.check()

    def _launched(self, kernel, programs, warps, types, addresses, numbers, constants, stream):
        """Launches a kernel that is kept."""
        made = self.transport.made
        # What Triton compiles a kernel for: alignment, and numbers that it takes as constants.
        loose = tuple(i for i, address in enumerate(addresses) if address % 16)
        special = tuple((number == 1, number % 16 == 0, number >> 31 in (0, -1)) for number in numbers)
        key = kernel, programs, warps, tuple(types), loose, special, tuple(constants.values())
        if key not in made:
            if len(made) >= MOST_KEPT:
                made.clear()
            made[key] = Launch(kernel, programs, warps, tuple(types), {"extra": None, **constants}, loose, numbers)
        made[key].launch(stream, *addresses, *numbers)


class _Operand:
    """A message for a kernel: its address, and its elements, which are words of it where they are only moved."""

    def __init__(self, message):
        self.address, self.dtype = message.tensor.data_ptr(), message.dtype
        self.count, self.rows, self.cols = message.count, message.rows, message.cols
        self.strides, self.apart = (message.row_stride, message.col_stride), message.apart

    def word(self, flat):
        """Bytes of the words that it can be moved as."""
        size = self.dtype.itemsize
        return math.gcd(self.count * size, self.address % 16 or 16, 8) if flat else size

    def view_as(self, item):
        before = self.dtype.itemsize
        self.count, self.apart = self.count * before // item, self.apart * before // item
        self.dtype = words()[item]

    def as_words(self, cut, flat):
        """A plan in words, and what these are."""
        before, item = self.dtype.itemsize, self.word(flat)
        self.view_as(item)
        return cut._replace(tile=cut.tile * before // item), self.dtype

    def numbers(self):
        return self.count, self.rows, self.cols, *self.strides


class Way(NamedTuple):
    """How a message goes, the elements that travel, and where it lies."""

    cut: Plan
    kind: Dtype
    operand: _Operand


def tiles(cut, prefix):
    return {f"{prefix}TILE": cut.tile, f"{prefix}TILE_ROWS": cut.tile_rows, f"{prefix}TILE_COLS": cut.tile_cols}


def interpreted():
    return knobs.runtime.interpret


@functools.cache
def triton_type(dtype):
    """Triton's name for a torch dtype; None where it has none."""
    name = str(dtype).removeprefix("torch.")
    return getattr(tl, FLOAT8.get(name, name), None)


@functools.cache
def in_gluon(kernel):
    """The same kernel for hooks of Gluon."""
    from triton.experimental import gluon

    return gluon.jit(kernel.fn, do_not_specialize=kernel.do_not_specialize)


def layout_of(cut, warps):
    """A layout for the tiles of a plan."""
    from triton.experimental.gluon.language import BlockedLayout

    lanes = driver.active.get_current_target().warp_size
    if not cut.tile_rows:
        each = max(1, cut.tile // (lanes * warps))
        # Elements that share a packet are one thread's.
        each = each if cut.packets else min(4, each)
        return BlockedLayout([each], [lanes], [warps], [0])
    across = min(lanes, cut.tile_cols)
    return BlockedLayout([1, 1], [lanes // across, across], [warps, 1], [1, 0])
