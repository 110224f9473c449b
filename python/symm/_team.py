"""Teams: some of a World's ranks, with numbers, barriers and time-outs of their own.

A team's context table has the addresses of the team's pad on each rank's heap in place of the heaps' own addresses.
Distances are the same, so translation works as in the World; the words for barriers and time-outs, which are at the
start of a heap, are at the start of the pad. With an engine the table also has its ranks' reaches, which hold their
numbers in the World: those are the engine's.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

from . import _bounds, _timeouts
from ._agreement import check_lists, grouped, listed, told
from ._context_argument import Argument
from ._memory import Memory, integer, integer_of, text_of, torch
from ._open import point, rank_text, teams
from ._places import rank_in, table_of_team
from ._public import public
from ._streams import Streams, checked
from ._symm import RESERVED_BYTES, TABLE_OFFSET
from ._torch_ranks import ranks_of_torch
from .errors import ArgumentError, ClosedError, RankRangeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor
    from torch import device as Device
    from torch.cuda import Stream
    from torch.distributed import ProcessGroup
    from torch.distributed.device_mesh import DeviceMesh

    from ._world import World

# A page for the host's barriers.
MEETINGS = 4096


class Splits:
    """The methods of a World and a Team that make teams."""

    def split(self, color: int | None, key: int | None = None) -> Team | None:
        """The team of the ranks that give the same color, in the order of `key`, then of their numbers.

        A rank that gives None as `color` is in no team, and gets None. A team can be split again. Collective over all
        ranks of the World: each splits its own team; a rank without a team splits the World, with None.
        """
        world, members = self._place()
        mine, groups = grouped(world, members, self.get_rank(), color, key)
        made = Team._of(world, groups[mine])
        return None if color is None else made

    def team(self, ranks: Sequence[int] | ProcessGroup | DeviceMesh) -> Team:
        """The team of these ranks, by their numbers here, in this order. The caller is one of them.

        `ranks` may be a group of torch.distributed, or a DeviceMesh of one dimension, such as `mesh["tp"]`, if the
        World's ranks are those of torch.distributed.

        Collective over all ranks of the World: each gives its own new team, in the same order as that team's other
        ranks, or all ranks get a MismatchError. Use `split` if some ranks are in no team.
        """
        world, members = self._place()
        refused, chosen = None, None
        try:
            chosen = tuple(members[rank] for rank in self._checked(ranks))
        except (ArgumentError, RankRangeError) as error:
            refused = error
        said = told(world, "World.team", (chosen, str(refused)))
        if refused is not None:
            raise refused
        for rank, ((theirs, what), where) in enumerate(said):
            if theirs is None:
                of = "" if self is world else " of the World"
                raise ArgumentError(f"team: rank {rank}{of} gave a list that cannot be a team: {what} (at {where})")
        check_lists([(theirs, where) for (theirs, _), where in said])
        return Team._of(world, chosen)

    def _checked(self, ranks):
        """The ranks of a team, as its caller gave them."""
        if (of_torch := ranks_of_torch(ranks, self._place()[0])) is not None:
            members = self._place()[1]
            ranks = [members.index(rank) if rank in members else -1 for rank in of_torch]
        # Their order is that of the team, which a set does not have.
        is_listed = not isinstance(ranks, (Set, Mapping, str, bytes))
        try:
            chosen = [integer(rank) for rank in ranks] if is_listed else [None]
        except TypeError:
            chosen = [None]
        if None in chosen:
            raise ArgumentError(f"team: ranks must be a list of integers, not {text_of(ranks)}")
        chosen = [rank_in(rank, self.get_num_ranks(), call="team: ", team=self) for rank in chosen]
        if len(set(chosen)) < len(chosen):
            twice = next(rank for number, rank in enumerate(chosen) if rank in chosen[:number])
            raise ArgumentError(f"team: {listed(chosen)} has a rank twice: {rank_text(self, twice)}")
        if self.get_rank() not in chosen:
            mine = rank_text(self, self.get_rank()).removeprefix("rank ")
            missing = f"{listed(chosen)} does not hold this rank, {mine}"
            raise ArgumentError(f"team: {missing}: give the team that it is in, or call split")
        return chosen


@public
class Team(Splits, Streams, Argument, _timeouts.Timed):
    """Some of a World's ranks, numbered from 0 in their order: what `World.team` and `World.split` give.

    Like a World it is an argument of kernels, and there the context of ops, with the team's numbers; tensors are the
    World's. Its barriers are for its ranks only, some of which may be far. It takes 2 MiB of every heap, until it is
    gone on all ranks. Time-outs are those that the World had when the team was made, until `timeout` sets others.
    """

    def __init__(self, *_: object, **__: object):
        raise ArgumentError("symm.Team is what a World makes: call world.team([0, 1]), or world.split(color)")

    @staticmethod
    def _of(world: World, members: tuple[int, ...]) -> Team:
        """The team of these ranks of a World, in this order; this rank is one of them."""
        team = Team.__new__(Team)
        team._make(world, members)
        return team

    def _make(self, world: World, members: tuple[int, ...]) -> None:
        self.world, self.members, self.device, self._rank = world, members, world.device, world._rank
        self._memory = world._allocate(RESERVED_BYTES + MEETINGS, "World.team", 8)
        self._offset = self._memory.address - world.bases[world.get_rank()]
        self.bases = [world.bases[rank] + self._offset for rank in members]
        self._number = members.index(world.get_rank())
        table = table_of_team(world, self._number, members, self.bases)
        memory = Memory(self.data_ptr(), 8 * len(table), self._memory).tensor(self.device, torch().int64, (len(table),))
        memory.copy_(torch().tensor(table, dtype=torch().int64))
        self._timeouts = _timeouts.Timeouts(self, world._timeouts.seconds)
        teams.add(self)
        if world.records_at:
            point(self, world.records_at)
        _bounds.tell(world)

    def __reduce__(self):
        raise ArgumentError("a Team cannot be pickled or copied: pass the Team itself, or numbers and tensors")

    def __repr__(self) -> str:
        if not self.is_open():
            return f"Team(closed, members={list(self.members)})"
        return f"Team(rank={self._number}, num_ranks={len(self.members)}, members={list(self.members)})"

    def data_ptr(self):
        return self._memory.address + TABLE_OFFSET

    def _place(self):
        self._usable()
        return self.world, self.members

    def _usable(self):
        if not self.is_open():
            raise ClosedError("this Team's World is closed: make a team of another one, by symm.init")

    def is_open(self):
        """Whether this process is a rank of the run."""
        return self.world.is_open()

    def get_rank(self) -> int:
        """The number of this rank in the team, from 0."""
        self._usable()
        return self._number

    def get_num_ranks(self) -> int:
        """The number of ranks of the team."""
        self._usable()
        return len(self.members)

    def get_members(self) -> tuple[int, ...]:
        """The numbers of the team's ranks in the World."""
        self._usable()
        return self.members

    def is_near(self, rank: int) -> bool:
        """`World.is_near`, for a rank of the team."""
        return self.world.is_near(self._member(rank))

    def get_device(self) -> Device:
        """The torch device of this rank's tensors."""
        return self.device

    def as_remote(self, tensor: Tensor, rank: int) -> Tensor:
        """`World.as_remote`, for a rank of the team."""
        return self.world._as_remote(tensor, self._member(rank), self)

    def _member(self, rank):
        """The number in the World of a rank of the team."""
        return self.members[rank_in(rank, len(self.members), team=self)]

    def barrier(self, stream: Stream | None = None) -> None:
        """Waits on the host until every rank of the team has arrived and its GPU, or only `stream`, is done.

        The ranks meet on the device, in a kernel.
        """
        self._usable()
        if checked(stream, "synchronize") is None:
            self.world._synchronize()
        else:
            self.world._wait_for(stream.synchronize)
        self._meet("Team.barrier")
        self.synchronize()

    def device_barrier(self, stream: Stream | None = None) -> None:
        """Waits on the device: later work on a stream sees earlier work on the streams of all ranks of the team.

        `stream` is by default torch's current one. It can be captured in a CUDA graph. All ranks call it equally often.
        """
        self._meet("Team.device_barrier", stream)

    def _meet(self, call, stream=None):
        from ._host_kernels import meet

        self._usable()
        self.check()
        meet(call, self, self._memory.address + RESERVED_BYTES, stream)

    def check(self) -> None:
        """Raises an error if another rank of the World failed, or a wait in a kernel took too long."""
        self.world.check()

    def _synchronize(self):
        self.world._synchronize()

    # What an interpreted kernel asks.

    def outside(self, addresses, rank, every=True):
        return self.world.outside(addresses, self.members[rank], every)

    def flag_at(self, offset):
        return self.world.flag_at(integer_of(offset, "flag_at: offset") + self._offset)

    def meets_at(self, offset):
        """The rank of the team whose flag for the host's barrier is at an offset; None for other places."""
        number = (offset - RESERVED_BYTES) // 8 - 1
        return number if 0 <= number < len(self.members) else None

    def tensor_at(self, offset, size):
        return self.world.tensor_at(integer_of(offset, "tensor_at: offset") + self._offset, size)
