"""Element types: what sums are made in, and which operations there are."""

import functools

from triton import language as tl

from .._memory import torch
from ..errors import ArgumentError, DtypeError

OPS = ("sum", "avg", "min", "max", "prod")
# What does one of them.
SUMS = ("all_reduce", "reduce_scatter", "reduce")
# What has a root.
ROOTED = ("broadcast", "reduce", "gather", "scatter")
# Booleans are bytes of 0 and 1.
OF_BOOLEANS = {"sum": "max", "max": "max", "prod": "min", "min": "min"}


@functools.cache
def accumulators():
    """What the elements of a type are summed in."""
    wide = {torch().float64: tl.float64, torch().int64: tl.int64}
    names = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
    floats = {getattr(torch(), name): tl.float32 for name in names}
    integers = {getattr(torch(), name): tl.int32 for name in ("int32", "int16", "int8", "uint8")}
    return {**wide, **floats, **integers}


@functools.cache
def words():
    """Integers of 8, 4, 2 and 1 bytes: data that are only moved are moved as these."""
    return {8: torch().int64, 4: torch().int32, 2: torch().int16, 1: torch().uint8}


def reduction(call, dtype, op):
    """The elements that an operation is done on, its name in the kernels, and what it is done in."""
    if not isinstance(op, str) or op not in OPS:
        raise ArgumentError(f"{call}: op must be one of {', '.join(map(repr, OPS))}, not {op!r}")
    if dtype == torch().bool and op in OF_BOOLEANS:
        return torch().uint8, OF_BOOLEANS[op], tl.int32
    accumulator = accumulators().get(dtype)
    if accumulator is None or (op == "avg" and not dtype.is_floating_point):
        kinds = ", ".join(str(each).removeprefix("torch.") for each in accumulators())
        floats = "averages are of floats; " if op == "avg" else ""
        raise DtypeError(f"{call}: there is no {op} of {dtype}: {floats}sums and so on are of {kinds} and bool")
    return dtype, op, accumulator
