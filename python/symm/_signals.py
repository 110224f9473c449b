"""Signals and waits: ops on one flag, and on the flags of several ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton.language import core as tl

from ._arguments import (
    Comparison,
    Group,
    LoadCache,
    Scope,
    SignalKind,
    SignalOrder,
    StoreCache,
    WaitOrder,
    flag_operands,
    group_of,
    load_cache,
    order_of,
    pair,
)
from ._carrier import Emitter, op
from ._operands import choice, is_block
from ._ops import store

if TYPE_CHECKING:
    from ._arguments import Context, Mask, Number, Rank, Ranks

__all__ = ["signal", "wait", "put_signal", "store_signal"]


@op
def signal(
    emit: Emitter,
    ctx: Context,
    flag: tl.tensor,
    value: int | tl.tensor,
    rank: Ranks,
    op: SignalKind = "set",
    sem: SignalOrder | None = None,
    scope: Scope | None = None,
    group: Group = "block",
    mask: Mask = None,
) -> None:
    """Sets the flag of `rank` to `value`, or adds `value` to it (`op="add"`).

    `flag` is a pointer to an int32, uint32, int64 or uint64; `value` is an integer that fits in it. Every earlier write
    of this program is visible to whoever waits for the signal, on any rank. `sem` is "release" (default) or "relaxed".

    `rank` may be a block: all these ranks are signalled at once, except those where `mask` is False. `flag` and `value`
    may then be blocks too, with one element for each rank.
    """
    kind, order = choice(op, "op", SignalKind) or "set", order_of(sem, scope, SignalOrder)
    group, mask = group_of(group), tl._unwrap_if_constexpr(mask)
    if is_block(rank):
        return _signal_each(emit, ctx, (flag, value, rank, mask), kind, order)
    if mask is not None:
        raise TypeError("mask is for a block of ranks: put a signal to one rank under an if")
    flag, value = flag_operands(emit, flag, value, written=True)
    operands = {"ctx": emit.context(ctx), "flag": flag, "value": value, "rank": emit.rank(rank)}
    emit.call("signal", operands, {"kind": kind, **order, **group})


@op
def wait(
    emit: Emitter,
    ctx: Context,
    flag: tl.tensor,
    value: int | tl.tensor,
    compare: Comparison = "ge",
    sem: WaitOrder | None = None,
    scope: Scope | None = None,
    group: Group = "block",
    timeout: float | None = None,
) -> tl.tensor:
    """Waits until the local flag satisfies a comparison with `value`: "eq", "ne", "lt", "le", "gt" or "ge" (default).

    `flag` is a pointer as in `signal`; its type says whether the comparison is signed. What was written before the
    signal is visible after the wait. `sem` is "acquire" (default) or "relaxed".

    After `timeout` seconds, a constant above 0, the wait gives up: see `World.timeout`. By default it has the World's
    time-out; with math.inf, none.

    Returns the flag's value, which may have changed since the wait ended. It is read by an atomic, and only if the
    result is used.
    """
    flag, value = flag_operands(emit, flag, value)
    comparison = choice(compare, "compare", Comparison) or "ge"
    attributes = {"comparison": comparison, "unsigned": flag.type.element_ty.is_int_unsigned()}
    attributes |= {**order_of(sem, scope, WaitOrder), **group_of(group)}
    deadline, more = emit.deadline(ctx, timeout)
    attributes |= more
    operands = {"ctx": emit.context(ctx), "flag": flag, "value": value, "deadline": deadline}
    emit.call("wait", operands, attributes)
    return emit.seen(ctx, flag, order_of(sem, scope, WaitOrder)) if emit.is_used() else None


@op
def put_signal(
    emit: Emitter,
    ctx: Context,
    src: tl.tensor,
    dst: tl.tensor,
    flag: tl.tensor,
    value: int | tl.tensor,
    rank: Rank,
    op: SignalKind = "set",
    mask: Mask = None,
    cache_modifier: LoadCache = "",
    scope: Scope | None = None,
    group: Group = "block",
) -> None:
    """`put`, then a release `signal`, both to `rank`: whoever waits for the signal sees the data."""
    src, dst = pair(emit, src, dst)
    flag, value = flag_operands(emit, flag, value, written=True)
    operands = {
        "ctx": emit.context(ctx),
        "src": src,
        "dst": dst,
        "flag": flag,
        "value": value,
        "rank": emit.rank(rank),
        "mask": emit.mask(mask, src),
    }
    kind = choice(op, "op", SignalKind) or "set"
    attributes = {"kind": kind, **load_cache(cache_modifier), **order_of(None, scope), **group_of(group)}
    emit.call("put_signal", operands, attributes)


@op
def store_signal(
    emit: Emitter,
    ctx: Context,
    ptr: tl.tensor,
    value: Number,
    flag: tl.tensor,
    flag_value: int | tl.tensor,
    rank: Rank,
    op: SignalKind = "set",
    mask: Mask = None,
    cache_modifier: StoreCache = "",
    scope: Scope | None = None,
    group: Group = "block",
) -> None:
    """`store` of `value` from registers, then a release `signal` of `flag_value`, both to `rank`."""
    rank = emit.rank(rank)
    flag_operands(emit, flag, flag_value, written=True, name="flag_value")
    store.__wrapped__(emit, ctx, ptr, value, rank, mask, cache_modifier)
    signal.__wrapped__(emit, ctx, flag, flag_value, rank, op, None, scope, group)


def _signal_each(emit, ctx, asked, kind, order):
    """Signals to a block of ranks: atomics whose results are not used."""
    flag, value, ranks, mask = asked
    flag = emit.pointer(flag, "flag", written=True)
    if not flag.type.is_block() or flag.type.numel < ranks.type.numel:
        flag, _ = emit.together(flag, ranks, "flag", "rank")
    flag, value = flag_operands(emit, flag, value, written=True, scalar=False)
    operands = {
        "ctx": emit.context(ctx),
        "ptr": flag,
        "value": value,
        "rank": emit.ranks(ranks, flag),
        "mask": emit.mask(mask, flag),
    }
    order |= {"sem": order["sem"] or "release", "is_signal": order["sem"] == "relaxed"}
    emit.call("atomic_rmw", operands, {"kind": "add" if kind == "add" else "xchg", **order}, value.type)
