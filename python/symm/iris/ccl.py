"""Iris' collectives, with its names and signatures, on `symm.comm`: `shmem.ccl.all_reduce(output, input)` and so on.

The first call makes a communicator, which takes a part of the heap; it is collective.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from .._memory import text_of, torch
from ..comm import Communicator
from ..comm._types import OPS
from ..errors import ArgumentError, StagingError, UnsupportedError

if TYPE_CHECKING:
    from torch import Tensor

    from .._world import World

__all__ = ["CCL", "Config", "ReduceOp"]


class ReduceOp(enum.Enum):
    """What `all_reduce` and `reduce_scatter` do with the ranks' elements."""

    SUM = "sum"
    PRODUCT = "prod"
    MIN = "min"
    MAX = "max"


class Config:
    """Iris' settings of kernels. They are accepted, and have no effect: symm chooses by the size of a message."""

    def __init__(self, **settings: Any):
        self.__dict__.update(settings)


class CCL:
    """The collectives of an `Iris`, as its `ccl`: `async_op=False` ends with a barrier on the host, as in Iris."""

    def __init__(self, world: World):
        self._world, self._comm = world, None

    def __repr__(self) -> str:
        return f"CCL(rank={self._world.get_rank()}, num_ranks={self._world.get_num_ranks()})"

    def all_reduce(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        op: Any = None,
        group: Any = None,
        async_op: bool = False,
        config: Any = None,
        workspace: Any = None,
    ) -> Any:
        """The sum (or `op`) of all ranks' tensors, on all ranks. Returns `workspace`, which is not needed."""
        name = _name(op)
        self._of(group, output_tensor, input_tensor).all_reduce(input_tensor, name, out=output_tensor)
        self._end(async_op)
        return workspace

    def all_reduce_preamble(
        self, output_tensor: Tensor, input_tensor: Tensor, config: Any = None, workspace: Any = None
    ) -> Any:
        """Nothing has to be prepared: returns `workspace`."""
        return workspace

    def all_gather(
        self, output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False, config: Any = None
    ) -> None:
        """All ranks' tensors of shape (M, N), as (ranks * M, N)."""
        self._of(group, output_tensor, input_tensor).all_gather(input_tensor, out=output_tensor)
        self._end(async_op)

    def all_to_all(
        self, output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False, config: Any = None
    ) -> None:
        """Columns of (M, N * ranks): N of them go to each rank, and come from each."""
        comm = self._of(group, output_tensor, input_tensor)
        ranks = comm.get_num_ranks()
        if input_tensor.ndim != 2 or input_tensor.shape[1] % ranks or output_tensor.shape != input_tensor.shape:
            shapes = f"{tuple(input_tensor.shape)} and {tuple(output_tensor.shape)}"
            raise UnsupportedError(f"all_to_all takes two tensors of one shape, (M, N * {ranks}), not {shapes}")
        rows = input_tensor.shape[0]
        parts = input_tensor.view(rows, ranks, -1).transpose(0, 1).contiguous()
        came = comm.all_to_all(parts, out=torch().empty_like(parts))
        output_tensor.copy_(came.transpose(0, 1).reshape(output_tensor.shape))
        self._end(async_op)

    def reduce_scatter(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        op: Any = None,
        group: Any = None,
        async_op: bool = False,
        config: Any = None,
    ) -> None:
        """The sum (or `op`) of all ranks' tensors: all of it into an output of the input's shape, where Iris fills the
        tiles that the configuration gives to a rank; into a smaller one this rank's part.
        """
        name, comm = _name(op), self._of(group, output_tensor, input_tensor)
        if output_tensor.shape == input_tensor.shape:
            comm.all_reduce(input_tensor, name, out=output_tensor)
        else:
            comm.reduce_scatter(input_tensor, name, out=output_tensor)
        self._end(async_op)

    def _of(self, group, output_tensor, input_tensor):
        """The communicator of a group, once the tensors of a call are known to be some."""
        for name, tensor in (("output_tensor", output_tensor), ("input_tensor", input_tensor)):
            if not isinstance(tensor, torch().Tensor):
                raise ArgumentError(f"ccl: {name} must be a tensor, not {text_of(tensor)}")
        if group is not None and _size(group) != self._world.get_num_ranks():
            raise UnsupportedError("symm.iris has collectives of all ranks only: leave out group")
        if self._comm is None:
            try:
                self._comm = Communicator(self._world)
            except StagingError as error:
                ranks, size = self._world.get_num_ranks(), self._world.heap_size
                message = f"ccl: a heap of {size} bytes is too small for collectives of {ranks} ranks: "
                mend = f"give iris.iris(heap_size=…) {error.heap_size} bytes or more"
                raise StagingError(message + mend) from None
        return self._comm

    def _end(self, async_op):
        if not async_op:
            self._world.barrier()


def _size(group):
    """How many ranks a group of torch.distributed has."""
    try:
        return len(torch().distributed.get_process_group_ranks(group))
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        message = f"ccl: group must be one of torch.distributed's, not {text_of(group)}: leave it out"
        raise UnsupportedError(message) from None


def _name(op):
    """symm's name of an operation of Iris' or torch's."""
    name = "sum" if op is None else getattr(op, "value", None)
    if name not in OPS:
        name = str(op).rpartition(".")[2].lower().replace("product", "prod")
    if name not in OPS:
        raise UnsupportedError(f"ccl: op must be one of {', '.join(each.name for each in ReduceOp)}, not {text_of(op)}")
    return name
