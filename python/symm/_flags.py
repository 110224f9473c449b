"""Ops on flags that are made of other ops: a test that does not wait, and several ranks or flags at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from triton.language import core as tl

from ._arguments import (
    Comparison,
    Group,
    Scope,
    SignalKind,
    SignalOrder,
    WaitOrder,
    flag_operands,
    group_of,
    order_of,
)
from ._carrier import Emitter, op
from ._operands import choice, describe

if TYPE_CHECKING:
    from ._arguments import Context, Mask

__all__ = ["test", "signal_all", "wait_all", "wait_any"]


@op
def test(
    emit: Emitter,
    ctx: Context,
    flag: tl.tensor,
    value: int | tl.tensor,
    compare: Comparison = "ge",
    sem: WaitOrder | None = None,
    scope: Scope | None = None,
) -> tl.tensor:
    """Whether the local flag satisfies a comparison with `value` now: a boolean, without waiting.

    The arguments are those of `wait`. If it is True, what was written before the signal is visible after it, as after a
    `wait`. Instead of a loop that only tests use `wait`, which polls without atomics.
    """
    flag, value = flag_operands(emit, flag, value)
    asked = choice(compare, "compare", Comparison) or "ge", value
    seen = emit.seen(ctx, flag, order_of(sem, scope, WaitOrder), deadline=emit.polling(ctx), asked=asked)
    return _holds(emit, seen, value, compare)


@op
def signal_all(
    emit: Emitter,
    ctx: Context,
    flag: tl.tensor,
    value: int | tl.tensor,
    op: SignalKind = "set",
    sem: SignalOrder | None = None,
    scope: Scope | None = None,
    group: Group = "block",
) -> None:
    """`signal` to every rank, this one too, beginning with the next one around the ring, with a single fence."""
    flag, value = flag_operands(emit, flag, value, written=True)
    kind = choice(op, "op", SignalKind) or "set"
    attributes = {"kind": kind, **order_of(sem, scope, SignalOrder), **group_of(group)}
    context = emit.context(ctx)
    me, ranks = (emit.call(name, {"ctx": context}, result=tl.int32) for name in ("rank", "num_ranks"))

    def send(index):
        ahead = emit.semantic.add(emit.semantic.add(me, index, True), emit.semantic.to_tensor(1), True)
        operands = {"ctx": context, "flag": flag, "value": value, "rank": emit.semantic.mod(ahead, ranks)}
        emit.call("signal", operands, attributes)

    emit.times(ranks, send)


@op
def wait_all(
    emit: Emitter,
    ctx: Context,
    flags: tl.tensor,
    value: int | tl.tensor,
    compare: Comparison = "ge",
    mask: Mask = None,
    sem: WaitOrder | None = None,
    scope: Scope | None = None,
    timeout: float | None = None,
) -> tl.tensor:
    """Waits until each of the local flags satisfies a comparison with `value`; returns a block of the values seen.

    `flags` is a block of pointers, to flags as in `signal`; `value` is an integer, or a block of them. All flags are
    polled together, each with an atomic. Where `mask` is False a flag is not polled, and its value is undefined.
    `timeout` is that of `wait`: the error names the first flag that is missing.
    """
    return _wait(emit, ctx, (flags, value, compare, mask, timeout), order_of(sem, scope, WaitOrder), every=True)


@op
def wait_any(
    emit: Emitter,
    ctx: Context,
    flags: tl.tensor,
    value: int | tl.tensor,
    compare: Comparison = "ge",
    mask: Mask = None,
    sem: WaitOrder | None = None,
    scope: Scope | None = None,
    timeout: float | None = None,
) -> tl.tensor:
    """Waits until one of the local flags satisfies a comparison with `value`; returns a block of the values seen.

    The arguments are those of `wait_all`; compare the result with `value` to see which flags do. `mask` is True for one
    flag at least: otherwise a compiled kernel waits forever, or until its time-out; in the interpreter it is an error.
    """
    return _wait(emit, ctx, (flags, value, compare, mask, timeout), order_of(sem, scope, WaitOrder), every=False)


class Waited(NamedTuple):
    """What a wait for several flags waits for. `missing`, of what it has found, says which flags are not there; `any`:
    one of them is enough; `deadline` is its record and the attributes that go with it; `mask` may be None.
    """

    flags: tl.tensor
    value: tl.tensor
    comparison: str
    any: bool
    missing: Callable
    deadline: tuple
    mask: Any


def _wait(emit, ctx, asked, order, every):
    flags, value, compare, mask, timeout = asked
    if getattr(ctx, "deadline", None) is not None:
        raise TypeError("waits for several flags have no deadline: use wait for each, or another context")
    if not isinstance(flags, tl.tensor) or not flags.type.is_block():
        raise TypeError(f"flags must be a block of pointers, not {describe(flags)}: for one flag use wait")
    flags, value = flag_operands(emit, flags, value, scalar=False)
    if tl._unwrap_if_constexpr(mask) is False and not every:
        raise ValueError("mask is False everywhere: no flag could end this wait")
    mask, deadline = emit.mask(mask, flags), emit.deadline(ctx, timeout)

    def look():
        values = emit.seen(ctx, flags, order | {"is_wait": order["sem"] == "relaxed"}, mask, deadline)
        holds = _holds(emit, values, value, compare)
        if mask is not None:
            left_out = emit.semantic.invert(mask)
            holds = emit.semantic.or_(holds, left_out) if every else emit.semantic.and_(holds, mask)
        return values, emit.reduced(holds, every)

    def missing(values):
        is_missing = emit.semantic.invert(_holds(emit, values, value, compare))
        return is_missing if mask is None else emit.semantic.and_(is_missing, mask)

    comparison = choice(compare, "compare", Comparison) or "ge"
    waited = Waited(flags, value, comparison, not every, missing, deadline, mask)
    return emit.until(look, flags.type.with_element_ty(flags.type.scalar.element_ty), ctx, waited)


def _holds(emit, seen, value, compare):
    comparison = choice(compare, "compare", Comparison) or "ge"
    names = {"eq": "equal", "ne": "not_equal", "lt": "less_than", "le": "less_equal", "gt": "greater_than"}
    return getattr(emit.semantic, names.get(comparison, "greater_equal"))(seen, value)
