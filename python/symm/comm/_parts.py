"""A context of parts: the heap bases, and this rank's number as a number of the launch.

What a kernel sends first need not wait until the number has been loaded from the context table, and then the base that
it says.
"""

from triton.language import core as tl

# `triton` installs the compiler of the ops.
from .. import _floats, _ops, _packets, _signals, triton  # noqa: F401
from .._context import Ops


def _parts(**more):
    """Makes a class a Triton aggregate with the methods of a device context, of the parts and `more` fields."""

    def make(cls):
        every = (*_ops.__all__, *_signals.__all__, *_packets.__all__, *_floats.__all__)
        names = [name for name in every if name not in ("rank", "num_ranks")]
        fields = {"heap_bases": tl.tensor, "rank_here": tl.tensor, **more}
        members = {name: vars(Ops)[name] for name in names}
        members |= {"__init__": cls.__init__, "__annotations__": fields, "__module__": cls.__module__,
                    "__doc__": cls.__doc__}  # fmt: skip
        return tl._aggregate(type(cls.__name__, (), members))

    return make


@_parts()
class Parts:
    """`DeviceContext` of the pointer to the heap bases, and the rank whose heap pointers point into."""

    def __init__(self, heap_bases, rank_here, _semantic=None, _generator=None):
        self.heap_bases, self.rank_here = heap_bases, rank_here

    __init__.__triton_builtin__ = True


@_parts(deadline=tl.tensor, tag=tl.constexpr)
class WatchedParts:
    """`Parts` whose waits have a deadline, as those of `Watched` have."""

    def __init__(self, heap_bases, rank_here, deadline, tag, _semantic=None, _generator=None):
        self.heap_bases, self.rank_here, self.deadline = heap_bases, rank_here, deadline
        self.tag = tl.constexpr(tl._unwrap_if_constexpr(tag))

    __init__.__triton_builtin__ = True
