"""Where the heaps of a World's ranks are: which of them are mapped, and the counterparts of tensors on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._memory import Memory, integer, text_of, torch
from ._open import address_of, range_text, rank_text, shown
from ._symm import TABLE_HEADER_WORDS, TABLE_REACH
from .errors import ArgumentError, FarRankError, NotSymmetricError, RankRangeError

if TYPE_CHECKING:
    from torch import Tensor


class Places:
    """What a World says of its ranks' heaps."""

    def is_near(self, rank: int) -> bool:
        """Whether the heap of `rank` is mapped here; an engine reaches the others."""
        return self._near[rank_in(rank, self.get_num_ranks())]

    def get_heap_bases(self) -> Tensor:
        """The address of each rank's heap in this process: int64, on the CPU."""
        return torch().tensor(self._rank.heap_bases, dtype=torch().int64)

    def is_symmetric(self, tensor: Tensor) -> bool:
        """Whether a tensor is on this rank's heap, so that every rank has its counterpart."""
        if not isinstance(tensor, torch().Tensor):
            raise ArgumentError(f"is_symmetric takes a tensor, not {text_of(tensor)}")
        return tensor.device.type == self.device.type and self._rank.is_symmetric(address_of(tensor))

    def as_remote(self, tensor: Tensor, rank: int) -> Tensor:
        """The counterpart of a tensor on a rank's heap, with the same shape and strides. It keeps the tensor alive.

        Raises NotSymmetricError for anything but a tensor on the heap, RankRangeError, FarRankError, and ArgumentError
        for a rank that is not an integer; all are ValueErrors.
        """
        return self._as_remote(tensor, rank_in(rank, self.get_num_ranks()), self)

    def _as_remote(self, tensor, rank, asked):
        """Likewise; `asked` is the World or Team that the user has asked."""
        if not isinstance(tensor, torch().Tensor) or not self.is_symmetric(tensor):
            raise NotSymmetricError(f"as_remote requires a tensor on the symmetric heap, not {shown(tensor, asked)}")
        if tensor.is_conj() or tensor.is_neg():
            message = "as_remote: torch conjugates or negates this view as it reads: make the view of the result"
            raise NotSymmetricError(message)
        if not self._near[rank]:
            far = rank_text(asked, asked._place()[1].index(rank))
            message = f"as_remote: {far} is far: its heap is not mapped here, so use put, get, signal or a kernel"
            raise FarRankError(message)
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        size = (last + 1) * tensor.element_size() if tensor.numel() else tensor.element_size()
        address = self._rank.as_remote(address_of(tensor), rank)
        memory = Memory(address, size, tensor)
        return memory.tensor(self.device, tensor.dtype, tensor.shape, tensor.stride())

    def outside(self, addresses, rank, every=True):
        """The first address in a kernel that is not on a rank's heap; None, too, where not `every` one needs to be and
        another one is.
        """
        self.get_rank()  # Not in a forked process.
        first = self.bases[rank]
        end = first + self.heap_size
        outside = addresses[(addresses < first) | (addresses >= end)]
        return int(outside.flat[0]) if outside.size and (every or outside.size == addresses.size) else None


def rank_in(rank, count, name="rank", call="", team=None):
    """The number of one of `count` ranks, of a `team` if it is given; raises ArgumentError and RankRangeError for what
    is none.

    `name` is what the call's argument is called; `call` begins the text.
    """
    number = integer(rank)
    if number is None:
        raise ArgumentError(f"{call}{name} must be an integer, not {text_of(rank)}")
    if not 0 <= number < count:
        raise RankRangeError(call + range_text(team, number, count))
    return number


def reaches(world):
    """What the context table of a World with an engine says of how each rank is reached."""
    count = world.get_num_ranks()
    words = TABLE_HEADER_WORDS + count + TABLE_REACH + count
    table = Memory(world.data_ptr(), 8 * words, world._rank.hold()).tensor(world.device, torch().int64, (words,))
    return table[-count:].tolist()


def near(world, domain):
    """Which ranks are near: what the context table says; without an engine those of this rank's domain."""
    if world.engine is not None:
        return [reach < 0 for reach in world._reaches]
    rank = world.get_rank()
    return [domain is None or peer // domain == rank // domain for peer in range(world.get_num_ranks())]


def table_of_team(world, number, members, bases):
    """The words of a team's context table: its numbers, its own addresses, and the reaches of the World's ranks."""
    words = [number, len(members), *bases]
    if world.engine is None:
        return words
    return [*words, *[0] * TABLE_REACH, *(world._reaches[rank] for rank in members)]
