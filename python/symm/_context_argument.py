"""What a World and a Team are to kernels: an argument, which Triton takes for a tensor, their context table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ._memory import Memory, torch
from ._symm import TABLE_HEADER_WORDS
from .errors import ArgumentError

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


def is_triton(frame):
    """Whether a frame is Triton's: the code that it makes for launches is in no module."""
    return frame.f_globals.get("__name__", "triton.").startswith("triton.")


def refuse_classes(arguments):
    """An error where a kernel is given one of these classes, and not what is made of it."""
    for each in arguments:
        if isinstance(each, type) and issubclass(each, Argument):
            made = "symm.init()" if each.__name__ == "World" else "world.team([0, 1]) or world.split(color)"
            raise ArgumentError(f"a kernel is given the class symm.{each.__name__}: give it what {made} returns")


class Words:
    """The attribute `dtype`: the type of the table's words, which says whether kernels have a time-out."""

    def __get__(self, argument, kind):
        if argument is None:
            # Triton asks a class, too, if it is given one.
            if is_triton(sys._getframe(1)):
                refuse_classes((kind,))
            return self
        return torch().uint64 if argument._timeouts.is_on else torch().int64


class Argument:
    """A context table at `data_ptr()`, of memory that `rank.hold()` keeps."""

    dtype = Words()

    def get_device_context(self) -> Tensor:
        """The context table that kernels take: [rank, num_ranks, base_0, …], on the device: int64, or uint64 where
        kernels have a time-out.
        """
        words = TABLE_HEADER_WORDS + self.get_num_ranks()
        return Memory(self.data_ptr(), 8 * words, self._rank.hold()).tensor(self.device, self.dtype, (words,))

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            # Whoever else asks for a size means the number of ranks.
            if name in OF_A_TENSOR and is_triton(sys._getframe(1)):
                return getattr(self.get_device_context(), name)
            kind = type(self).__name__
            message = f"'{kind}' object has no attribute '{name}'"
            if hasattr(type(self), MEANT.get(name, "")):
                message += f": call {MEANT[name]}()"
            elif kind == "Team" and callable(getattr(type(self.world), name, None)):
                message += f": it is the World's, and all ranks of the World call it: world.{name}(…)"
            raise AttributeError(message, name=name, obj=self)
