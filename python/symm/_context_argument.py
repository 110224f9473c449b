"""What a World and a Team are to kernels: an argument, which Triton takes for a tensor, their context table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._memory import Memory, torch
from ._symm import TABLE_HEADER_WORDS

if TYPE_CHECKING:
    from torch import Tensor

# What Triton's interpreter asks of an argument that is in memory.
OF_A_TENSOR = ("untyped_storage", "new_empty", "storage_offset", "size", "stride")


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
        return Memory(self.data_ptr(), 8 * words, self.rank.hold()).tensor(self.device, self.dtype, (words,))

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name in OF_A_TENSOR:
                return getattr(self.get_device_context(), name)
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
