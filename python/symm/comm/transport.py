"""Transports: the memory, flags and ops that reach each peer.

A transport has *channels*, lanes of fixed geometry between each two ranks, one for each direction: rings at the
receiver, flags on both sides, and cursors. Messages on one channel arrive in order; channels are independent.
"""

from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from .._memory import torch
from .._places import rank_in
from .._world import World
from ..errors import ArgumentError, ClosedError, DtypeError
from ._channels import Memory
from ._deadline import seconds_of
from ._watch import Watch
from .kernels_ring import CURSOR_KINDS
from .seam import NETWORK, NODE, Seam

if TYPE_CHECKING:
    from torch import Tensor
    from torch import dtype as Dtype

# By default a transport takes this many bytes for each rank and channel, and a quarter of the heap at most.
BLOCKS, STAGING = 32, 36 << 20


class LinkKind(enum.Enum):
    """What is between this rank and a peer."""

    NODE = "node"
    NETWORK = "network"


class PeerEndpoint(NamedTuple):
    """The arguments that a kernel needs for one peer on one channel, as tensors.

    `send_dst` is the peer's ring, for this rank's messages; `recv_src` is this rank's ring, for the peer's. Signals to
    the peer go to `signal_dst`; its own arrive at `signal_src`. `cursors` count what was sent and received. The first
    three are addresses on this rank's heap, as all ops take them. `rank` is the peer's number. `staging` is what a
    `Lane` takes to send to the peer from memory; None where it is sent from registers.
    """

    send_dst: Tensor
    recv_src: Tensor
    signal_dst: Tensor
    signal_src: Tensor
    cursors: Tensor
    rank: int
    staging: Tensor | None = None


