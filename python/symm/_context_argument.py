"""What a World and a Team are to kernels: an argument, which Triton takes for a tensor, their context table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ._memory import Memory, torch
from ._symm import TABLE_HEADER_WORDS

if TYPE_CHECKING:
    from torch import Tensor

# What Triton's interpreter asks of an argument that is in memory.
OF_A_TENSOR = ("untyped_storage", "new_empty", "storage_offset", "size", "stride")
# What is a method, and may be taken for an attribute, or has another name elsewhere.
MEANT = {
    "rank": "get_rank", "cur_rank": "get_rank", "num_ranks": "get_num_ranks", "world_size": "get_num_ranks",
    "size": "get_num_ranks", "nranks": "get_num_ranks", "n_pes": "get_num_ranks", "get_world_size": "get_num_ranks",
    "my_rank": "get_rank", "my_pe": "get_rank", "heap_bases": "get_heap_bases", "finalize": "close",
    "shutdown": "close", "destroy": "close", "barrier_all": "barrier",
}  # fmt: skip


class Argument:
    """A context table at `data_ptr()`, of memory that `rank.hold()` keeps."""

    @property
    def dtype(self):
        """The type of the table's words, which says whether kernels have a time-out."""
        return torch().uint64 if self._timeouts.is_on else torch().int64

    def get_device_context(self) -> Tensor:
        """The context table that kernels take: [rank, num_ranks, base_0, …], on the device: int64, or uint64 where
        kernels have a time-out.
        """
        words = TABLE_HEADER_WORDS + self.get_num_ranks()
        return Memory(self.data_ptr(), 8 * words, self._rank.hold()).tensor(self.device, self.dtype, (words,))

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            # Whoever else asks for a size means the number of ranks.
            asks = sys._getframe(1).f_globals.get("__name__", "")
            if name in OF_A_TENSOR and asks.startswith("triton."):
                return getattr(self.get_device_context(), name)
            kind = type(self).__name__
            message = f"'{kind}' object has no attribute '{name}'"
            if hasattr(type(self), MEANT.get(name, "")):
                message += f": call {MEANT[name]}()"
            elif kind == "Team" and callable(getattr(type(self.world), name, None)):
                message += f": it is the World's, and all ranks of the World call it: world.{name}(…)"
            raise AttributeError(message, name=name, obj=self)
