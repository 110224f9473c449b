"""The ops for kernels: one implementation for Triton and Gluon.

Each is called as `op(ctx, …)` with a device context, or as its method: `ctx.op(…)`. They check and cast their
arguments; the compiler does everything else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate

from triton.language import core as tl

from ._arguments import (
    EvictionPolicy,
    FenceOrder,
    Group,
    LoadCache,
    Order,
    Scope,
    StoreCache,
    elements,
    group_of,
    load_cache,
    order_of,
    pair,
    same_elements,
)
from ._carrier import Emitter, Parameters, Result, op
from ._operands import choice, flag

if TYPE_CHECKING:
    from ._arguments import Context, Mask, Number, Rank, Ranks

__all__ = [
    "rank", "num_ranks", "is_near", "as_remote", "load", "store", "get", "put", "copy", "atomic_add", "atomic_sub",
    "atomic_and", "atomic_or", "atomic_xor", "atomic_min", "atomic_max", "atomic_xchg", "atomic_cas", "fence",
    "barrier",
]  # fmt: skip


@op
def rank(emit: Emitter, ctx: Context) -> tl.tensor:
    """The number of this rank, from 0 (int32)."""
    return emit.call("rank", {"ctx": emit.context(ctx)}, result=tl.int32)


@op
def num_ranks(emit: Emitter, ctx: Context) -> tl.tensor:
    """The number of ranks (int32)."""
    return emit.call("num_ranks", {"ctx": emit.context(ctx)}, result=tl.int32)


@op
def is_near(emit: Emitter, ctx: Context, rank: Rank) -> tl.tensor:
    """Whether the heap of `rank` is mapped here (int1): always, without an engine.

    In the interpreter a rank that does not exist is an error.
    """
    return emit.call("is_near", {"ctx": emit.context(ctx), "rank": emit.rank(rank)}, result=tl.int1)


@op
def as_remote(emit: Emitter, ctx: Context, ptr: tl.tensor, rank: Ranks) -> tl.tensor:
    """The same object on the heap of `rank`: a pointer or block of pointers like `ptr`.

    `ptr` points into this rank's heap. The result keeps its alignment and contiguity, and is used with `tl.load`,
    `tl.store` and so on. `rank` may be a block, as for `load`.
    """
    pointer = emit.pointer(ptr)
    operands = {"ctx": emit.context(ctx), "ptr": pointer, "rank": emit.ranks(rank, pointer)}
    remote = emit.call("as_remote", operands, result=operands["ptr"].type)
    return remote if remote.type == ptr.type else emit.semantic.cast(remote, ptr.type)


@op
def load(
    emit: Emitter,
    ctx: Context,
    ptr: tl.tensor,
    rank: Ranks,
    mask: Mask = None,
    other: Number | None = None,
    cache_modifier: LoadCache = "",
    volatile: bool = False,
    eviction_policy: EvictionPolicy = "",
) -> tl.tensor:
    """Loads from `ptr` of `rank`: a value or a block, with the elements that `ptr` points to.

    Where `mask` is False nothing is read, and the result is `other`, or undefined without it. `cache_modifier` is
    "", ".ca", ".cg" or ".cv"; `eviction_policy` is "", "evict_first" or "evict_last", which cannot be combined with
    ".ca", ".cg" or `volatile`. It is a plain access: `wait`, `fence` and the atomics order it.
    `rank` is one for all elements, or a block: one for each element.
    """
    pointer = emit.pointer(ptr)
    operands = {
        "ctx": emit.context(ctx),
        "ptr": pointer,
        "rank": emit.ranks(rank, pointer),
        "mask": emit.mask(mask, pointer),
        "other": emit.other(other, pointer, mask),
    }
    attributes = {
        "cache": choice(cache_modifier, "cache_modifier", LoadCache),
        "eviction": choice(eviction_policy, "eviction_policy", EvictionPolicy),
        "volatile": flag(volatile, "volatile"),
    }
    if attributes["eviction"] and (attributes["cache"] in ("ca", "cg") or attributes["volatile"]):
        raise TypeError("eviction_policy cannot be combined with '.ca', '.cg' or volatile")
    return same_elements(emit, emit.call("remote_load", operands, attributes, elements(pointer)), ptr)


@op
def store(
    emit: Emitter,
    ctx: Context,
    ptr: tl.tensor,
    value: Number,
    rank: Ranks,
    mask: Mask = None,
    cache_modifier: StoreCache = "",
) -> None:
    """Stores `value`, cast to what `ptr` points to, at `ptr` of `rank`, where `mask` is True.

    `cache_modifier` is "", ".wb", ".cg", ".cs" or ".wt". `rank` may be a block, as for `load`.
    """
    pointer = emit.pointer(ptr, written=True)
    operands = {
        "ctx": emit.context(ctx),
        "value": emit.value(value, pointer),
        "ptr": pointer,
        "rank": emit.ranks(rank, pointer),
        "mask": emit.mask(mask, pointer),
    }
    emit.call("remote_store", operands, {"cache": choice(cache_modifier, "cache_modifier", StoreCache)})


@op
def get(
    emit: Emitter,
    ctx: Context,
    src: tl.tensor,
    dst: tl.tensor,
    rank: Rank,
    mask: Mask = None,
    cache_modifier: LoadCache = "",
) -> None:
    """Copies `src` of `rank` to the local `dst`, element by element, where `mask` is True."""
    src, dst = pair(emit, src, dst)
    operands = {"src": src, "dst": dst, "rank": emit.rank(rank), "mask": emit.mask(mask, src)}
    emit.call("get", {"ctx": emit.context(ctx), **operands}, load_cache(cache_modifier))


@op
def put(
    emit: Emitter,
    ctx: Context,
    src: tl.tensor,
    dst: tl.tensor,
    rank: Rank,
    mask: Mask = None,
    cache_modifier: LoadCache = "",
) -> None:
    """Copies the local `src` to `dst` of `rank`, element by element, where `mask` is True."""
    src, dst = pair(emit, src, dst)
    operands = {"src": src, "dst": dst, "rank": emit.rank(rank), "mask": emit.mask(mask, src)}
    emit.call("put", {"ctx": emit.context(ctx), **operands}, load_cache(cache_modifier))


@op
def copy(
    emit: Emitter,
    ctx: Context,
    src: tl.tensor,
    dst: tl.tensor,
    from_rank: Rank,
    to_rank: Rank,
    mask: Mask = None,
    cache_modifier: LoadCache = "",
) -> None:
    """Copies `src` of `from_rank` to `dst` of `to_rank`, element by element, where `mask` is True.

    Both, one or neither may be the current rank.
    """
    src, dst = pair(emit, src, dst)
    operands = {
        "ctx": emit.context(ctx),
        "src": src,
        "from": emit.rank(from_rank, "from_rank"),
        "dst": dst,
        "to": emit.rank(to_rank, "to_rank"),
        "mask": emit.mask(mask, src),
    }
    emit.call("copy", operands, load_cache(cache_modifier))


def _kinds(
    function: Callable[Concatenate[Any, str, Parameters], Result],
) -> Callable[[str, str], Callable[Parameters, Result]]:
    """Makes `function(emit, kind, ctx, …)` a maker of ops, from their kind and the beginning of their docstring."""

    def make(kind: str, what: str) -> Callable[Parameters, Result]:
        def of_kind(emit: Any, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            return function(emit, kind, *args, **kwargs)

        emit, _, *parameters = inspect.signature(function).parameters.values()
        of_kind.__signature__ = inspect.Signature([emit, *parameters])  # type: ignore[attr-defined]
        of_kind.__name__ = of_kind.__qualname__ = f"{function.__name__}_{kind}"
        of_kind.__doc__ = f"{what} {function.__doc__}"
        return op(of_kind)

    return make


@_kinds
def atomic(
    emit: Emitter,
    kind: str,
    ctx: Context,
    ptr: tl.tensor,
    value: Number,
    rank: Ranks,
    mask: Mask = None,
    sem: Order | None = None,
    scope: Scope | None = None,
) -> tl.tensor:
    """at `ptr` of `rank`, atomically; returns the old value.

    Elements are int32, uint32, int64 or uint64; also float32 and float64, except for and, or and xor; for add and sub
    also float16 and bfloat16. Where `mask` is False nothing happens and the result is undefined. `sem` is "relaxed",
    "acquire", "release" or "acq_rel" (default); `scope` is "sys" (default): a narrower one is widened, with a warning.
    `rank` may be a block, as for `load`.
    """
    pointer = emit.pointer(ptr, written=True)
    element = pointer.type.scalar.element_ty
    floating = element.is_floating()
    width = element.primitive_bitwidth
    if kind in ("and", "or", "xor") and floating:
        raise TypeError(f"atomic_{kind} is for integers, but ptr points to {element}")
    if (width < 32 and not floating) or width < 16 or (width < 32 and kind not in ("add", "sub")):
        raise TypeError(f"there is no atomic_{kind} of {element}")
    value = emit.value(value, pointer)
    if floating and kind == "sub":
        value = emit.negative(value)
    if floating and kind in ("add", "sub"):
        kind = "fadd"
    if element.is_int_unsigned() and kind in ("min", "max"):
        kind = "u" + kind
    operands = {
        "ctx": emit.context(ctx),
        "ptr": pointer,
        "value": value,
        "rank": emit.ranks(rank, pointer),
        "mask": emit.mask(mask, pointer),
    }
    operands["deadline"], more = emit.polling(ctx)
    return emit.call("atomic_rmw", operands, {"kind": kind, **order_of(sem, scope), **more}, value.type)


atomic_add = atomic("add", "Adds `value`")
atomic_sub = atomic("sub", "Subtracts `value`")
atomic_and = atomic("and", "Ands with `value`, bit by bit,")
atomic_or = atomic("or", "Ors with `value`, bit by bit,")
atomic_xor = atomic("xor", "Xors with `value`, bit by bit,")
atomic_min = atomic("min", "Stores the smaller of the value and `value`")
atomic_max = atomic("max", "Stores the larger of the value and `value`")
atomic_xchg = atomic("xchg", "Stores `value`")


@op
def atomic_cas(
    emit: Emitter,
    ctx: Context,
    ptr: tl.tensor,
    expected: Number,
    desired: Number,
    rank: Ranks,
    sem: Order | None = None,
    scope: Scope | None = None,
) -> tl.tensor:
    """Stores `desired` at `ptr` of `rank` if its value is `expected`, bit for bit; returns the old value.

    Elements have 32 or 64 bits, integers also 16. `rank`, `sem` and `scope` are as for the other atomics. It has no
    mask. With Triton 3.6 for AMD it does not compile.
    """
    pointer = emit.pointer(ptr, written=True)
    element = pointer.type.scalar.element_ty
    if element.primitive_bitwidth not in (32, 64) and not (element.is_int() and element.primitive_bitwidth == 16):
        raise TypeError(f"there is no atomic_cas of {element}")
    expected = emit.value(expected, pointer, "expected")
    operands = {
        "ctx": emit.context(ctx),
        "ptr": pointer,
        "expected": expected,
        "desired": emit.value(desired, pointer, "desired"),
        "rank": emit.ranks(rank, pointer),
    }
    operands["deadline"], more = emit.polling(ctx)
    return emit.call("atomic_cas", operands, {**order_of(sem, scope), **more}, expected.type)


@op
def fence(
    emit: Emitter, ctx: Context, sem: FenceOrder | None = None, scope: Scope | None = None, group: Group = "block"
) -> None:
    """Orders this program's memory accesses before it against those after it.

    `sem` is "acquire", "release" or "acq_rel" (default). `scope` is "sys" (default), "gpu" or "cta". Unlike for other
    ops, a narrower one is not widened: such a fence orders nothing for another GPU.
    """
    context = emit.context(ctx)
    if emit.is_watched(ctx):
        # A loop that polls by Triton's atomics finds the kernel's context by an op that has one, and this may be all.
        emit.call("rank", {"ctx": context}, result=tl.int32)
    emit.call("fence", {}, {**order_of(sem, scope, FenceOrder), **group_of(group)})


@op
def barrier(emit: Emitter, ctx: Context, group: Group = "block", timeout: float | None = None) -> None:
    """Waits until the program with this number of every rank has arrived; each then sees what any of them wrote before.

    Every rank launches the same grid, with no more programs than symm has flags for: each takes 8 bytes × (ranks + 1)
    of the first 2 MiB of the heap, so 29,069 programs fit with 8 ranks. A larger grid fails an assertion.
    `timeout` is as for `wait`.
    """
    deadline, attributes = emit.deadline(ctx, timeout)
    emit.call("barrier", {"ctx": emit.context(ctx), "deadline": deadline}, {**attributes, **group_of(group)})