class P2pTransport:
    """Memory and ops for each peer, for `send`, `recv` and `all_to_all`. Making one is collective.

    `blocks` is the largest number of programs of a call in one direction, `channels` the number of channels, and
    `staging` the number of bytes of the heap that they take, the same on all ranks: by default 36 MiB for each rank and
    channel, or a quarter of the heap if that is less. `landing` is the largest size in bytes of a rank's part in
    `all_to_all` with `zero_copy`, in addition to `staging`.

    `timeout` is the time in seconds that a call may wait for another rank on the device: by default SYMM_TIMEOUT of the
    environment, or 300; `math.inf` is forever. After that the call ends without a result, the transport is broken, and
    all ranks' next calls raise CollectiveTimeoutError, until all have called `recover`. AMD GPUs have no time-out.

    With `check`, the same on all ranks, or with SYMM_COMM_CHECK=1 in the environment, a receiver compares what it
    expects with what the sender sends, and raises CallMismatchError; each call that receives then waits on the host.

    Invalid calls raise ArgumentError, DtypeError, RankRangeError or StagingError, and ClosedError after `close`.
    """

    kind = LinkKind.NODE
    ops: Seam = NODE

    def __init__(
        self, world: World, *, blocks: int = BLOCKS, channels: int = 1, staging: int | None = None, landing: int = 0,
        timeout: float | None = None, check: bool | None = None,
    ):  # fmt: skip
        name = type(self).__name__
        if not isinstance(world, World):
            raise ArgumentError(f"{name}: world must be what symm.init returns, not {world!r}")
        if not world.is_open():
            raise ClosedError(f"{name}: this World has been closed, or this process was forked from a rank's")
        for what, value, most in (("blocks", blocks, 1024), ("channels", channels, 256)):
            if not _is_int(value) or not 1 <= value <= most:
                raise ArgumentError(f"{name}: {what} must be a number from 1 to {most}, not {value!r}")
        for what, value in (("staging", staging), ("landing", landing)):
            if value is not None and (not _is_int(value) or value < 0):
                raise ArgumentError(f"{name}: {what} must be a number of bytes, not {value!r}")
        seconds = seconds_of(timeout, world.device, name)
        if world.device.type != "cpu":
            # Programs that send and as many that receive wait for each other's ranks: all have to run at once.
            blocks = max(1, min(blocks, world.get_cu_count() // 2))
        usual = min(STAGING * world.get_num_ranks() * channels, world.heap_size // 4)
        staging = usual if staging is None else staging
        self.world, self.blocks, self.channels, self.device = world, blocks, channels, world.device
        self.me, self.world_size = world.get_rank(), world.get_num_ranks()
        self.table = world.get_device_context()
        self.memory = Memory(world, blocks, channels, staging, -(-landing // 16) * 16, self.ops.copy is not None)
        self.per_peer_bytes = blocks * self.memory.ring
        self.made: dict[Any, Any] = {}
        self.open = True
        self._watch = Watch(world, self.memory, seconds)
        self.teller = self._teller(timeout) if asked(check, name) else None
        # Nobody signals a rank whose flags are not there yet.
        world.barrier()

    def _teller(self, timeout):
        """What says, in the debug mode, which messages will be sent."""
        least = Memory.least(self.world_size, self.channels, 1)
        teller = type(self)(self.world, blocks=1, channels=self.channels, staging=least, timeout=timeout, check=False)
        self._watch.join(teller.watch)
        return teller

    def checks(self) -> bool:
        """Whether it is in the debug mode."""
        return self.teller is not None

    def close(self) -> None:
        """Frees the transport's part of the heap; calls on it then raise ClosedError. A second call does nothing.

        The memory of a transport of a mesh is freed when both have been closed.
        """
        self.open = False
        if self.teller is not None:
            self.teller.close()
        self.memory, self._watch, self.made = None, None, {}

    @property
    def watch(self) -> Watch:
        """The deadline of its calls, and its way back."""
        return self._watch.whole()

    def check(self) -> None:
        """Waits on the host until this rank's calls are done, and raises CollectiveTimeoutError if one of them, or of
        another rank's so far, has waited too long. Messages are right when this returns.
        """
        self.stays_open("check")
        self.watch.deadline.synchronize()

    def recover(self) -> None:
        """Makes a transport usable again after a call has timed out. Collective over its ranks.

        It waits on the host for all of them, for as long as a call does: then it raises CollectiveTimeoutError, and may
        be called again. Messages that have not been received are lost. Graphs that were captured before can be
        replayed. The transports of a mesh recover together.
        """
        self.stays_open("recover")
        self.watch.recover()

    def usable(self, call: str) -> None:
        """Raises ClosedError if it is not, and CollectiveTimeoutError and CallMismatchError."""
        self.stays_open(call)
        self.watch.check()

    def stays_open(self, call: str) -> None:
        """Raises ClosedError if it does not."""
        if not self.open:
            raise ClosedError(f"{call}: this transport has been closed: make another one")
        if not self.world.is_open():
            said = "this transport's World has been closed, or this process was forked from a rank's"
            raise ClosedError(f"{call}: {said}")

    def peer(self, call: str, rank: int) -> int:
        """An existing rank; raises ArgumentError and RankRangeError."""
        return rank_in(rank, self.world_size, "peer", f"{call}: ")

    def channel(self, call: str, number: int) -> int:
        """An existing channel; raises ArgumentError."""
        if not _is_int(number) or not 0 <= number < self.channels:
            said = f"{call}: there is no channel {number!r}: this transport has {self.channels}"
            raise ArgumentError(f"{said}; make it with channels={number + 1 if _is_int(number) and number >= 0 else 2}")
        return number

    # By peer.

    def link(self, peer: int) -> P2pTransport:
        """The transport that leads to a peer."""
        return self

    def link_kind(self, peer: int) -> LinkKind:
        """What is between this rank and a peer."""
        return self.link(self.peer("link_kind", peer)).kind

    def seam(self, peer: int) -> Seam:
        """The ops for a peer, for kernels."""
        return self.link(self.peer("seam", peer)).ops

    def domain(self) -> tuple[int, P2pTransport, P2pTransport]:
        """How many ranks a domain has, and the transports that lead to peers in mine and in others."""
        return self.world_size, self, self

    def endpoint(self, peer: int, dtype: Dtype, channel: int = 0) -> PeerEndpoint:
        """The arguments for your own kernel that sends elements of a type to a peer and receives them from it."""
        self.usable("endpoint")
        peer, channel = self.peer("endpoint", peer), self.channel("endpoint", channel)
        memory = self.link(peer).memory
        element_size("endpoint", dtype)

        def part(address, first, size, kind):
            return memory.heap[address - first :][:size].view(kind)

        first, rings, flags = memory.heap.data_ptr(), memory.blocks * memory.ring, memory.flag_bytes
        at = memory.pair(channel, peer) * memory.blocks * CURSOR_KINDS
        return PeerEndpoint(
            part(memory.rings(channel, self.me), first, rings, dtype),
            part(memory.rings(channel, peer), first, rings, dtype),
            part(memory.flags(channel, self.me), first, flags, torch().int64),
            part(memory.flags(channel, peer), first, flags, torch().int64),
            memory.cursors[at : at + memory.blocks * CURSOR_KINDS], peer,
            part(memory.stage(channel, peer), first, memory.stage_bytes, dtype) if memory.stage_bytes else None,
        )  # fmt: skip

    def get_geometry(self) -> dict[str, int]:
        """BLOCKS and RING, the constants that a `Lane` takes."""
        self.usable("get_geometry")
        return {"BLOCKS": self.memory.blocks, "RING": self.memory.ring}


class NodeTransport(P2pTransport):
    """The transport between GPUs of one host, which reach each other's memory."""


class NetworkTransport(P2pTransport):
    """The transport between hosts: its peers are only put to, signalled and waited for.

    Messages are put from memory of the sender, half as much as the rings take, in addition to `staging`. Each part of
    it is reused when what it held has left. No message is sent as packets.
    """

    kind = LinkKind.NETWORK
    ops = NETWORK


class MeshTransport(P2pTransport):
    """Routes to each peer: through `intra` in a domain of `local_domain_size` ranks, through `inter` to other domains.

    Two ranks are in one domain if `rank // local_domain_size` is the same for both. Both have the same geometry.
    """

    def __init__(self, intra: P2pTransport, inter: P2pTransport, local_domain_size: int):
        for name, each in (("intra", intra), ("inter", inter)):
            if not isinstance(each, P2pTransport):
                raise ArgumentError(f"MeshTransport: {name} must be a transport, not {each!r}")
            if isinstance(each, MeshTransport):
                raise ArgumentError(f"MeshTransport: {name} is a mesh itself: give it the transport of one link")
        if intra.ops.copy is not None:
            said = "intra sends from memory, as between hosts: give it a NodeTransport"
            raise ArgumentError(f"MeshTransport: {said}")
        if intra.world is not inter.world:
            raise ArgumentError("MeshTransport: intra and inter are transports of two Worlds")
        if not _is_int(local_domain_size) or local_domain_size < 1:
            said = f"local_domain_size must be a number of ranks, at least 1, not {local_domain_size!r}"
            raise ArgumentError(f"MeshTransport: {said}")
        geometries = [(each.blocks, each.channels, each.memory.ring) for each in (intra, inter)]
        if geometries[0] != geometries[1]:
            said = "intra and inter differ in blocks, channels or staging"
            raise ArgumentError(f"MeshTransport: {said}: {geometries[0]} and {geometries[1]} (blocks, channels, ring)")
        timeouts = [each.watch.deadline.seconds for each in (intra, inter)]
        if timeouts[0] != timeouts[1]:
            said = "intra and inter differ in timeout"
            raise ArgumentError(f"MeshTransport: {said}: {timeouts[0]:g} and {timeouts[1]:g} seconds")
        if intra.checks() != inter.checks():
            raise ArgumentError("MeshTransport: intra and inter differ in check")
        self.intra, self.inter, self.local_domain_size = intra, inter, local_domain_size
        self.world, self.me, self.world_size, self.device = intra.world, intra.me, intra.world_size, intra.device
        self.blocks, self.channels, self.table, self.memory = intra.blocks, intra.channels, intra.table, intra.memory
        self.per_peer_bytes, self.open, self.made, self.teller = intra.per_peer_bytes, True, {}, None
        # A call of one that has waited too long leaves the rings of both as they are.
        self._watch = intra.watch
        self._watch.join(inter.watch)

    def stays_open(self, call):
        super().stays_open(call)
        for each in (self.intra, self.inter):
            each.stays_open(call)

    def checks(self):
        return self.intra.checks()

    def domain(self):
        return self.local_domain_size, self.intra, self.inter

    def link(self, peer):
        same = peer // self.local_domain_size == self.me // self.local_domain_size
        return (self.intra if same else self.inter).link(peer)


def element_size(call: str, dtype: Dtype) -> int:
    """Bytes of an element that messages can have; raises DtypeError."""
    if not isinstance(dtype, torch().dtype):
        raise DtypeError(f"{call}: dtype must be a torch dtype, not {dtype!r}")
    if dtype.is_complex or dtype.itemsize > 8 or dtype in _quantised():
        raise DtypeError(f"{call}: kernels have no elements of {dtype}: view them as floats or integers")
    return dtype.itemsize


def _quantised():
    return [getattr(torch(), name, None) for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4")]


def check_transfer(transport: P2pTransport, numel: int, dtype: Dtype, num_blocks: int) -> None:
    """Raises for a transfer that would overrun a region or the flags of a channel.

    `num_blocks` programs send `numel` elements in tiles that are made to fit into a program's ring.
    """
    transport.usable("check_transfer")
    element_size("check_transfer", dtype)
    if not _is_int(numel) or numel < 0:
        raise ArgumentError(f"check_transfer: numel must be a number of elements, not {numel!r}")
    check_blocks("check_transfer", transport, num_blocks)


def check_blocks(call: str, transport: P2pTransport, blocks: int) -> None:
    if not _is_int(blocks) or blocks < 1:
        raise ArgumentError(f"{call}: blocks must be at least 1, not {blocks!r}")
    if blocks > transport.blocks:
        said = f"{blocks} blocks, but the channels have flags and rings for {transport.blocks}"
        raise ArgumentError(f"{call}: {said}: give fewer, or make the transport with blocks={blocks}")


def asked(check: bool | None, maker: str) -> bool:
    """Whether the debug mode is asked for."""
    if check is not None and not isinstance(check, bool):
        raise ArgumentError(f"{maker}: check must be True, False or None, not {check!r}")
    return os.environ.get("SYMM_COMM_CHECK", "0") == "1" if check is None else check


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
