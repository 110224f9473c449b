"""The device context, as a value in kernels."""

from triton.language import core as tl

from . import _carrier, _interpreter, _ops
from ._operands import Operands


def _init(self, table, _semantic=None, _generator=None):
    try:
        self.table = Operands(_semantic).context(table)
    except TypeError as error:
        message = f"symm {type(self).__name__}: {error}"
        located = _interpreter.located(message) if _generator is None else _carrier.located(message, _generator)
        raise located from error


# Triton hashes what a kernel refers to: this is hashed with the version of symm.
_init.__triton_builtin__ = True


def device_context(name, module):
    """A class of contexts: constructed from the pointer to the context table, with every op as a method."""
    members = {method.__name__: method for method in _ops.METHODS}
    members["__annotations__"] = {"table": tl.tensor}
    members["__init__"] = _init
    members["__module__"] = module
    members["__doc__"] = """Who this rank is and where every rank's heap lies.

    Construct it in a kernel from the pointer to the context table (int64), or pass that pointer itself as `ctx`.
    Every op is a method: `ctx.load(ptr, rank)` is `load(ctx, ptr, rank)`.
    """
    return tl._aggregate(type(name, (), members))
