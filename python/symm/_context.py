"""The device context, as a value in kernels."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, TypeVar

from triton.language import core as tl
from triton.runtime.interpreter import TensorHandle

from . import _carrier, _flags, _floats, _interpreter, _ops, _packets, _signals
from ._operands import Operands
from .errors import SymmError

Class = TypeVar("Class", bound=type)


class Ops:
    """Who this rank is and where every rank's heap lies.

    Construct it in a kernel from the World that is the kernel's argument, or the context table; or pass that itself as
    `ctx`. Every op is a method: `ctx.load(ptr, rank)` is `load(ctx, ptr, rank)`.
    """

    if TYPE_CHECKING:

        def __init__(self, table: tl.tensor) -> None: ...

    else:

        def __init__(self, *given, _semantic=None, _generator=None, **named):
            try:
                if (len(given), *named) not in ((1,), (0, "table")):
                    what = "the World or context table that is an argument of the kernel"
                    raise TypeError(f"it takes one argument, {what}")
                self.table = Operands(_semantic).context(*given, *named.values())
            except TypeError as error:
                name = type(self).__name__
                if _generator is None and not _interpreter.in_kernel():
                    raise SymmError(f"symm {name} is for kernels: make it in a function with @triton.jit or @gluon.jit")
                message = f"symm {name}: {error}"
                located = _interpreter.located(message) if _generator is None else _carrier.located(message, _generator)
                raise located from error

        # Triton hashes what a kernel refers to: this is hashed with the version of symm.
        __init__.__triton_builtin__ = True

    rank = _ops.rank
    num_ranks = _ops.num_ranks
    is_near = _ops.is_near
    as_remote = _ops.as_remote
    load = _ops.load
    store = _ops.store
    get = _ops.get
    put = _ops.put
    copy = _ops.copy
    atomic_add = _ops.atomic_add
    atomic_sub = _ops.atomic_sub
    atomic_and = _ops.atomic_and
    atomic_or = _ops.atomic_or
    atomic_xor = _ops.atomic_xor
    atomic_min = _ops.atomic_min
    atomic_max = _ops.atomic_max
    atomic_xchg = _ops.atomic_xchg
    atomic_cas = _ops.atomic_cas
    signal = _signals.signal
    wait = _signals.wait
    put_signal = _signals.put_signal
    store_signal = _signals.store_signal
    fence = _ops.fence
    barrier = _ops.barrier
    test = _flags.test
    signal_all = _flags.signal_all
    wait_all = _flags.wait_all
    wait_any = _flags.wait_any
    put_packet = _packets.put_packet
    wait_packet = _packets.wait_packet
    try_packet = _packets.try_packet
    put_floats = _floats.put_floats
    wait_floats = _floats.wait_floats
    try_floats = _floats.try_floats
    clear_floats = _floats.clear_floats


class Watched(Ops):
    """A context whose waits have a deadline: they leave when it is over, as if what they wait for had come.

    `deadline` points to its record (int64, eight words), and `tag`, a number above 0, is what the record says of the
    wait that has left first. `symm.comm` makes records, and looks at them.
    """

    if TYPE_CHECKING:

        def __init__(self, table: tl.tensor, deadline: tl.tensor, tag: tl.constexpr) -> None: ...

    else:

        def __init__(self, table, deadline, tag, _semantic=None, _generator=None):
            Ops.__init__(self, table, _semantic=_semantic, _generator=_generator)
            self.deadline = deadline
            self.tag = tl.constexpr(tl._unwrap_if_constexpr(tag))

        __init__.__triton_builtin__ = True


def device_context(cls: Class) -> Class:
    """Makes a class derived from `Ops` a Triton aggregate, which has no base classes."""
    ops = [*_ops.__all__, *_signals.__all__, *_flags.__all__, *_packets.__all__, *_floats.__all__]
    members = {name: member for name, member in vars(Ops).items() if name in ops}
    fields = {"table": tl.tensor}
    if issubclass(cls, Watched):
        fields |= {"deadline": tl.tensor, "tag": tl.constexpr}
    members |= {"__init__": cls.__init__, "__annotations__": fields}
    members |= {"__module__": cls.__module__, "__doc__": cls.__mro__[1].__doc__}
    made = tl._aggregate(type(cls.__name__, (), members))
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in fields]
    made.__repr__ = described
    return _carrier.shown(made, parameters)


def described(context):
    """What a context is, for messages and `print` in an interpreted kernel."""
    name, table = type(context).__name__, context.table
    if not isinstance(table.handle, TensorHandle):
        return f"{name}({table.type})"
    rank, num_ranks, *_ = _interpreter.table({"ctx": table.handle})
    return f"{name}(rank={rank}, num_ranks={num_ranks})"
