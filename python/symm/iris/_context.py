"""Iris' device contexts, one for Triton kernels and one for Gluon's."""

import functools
import inspect

from triton.language import core as tl

from .._carrier import op, shown
from .._operands import describe
from ._aggregates import described, refused
from ._ops import Methods
from ._tiles import METHODS

# The words of the context table before the bases.
HEADER_WORDS = 2


def _heap_bases(emit, table):
    return emit.semantic.add(table, emit.semantic.to_tensor(HEADER_WORDS), False)


def _table(emit, context_tensor):
    try:
        return emit.context(context_tensor)
    except TypeError:
        wanted = "what get_device_context returns, as an argument of the kernel"
        raise TypeError(f"context_tensor must be {wanted}, not {describe(context_tensor)}") from None


def _constant(value, name):
    value = tl._unwrap_if_constexpr(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be a tl.constexpr, as Iris demands")
    return tl.constexpr(value)


def _no_tracing(tracing):
    if tl._unwrap_if_constexpr(tracing):
        raise ValueError("symm.iris has no tracing: leave out tracing=True")


@functools.partial(op, name="DeviceContext.initialize")
def _initialize(emit, context_tensor, rank, world_size, tracing=False):
    """The context, from what `Iris.get_device_context` returns."""
    _no_tracing(tracing)
    table = _table(emit, context_tensor)
    rank, world_size = _constant(rank, "rank"), _constant(world_size, "world_size")
    emit.check_context(table, rank.value, world_size.value)
    return Context(rank, world_size, _heap_bases(emit, table), table)


@functools.partial(op, name="IrisDeviceCtx.initialize")
def _initialize_gluon(emit, context_tensor, tracing=False):
    """The context, from what `Iris.get_device_context` returns."""
    _no_tracing(tracing)
    table = _table(emit, context_tensor)
    rank, num_ranks = (
        emit.semantic.cast(emit.call(name, {"ctx": table}, result=tl.int32), tl.int64) for name in ("rank", "num_ranks")
    )
    return IrisDeviceCtx(rank, num_ranks, _heap_bases(emit, table), table)


def _context(name, fields, initialize, doc, more=None):
    """A class of contexts with these fields, the context table, and every op and `more` as a method."""

    def init(self, *values):
        fields = members["__annotations__"]
        if len(values) != len(fields) or not all(map(isinstance, values, fields.values())):
            raise refused(f"{name} is made by {name}.initialize, not by {name}(…)")
        for field, value in zip(fields, values, strict=True):
            setattr(self, field, value)

    # Triton hashes what a kernel refers to: this is hashed with the version of symm.
    init.__triton_builtin__ = True
    members = {key: member for key, member in vars(Methods).items() if not key.startswith("__")} | (more or {})
    members["__annotations__"] = {**fields, "heap_bases": tl.tensor, "table": tl.tensor}
    members |= {"__init__": init, "__module__": __name__, "__doc__": doc, "initialize": staticmethod(initialize)}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(field, kind) for field in members["__annotations__"]]
    made = shown(tl._aggregate(type(name, (), members)), parameters)
    made.__repr__ = described(*fields)
    return made


Context = _context(
    "Context",
    {"rank": tl.constexpr, "world_size": tl.constexpr},
    _initialize,
    """Iris' context for Triton kernels: `Context.initialize(context_tensor, rank, world_size)`.

    `rank` and `world_size` are `tl.constexpr`; `heap_bases` is what the functions of `symm.iris` take.
    """,
    METHODS,
)
DeviceContext = Context

IrisDeviceCtx = _context(
    "IrisDeviceCtx",
    {"cur_rank": tl.tensor, "num_ranks": tl.tensor},
    _initialize_gluon,
    """Iris' context for Gluon kernels: `IrisDeviceCtx.initialize(context_tensor)`.

    `cur_rank` and `num_ranks` are int64; `heap_bases` points to the bases.
    """,
)
