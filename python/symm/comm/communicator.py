"""Collectives on torch tensors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .._memory import text_of, torch
from .._places import rank_in
from .._agreement import grouped
from .._world import World
from ..errors import ArgumentError, CallMismatchError, ClosedError, DtypeError
from ._alone import copy, move_rows
from ._calls import Calls
from ._check import capturing, compare, counted, wrong_counts
from ._deadline import seconds_of
from ._geometry import geometry_in
from ._hierarchy import Deadlines, Hierarchy, Recoveries, checked, domain_of, reach_of
from ._launch import called
from ._recovery import recovery_of
from ._table import compare as compare_tables
from ._table import table_for
from ._types import ROOTED, SUMS, reduction
from .transport import asked as asks

if TYPE_CHECKING:
    from torch import Tensor


class Communicator:
    """Collectives of all ranks of a World, or of some of them (`split`). Making one is collective.

    Every rank makes the same calls in the same order, with tensors of one size and dtype. Calls run in the order of
    torch's current stream, without waiting on the host. They can be captured in CUDA graphs, which can be replayed any
    number of times, between other calls. Results are the same on all ranks, bit for bit, and from call to call: sums
    are made in the order of the ranks, in float32 for smaller floats.

    `blocks` is the largest number of blocks (multiprocessors) of a call; `staging` is the number of bytes of the heap
    that the communicator takes, and is the same on all ranks. The defaults are 128 blocks and 108 MiB for each rank, of
    two ranks 136 MiB, or a quarter of the heap if that is less. Ranks that make different calls, or calls with tensors
    of different sizes or dtypes, wait for each other until `timeout`, or get garbage. With `check` or SYMM_COMM_CHECK=1
    they get a CallMismatchError instead; each call then waits on the host. The algorithm and the grid of a call come
    from the table that SYMM_COMM_TABLE names, or from the device's table that comes with symm.

    `timeout` is the time in seconds that a call may wait for another rank on the device: by default SYMM_TIMEOUT of the
    environment, or 300; `math.inf` is forever. After that the call ends without a result, the communicator is broken,
    and all ranks' next calls raise CollectiveTimeoutError, until all have called `recover`. AMD GPUs have no time-out.

    With `domain`, every `domain` consecutive ranks form a domain: rank r is in domain r // domain. Ranks of other
    domains are reached by puts and signals only, and no kernel loads from them. All calls but `all_to_all_v` use a
    hierarchy where the model expects that to be faster: in steps within each domain and between domains. Smaller floats
    are then rounded after the sums of each step. Such a communicator takes `staging` three times, by default a
    quarter of the heap at most. Without `domain`, ranks that are near each other are one; without an engine, all are.

    Tensors may be anywhere on the device, with any strides and any number of elements. Calls raise ArgumentError and
    DtypeError for invalid arguments, RankRangeError for a rank that does not exist, ClosedError after `close`.
    """

    def __init__(
        self,
        world: World,
        *,
        blocks: int | None = None,
        staging: int | None = None,
        check: bool | None = None,
        timeout: float | None = None,
        domain: int | None = None,
    ):
        if not isinstance(world, World):
            raise ArgumentError(f"Communicator: world must be what symm.init returns, not {world!r}")
        if not world.is_open():
            raise ClosedError("Communicator: this World has been closed, or this process was forked from a rank's")
        everybody = tuple(range(world.get_num_ranks()))
        self._join(world, everybody, [len(everybody)], blocks, staging, check, timeout, domain)

    def _join(self, world, members, sizes, blocks, staging, check, timeout, domain=None, is_split=False):
        """Makes this the communicator of `members`. All ranks of the world are here, in groups of these sizes."""
        if blocks is not None and (not _is_int(blocks) or not 1 <= blocks <= 1024):
            raise ArgumentError(f"Communicator: blocks must be a number from 1 to 1024, not {blocks!r}")
        if staging is not None and (not _is_int(staging) or staging < 0):
            raise ArgumentError(f"Communicator: staging must be a number of bytes, not {staging!r}")
        seconds, asked = seconds_of(timeout, world.device), checked(domain, len(members))
        # The blocks of a call wait for each other's ranks, so all of them have to run at once.
        most_blocks = None if world.device.type == "cpu" else world.get_cu_count()

        self._rank, self._check, self._count = members.index(world.get_rank()), asks(check, "Communicator"), 0
        self._device, self._size, table = world.device, len(members), table_for(world.device)
        reaches = compare_tables(world, table, asked, self._check, reach_of(world, members, self._rank))
        domain = domain_of([reaches[member] for member in members], asked, is_split)
        first, place = self._rank - self._rank % domain, self._rank % domain
        numbers = [range(len(members))]
        if 1 < domain < len(members):
            numbers += [numbers[0][first : first + domain], numbers[0][place::domain]]

        def geometry(size):
            return geometry_in(world, size, len(numbers), most_blocks, blocks, staging)

        def calls_of(part, sizes, far):
            mine, ranks = geometry(len(part)), tuple(members[number] for number in part)
            mine.place(world.zeros(max(geometry(size).bytes for size in sizes), dtype=torch().uint8))
            return Calls(world, mine, part.index(self._rank), ranks, seconds, table, far, part)

        self.world, self._members, self._settings = world, members, (blocks, staging, check, timeout)
        self._calls = calls_of(numbers[0], sizes, domain < len(members))
        self._deadline, self._recovery, self._hierarchy = self._calls.deadline, recovery_of(self._calls), None
        if len(numbers) > 1:
            inner, outer = (calls_of(part, [len(part)], far) for part, far in zip(numbers[1:], (False, True)))
            self._hierarchy = Hierarchy(self._calls, inner, outer)
            self._deadline = Deadlines(self._hierarchy)
            each = [self._recovery, recovery_of(inner), recovery_of(outer)]
            self._recovery = Recoveries(each, self._deadline)
        # Nobody signals a rank whose flags are not there yet.
        world.barrier()

    def get_rank(self) -> int:
        """The number of this rank in the communicator, from 0."""
        return self._rank

    def get_num_ranks(self) -> int:
        """The number of ranks of the communicator."""
        return self._size

    def split(self, color: int | None, key: int | None = None) -> Communicator | None:
        """A communicator of the ranks that give the same color, in the order of `key`, then of their numbers.

        A rank that gives None as `color` is in none, and gets None. A communicator made by a split can be split again.

        Collective over all ranks of the world, like every call that takes memory of the heap: each rank splits its own
        communicator; a rank without one splits that of all ranks, with None.
        """
        self._usable()
        mine, groups = grouped(self.world, self._members, self._rank, color, key, "Communicator.split")
        made = Communicator.__new__(Communicator)
        made._join(self.world, groups[mine], [len(ranks) for ranks in groups.values()], *self._settings, is_split=True)
        return None if color is None else made

    def check(self) -> None:
        """Waits on the host until this rank's calls are done, and raises CollectiveTimeoutError if one of them, or of
        another rank's so far, has waited too long. Results are right when this returns.
        """
        self._open()
        self._deadline.synchronize()

    def recover(self) -> None:
        """Makes a communicator usable again after a call has timed out. Collective over its ranks.

        It waits on the host for all of them, for as long as a call does: then it raises CollectiveTimeoutError, and may
        be called again. Calls that did not finish stay unfinished. Graphs that were captured before can be replayed.
        """
        self._open()
        self._recovery.run()

    def close(self) -> None:
        """Frees the communicator's part of the heap; its calls then raise ClosedError. A second call does nothing."""
        self._calls = self._recovery = self._deadline = self._hierarchy = None

    # Collectives.

    def all_reduce(self, tensor: Tensor, op: str = "sum", *, out: Tensor | None = None) -> Tensor:
        """The sum (or `op`) of all ranks' tensors, on all ranks: in `out`, or else in `tensor` itself.

        `op` is "sum", "avg", "min", "max" or "prod". Averages are of floats; sums and products of booleans are "or"
        and "and".
        """
        out = tensor if out is None else out
        return self._do("all_reduce", tensor, out, 1, 1, op)

    def reduce_scatter(self, tensor: Tensor, op: str = "sum", *, out: Tensor | None = None) -> Tensor:
        """The sum (or `op`) over all ranks of part r of `tensor`, on rank r.

        The first dimension is a multiple of the number of ranks, or `out` gives the shape of a part.
        """
        return self._do("reduce_scatter", tensor, out, self._size, 1, op)

    def all_gather(self, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
        """All ranks' tensors, one after the other along the first dimension, on all ranks."""
        return self._do("all_gather", tensor, out, 1, self._size)

    def all_to_all(self, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Part r of `tensor` goes to rank r; part r of the result comes from rank r.

        There are as many parts as ranks, along the first dimension, which is a multiple of their number.
        """
        return self._do("all_to_all", tensor, out, self._size, self._size)

    def all_to_all_v(self, tensor: Tensor, counts: Tensor, out: Tensor) -> Tensor:
        """All-to-all with a number of rows for each rank, on the device: the host neither knows it nor waits for it.

        Rows are the first dimension. `counts` (int32 or int64, one for each rank) says how many rows of `tensor` go to
        each rank, one rank's after the other's. `out` gets the rows of all ranks, in the order of the ranks; rows that
        do not fit are dropped. Returns how many rows each rank sent, dropped ones included, int64 on the device.

        A count below 0 is taken as 0, and rows after the last one of `tensor` are not sent. With `check` both are an
        ArgumentError, and the other ranks get a CallMismatchError.
        """
        call = "all_to_all_v"
        self._usable()
        source = self._tensor(call, tensor, "tensor")
        counts = self._tensor(call, counts, "counts").view(-1)
        if counts.dtype not in (torch().int32, torch().int64) or counts.numel() != self._size:
            what = f"{counts.numel()} of {counts.dtype}"
            raise ArgumentError(f"{call}: counts must be {self._size} numbers, int32 or int64, not {what}")
        self._tensor(call, out, "out")
        if not out.is_contiguous():
            raise ArgumentError(f"{call}: out must be contiguous")
        likewise = source.ndim == out.ndim and source.shape[1:] == out.shape[1:] and source.dtype == out.dtype
        if not source.ndim or not likewise:
            of, there = f"{tuple(source.shape)} of {source.dtype}", f"{tuple(out.shape)} of {out.dtype}"
            raise ArgumentError(f"{call}: the rows of out must be like those of the tensor: {there}, not {of}")
        rows, row = source.shape[0], math.prod(source.shape[1:])
        if self._check:
            self._compare_counts(call, counts, rows, row, source.dtype)
        if self._size == 1:
            room = min(rows, out.shape[0])
            if row and room:
                move_rows(source, counts, out, room)
            return counted(counts, rows)
        came = torch().empty(self._size, dtype=torch().int64, device=self._device)
        with called(f"Communicator.{call}", self._device):
            if row:
                self._calls.ragged(source, row, counts, out, came)
            else:
                self._calls.run("all_to_all", None, counted(counts, rows), came, 1)
        self._deadline.check()
        return came

    def broadcast(self, tensor: Tensor, root: int = 0) -> Tensor:
        """Rank `root`'s tensor, in `tensor` of all ranks."""
        return self._do("broadcast", tensor, tensor, 1, 1, root=root)

    def reduce(
        self, tensor: Tensor, root: int = 0, op: str = "sum", *, out: Tensor | None = None
    ) -> Tensor | None:
        """The sum (or `op`) of all ranks' tensors on rank `root`, in `out` or else in `tensor`; None on the others."""
        out = tensor if out is None else out
        return self._do("reduce", tensor, out, 1, 1, op, root)

    def gather(self, tensor: Tensor, root: int = 0, *, out: Tensor | None = None) -> Tensor | None:
        """All ranks' tensors, one after the other along the first dimension, on rank `root`; None on the others."""
        return self._do("gather", tensor, out, 1, self._size, root=root)

    def scatter(self, tensor: Tensor | None, root: int = 0, *, out: Tensor | None = None) -> Tensor:
        """Part r of rank `root`'s tensor, on rank r. There are as many parts as ranks, along the first dimension.

        Ranks that are not the root give `out`, and None as `tensor`.
        """
        if tensor is None:
            self._usable()
            if self._root("scatter", root) == self._rank:
                raise ArgumentError(f"scatter: rank {root} is the root, and gives the tensor whose parts are sent")
            if out is None:
                raise ArgumentError("scatter: give `out` on the ranks that are not the root")
            return self._do("scatter", out, out, 1, 1, root=root, receives=True)
        return self._do("scatter", tensor, out, self._size, 1, root=root)

    def barrier(self) -> None:
        """Later work on torch's current stream sees earlier work on all ranks' streams."""
        self._usable()
        if self._check:
            self._compare("barrier", None, 0, None, None)
        if self._size > 1:
            with called("Communicator.barrier", self._device):
                if self._hierarchy and self._hierarchy.takes("barrier", 0):
                    self._hierarchy.barrier()
                else:
                    self._calls.meet()
            self._deadline.check()

    # What all of them do.

    def _usable(self):
        self._open()
        self._deadline.check()

    def _open(self):
        if self._calls is None:
            raise ClosedError("this communicator has been closed: make another one")
        if not self.world.is_open():
            raise ClosedError("this communicator's World has been closed, or this process was forked from a rank's")

    def _do(self, call, tensor, out, parts, joined, op=None, root=None, receives=False):
        """A collective of `parts` of a tensor, into an `out` of `joined` parts."""
        self._usable()
        source = self._tensor(call, tensor, "out" if receives else "tensor")
        given = self._root(call, root) if call in ROOTED else None
        root = given or 0
        if call in SUMS:
            reduction(call, source.dtype, op)
        count = self._part_of(call, source, parts, out)
        at_root = call in ("reduce", "gather") and self._rank != root
        target = source
        if not at_root:
            target = self._out(call, out, source, count * joined, parts, joined)
        if self._check:
            self._compare(call, op, count, source.dtype, given)
        if count:
            if self._size == 1:
                copy(source, target)
            else:
                with called(f"Communicator.{call}", self._device):
                    self._launch(call, op, source, target, count, root)
                # In the interpreter the call is over.
                self._deadline.check()
        if at_root:
            return None
        if out is not None and target is not out:
            copy(target, out)
            return out
        return target

    def _launch(self, call, op, source, target, count, root):
        if self._hierarchy and self._hierarchy.takes(call, count * source.itemsize):
            self._hierarchy.run(call, op, source, target, count, root)
        elif call == "broadcast":
            self._calls.broadcast(source, root)
        else:
            self._calls.run(call, op, source, target, count, root)

    def _part_of(self, call, source, parts, out):
        """The elements of one of the equal parts of a tensor."""
        count, rest = divmod(source.numel(), parts)
        # Only the shape of `out` says what a part is where it is not some of the rows.
        of_rows = parts > 1 and (out is None or call != "reduce_scatter")
        if rest or (of_rows and (not source.ndim or source.shape[0] % parts)):
            shape = tuple(source.shape)
            of = " in its first dimension" if of_rows else ""
            raise ArgumentError(f"{call}: a tensor of shape {shape} does not have {parts} equal parts{of}, one a rank")
        return count

    def _tensor(self, call, tensor, name):
        """A tensor that is one piece of the device's memory."""
        if not isinstance(tensor, torch().Tensor):
            raise ArgumentError(f"{call}: {name} must be a tensor, not {text_of(tensor)}")
        if tensor.device != self._device:
            raise ArgumentError(f"{call}: {name} is on {tensor.device}, but the ranks' memory is on {self._device}")
        if tensor.layout is not torch().strided or tensor.is_nested:
            found = "nested" if tensor.is_nested else tensor.layout
            raise ArgumentError(f"{call}: {name} must be strided, not {found}")
        if tensor.is_quantized:
            raise DtypeError(f"{call}: {name} is quantised: give its int_repr()")
        if tensor._is_zerotensor():
            # It has no memory.
            return tensor.clone()
        if tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg():
            return tensor
        return tensor.resolve_conj().resolve_neg().contiguous()

    def _out(self, call, out, source, count, parts, joined):
        """Where the result is written first: `out`, or what is copied to it."""
        if out is None:
            shape = list(source.shape) or [1]
            shape[0] = shape[0] * joined // parts
            return torch().empty(shape, dtype=source.dtype, device=self._device)
        if not isinstance(out, torch().Tensor) or out.device != self._device:
            raise ArgumentError(f"{call}: out must be a tensor on {self._device}, not {_described(out)}")
        if out.layout is not torch().strided or out.is_nested:
            found = "nested" if out.is_nested else out.layout
            raise ArgumentError(f"{call}: out must be strided, not {found}")
        if out._is_zerotensor():
            raise ArgumentError(f"{call}: out is zeros without memory: clone() it")
        if out.dtype != source.dtype:
            raise ArgumentError(f"{call}: out has dtype {out.dtype}, and the tensor has {source.dtype}")
        if out.numel() != count:
            raise ArgumentError(f"{call}: out has {out.numel()} elements, and the result has {count}")
        if any(size > 1 and not stride for size, stride in zip(out.shape, out.stride(), strict=True)):
            raise ArgumentError(f"{call}: elements of out share memory: clone() it")
        if out.is_contiguous() and not out.is_conj() and not out.is_neg():
            return out
        if call == "broadcast":
            # The root's is what is sent.
            return source
        return torch().empty(count, dtype=source.dtype, device=self._device)

    def _root(self, call, root):
        return rank_in(root, self._size, "root", f"{call}: ")

    def _compare(self, *made):
        """An error if another rank makes another call."""
        self._count += 1
        with called(f"Communicator.{made[0]}", self._device):
            compare(self, self._calls, self._count, *made)

    def _compare_counts(self, call, counts, rows, row, dtype):
        """Likewise for `all_to_all_v`; and an error for counts that are wrong, of which the other ranks are told."""
        wrong = None if capturing(self._device) else wrong_counts(counts, rows)
        try:
            self._compare(call, None, row, dtype, None, wrong)
        except CallMismatchError:
            if wrong is None:
                raise
        if wrong is not None:
            raise ArgumentError(f"{call}: {wrong}")


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _described(value):
    return f"one on {value.device}" if isinstance(value, torch().Tensor) else repr(value)
