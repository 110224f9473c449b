"""Collectives on a tensor of each rank: those of `symm.comm`, called on all workers at once."""

from .. import _symm
from ..errors import ArgumentError, RankRangeError
from ._metadata import contiguous
from ._tensor import RemoteTensor, wrap


class Ranked(list):
    """A value for each rank, rank 0 first: what `Cluster.zeros` returns, and an argument of `Cluster.run`."""


class Collectives:
    """What a cluster does with a tensor of each rank. The tensors are of one shape and dtype, each on its own worker.

    Nothing waits here. What each does is described in `symm.comm.Communicator`.
    """

    def all_reduce(self, tensors, op: str = "sum") -> Ranked:
        """The sum (or `op`) of all ranks' tensors, in each of them."""
        return self._in_place("all_reduce", tensors, op=op)

    def broadcast(self, tensors, root: int = 0) -> Ranked:
        """Rank `root`'s tensor, in each of them."""
        return self._in_place("broadcast", tensors, root=self._rank(root))

    def reduce(self, tensors, root: int = 0, op: str = "sum") -> RemoteTensor:
        """The sum (or `op`) of all ranks' tensors, in that of rank `root`, which is returned."""
        return self._in_place("reduce", tensors, root=self._rank(root), op=op)[root]

    def reduce_scatter(self, tensors, op: str = "sum") -> Ranked:
        """Of as many parts along the first dimension as there are ranks, part r of all ranks summed, on rank r."""
        return self._new("reduce_scatter", tensors, len(self), 1, op=op)

    def all_gather(self, tensors) -> Ranked:
        """All ranks' tensors, one after the other along the first dimension, on all ranks."""
        return self._new("all_gather", tensors, 1, len(self))

    def all_to_all(self, tensors) -> Ranked:
        """Part r of each tensor goes to rank r; what comes from rank r is part r of the result."""
        return self._new("all_to_all", tensors, len(self), len(self))

    def gather(self, tensors, root: int = 0) -> RemoteTensor:
        """All ranks' tensors, one after the other along the first dimension, on rank `root`."""
        return self._new("gather", tensors, 1, len(self), only=self._rank(root), root=root)[0]

    def scatter(self, tensor: RemoteTensor, root: int = 0) -> Ranked:
        """Part r of a tensor of rank `root`, on rank r."""
        own = self._workers[self._rank(root)]
        if not isinstance(tensor, RemoteTensor) or tensor._handle.worker is not own:
            raise ArgumentError(f"scatter: the tensor must be on {own.device}, rank {root}'s worker")
        like = self._part("scatter", tensor._meta, len(self), 1)
        handles = [_symm.Handle(worker) for worker in self._workers]
        line = self._ready()
        for rank, (link, handle) in enumerate(zip(self._links, handles, strict=True)):
            # Those that get a part say of which shape.
            out = wrap(like, handle)
            link.call("aten::empty.memory_format", (list(like.shape),), {"dtype": like.dtype}, (handle.id,), line)
            link.collective("scatter", (tensor if rank == root else None,), {"root": root, "out": out}, [], line)
        return Ranked(wrap(like, handle) for handle in handles)

    def _in_place(self, name, tensors, **options):
        self._like(name, tensors)
        line = self._ready()
        for link, tensor in zip(self._links, tensors, strict=True):
            tensor._handle.worker.fresh = None
            link.collective(name, (tensor,), options, [], line)
        return Ranked(tensors)

    def _new(self, name, tensors, parts, joined, only=None, **options):
        like = self._part(name, self._like(name, tensors), parts, joined)
        line, made = self._ready(), Ranked()
        for rank, (worker, tensor) in enumerate(zip(self._workers, tensors, strict=True)):
            handle = _symm.Handle(worker) if only in (None, rank) else None
            worker.link.collective(name, (tensor,), options, [] if handle is None else [handle.id], line)
            if handle is not None:
                worker.fresh = None
                made.append(wrap(like, handle))
        return made

    def _ready(self):
        if not self._joined:
            self.join()
        return self._together()

    def _rank(self, root):
        if not isinstance(root, int):
            raise ArgumentError(f"root must be the number of a rank, not {root!r}")
        if not 0 <= root < len(self):
            raise RankRangeError(f"rank {root} out of range [0, {len(self)})")
        return root

    def _like(self, name, tensors):
        """The metadata of the first of these tensors, once each is on its own worker and like the others."""
        if not isinstance(tensors, (list, tuple)) or len(tensors) != len(self):
            raise ArgumentError(f"{name}: give a list with a tensor of each of the {len(self)} ranks")
        for rank, (worker, tensor) in enumerate(zip(self._workers, tensors, strict=True)):
            if not isinstance(tensor, RemoteTensor) or tensor._handle.worker is not worker:
                where = getattr(tensor, "device", repr(tensor))
                raise ArgumentError(f"{name}: the tensor of rank {rank} must be on {worker.device}, not {where}")
            first = tensors[0]
            if tensor.shape != first.shape or tensor.dtype != first.dtype:
                what, there = f"{tuple(tensor.shape)} of {tensor.dtype}", f"{tuple(first.shape)} of {first.dtype}"
                raise ArgumentError(
                    f"{name}: rank {rank}'s tensor is {what}, rank 0's {there}: all must have one shape and dtype"
                )
        return tensors[0]._meta

    def _part(self, name, like, parts, joined):
        """What a result of `joined` parts looks like, of tensors of `parts`."""
        shape = list(like.shape) or [1]
        if shape[0] % parts:
            raise ArgumentError(
                f"{name}: a tensor of shape {tuple(like.shape)} does not have {parts} equal parts, one for each rank"
            )
        return contiguous((shape[0] * joined // parts, *shape[1:]), like.dtype)
