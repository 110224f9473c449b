"""Collectives on torch tensors, written on the ops of `symm.triton`.

`comm = symm.comm.Communicator(world)`, then `comm.all_reduce(tensor)` and so on.
"""

# First what says that Triton is missing.
from .. import _need_triton  # noqa: F401
from .communicator import Communicator

__all__ = ["Communicator"]
