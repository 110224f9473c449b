"""Iris' functions for kernels, and the methods of its contexts, as symm's ops.

The functions take the heap bases, and two ranks: a pointer into the heap of the first is used on the second. A method
knows the first. `hint` is the alignment of pointers, which Iris would lose; symm keeps alignments and ignores it.
"""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, cast

from triton.language import core as tl

from .. import _ops
from .._carrier import Parameters, Result, op
from .._operands import Bases
from ..errors import NotSymmetricError, SymmError


def _op(
    **names: str,
) -> Callable[[Callable[Concatenate[Any, Parameters], Result]], Callable[Parameters, Result]]:
    """Makes a function an op whose errors call an argument what Iris calls it; `names` has symm's names for them."""

    def made(function: Callable[Concatenate[Any, Parameters], Result]) -> Callable[Parameters, Result]:
        function.__qualname__ = function.__name__

        @functools.wraps(function)
        def named(*args, **keywords):
            try:
                return function(*args, **keywords)
            except (TypeError, ValueError) as error:
                name, _, said = str(error).partition(" ")
                is_named = isinstance(error, NotSymmetricError) or not isinstance(error, SymmError)
                if not is_named or name not in names:
                    raise
                raise type(error)(f"{names[name]} {said}") from error

        return op(cast("Callable[Concatenate[Any, Parameters], Result]", named))

    return made


def _load(emit, ctx, pointer, rank, mask, other, cache, volatile):
    return _ops.load.__wrapped__(emit, ctx, pointer, rank, mask, other, cache, volatile)


def _store(emit, ctx, pointer, value, rank, mask, cache):
    _ops.store.__wrapped__(emit, ctx, pointer, value, rank, mask, cache)


def _casts(source, target, cache):
    """Whether a copy is more than symm's: between elements of two types, or with a modifier for the store."""
    elements = {each.type.scalar.element_ty for each in (source, target) if _is_pointer(each)}
    return bool(tl._unwrap_if_constexpr(cache)) or len(elements) > 1


def _is_pointer(value):
    return isinstance(value, tl.tensor) and value.type.scalar.is_ptr()


def _cache(modifier):
    """For Triton's own accesses, which know no None."""
    return tl._unwrap_if_constexpr(modifier) or ""


def _get(emit, ctx, source, target, rank, mask, load_cache, store_cache):
    if not _casts(source, target, store_cache):
        return _ops.get.__wrapped__(emit, ctx, source, target, rank, mask, load_cache)
    value = _load(emit, ctx, source, rank, mask, None, load_cache, False)
    tl.store(target, value, mask=mask, cache_modifier=_cache(store_cache), _semantic=emit.semantic)


def _put(emit, ctx, source, target, rank, mask, load_cache, store_cache):
    if not _casts(source, target, store_cache):
        return _ops.put.__wrapped__(emit, ctx, source, target, rank, mask, load_cache)
    value = tl.load(source, mask=mask, cache_modifier=_cache(load_cache), _semantic=emit.semantic)
    _store(emit, ctx, target, value, rank, mask, store_cache)


def _copy(emit, ctx, source, target, from_rank, to_rank, mask, load_cache, store_cache):
    if not _casts(source, target, store_cache):
        return _ops.copy.__wrapped__(emit, ctx, source, target, from_rank, to_rank, mask, load_cache)
    value = _load(emit, ctx, source, from_rank, mask, None, load_cache, False)
    _store(emit, ctx, target, value, to_rank, mask, store_cache)


def _no_copy_engine(copy_engine, copy_engine_ctx, use_copy_engine):
    for name, value in (("copy_engine", copy_engine), ("copy_engine_ctx", copy_engine_ctx)):
        if tl._unwrap_if_constexpr(value) is not None:
            raise ValueError(f"symm.iris has no copy engines: leave out {name}")
    if tl._unwrap_if_constexpr(use_copy_engine):
        raise ValueError("symm.iris has no copy engines: leave out use_copy_engine")


@_op(rank="from_rank", ptr="pointer")
def load(
    emit,
    pointer,
    to_rank,
    from_rank,
    heap_bases,
    mask=None,
    other=None,
    cache_modifier=None,
    volatile=False,
    hint=None,
):
    """Loads from `from_rank`. `pointer` is into the heap of `to_rank`, which is mine."""
    ctx = Bases(heap_bases, to_rank, "to_rank")
    return _load(emit, ctx, pointer, from_rank, mask, other, cache_modifier, volatile)


@_op(rank="to_rank", ptr="pointer")
def store(emit, pointer, value, from_rank, to_rank, heap_bases, mask=None, hint=None, cache_modifier=None):
    """Stores to `to_rank`. `pointer` is into the heap of `from_rank`, which is mine."""
    _store(emit, Bases(heap_bases, from_rank, "from_rank"), pointer, value, to_rank, mask, cache_modifier)


@_op(rank="to_rank", src="from_ptr", dst="to_ptr")
def get(
    emit,
    from_ptr,
    to_ptr,
    from_rank,
    to_rank,
    heap_bases,
    mask=None,
    other=None,
    load_cache_modifier=None,
    store_cache_modifier=None,
    hint=None,
):
    """Copies from `to_rank` to my `to_ptr`, as Iris does it: `from_ptr` is into the heap of `from_rank`, which is mine.

    Iris' documentation has the two ranks the other way round. What `mask` leaves out is not stored, so that `other`
    has no effect.
    """
    ctx = Bases(heap_bases, from_rank, "from_rank")
    _get(emit, ctx, from_ptr, to_ptr, to_rank, mask, load_cache_modifier, store_cache_modifier)


@_op(rank="to_rank", src="from_ptr", dst="to_ptr")
def put(
    emit,
    from_ptr,
    to_ptr,
    from_rank,
    to_rank,
    heap_bases,
    mask=None,
    other=None,
    load_cache_modifier=None,
    store_cache_modifier=None,
    hint=None,
    copy_engine=None,
    copy_engine_ctx=None,
    use_copy_engine=False,
):
    """Copies my `from_ptr` to `to_rank`. `to_ptr` is into the heap of `from_rank`, which is mine.

    `copy_engine` and `copy_engine_ctx` are Iris', and have to be None, `use_copy_engine` False.
    """
    _no_copy_engine(copy_engine, copy_engine_ctx, use_copy_engine)
    ctx = Bases(heap_bases, from_rank, "from_rank")
    _put(emit, ctx, from_ptr, to_ptr, to_rank, mask, load_cache_modifier, store_cache_modifier)


@_op(src="src_ptr", dst="dst_ptr")
def copy(
    emit,
    src_ptr,
    dst_ptr,
    from_rank,
    to_rank,
    cur_rank,
    heap_bases,
    mask=None,
    other=None,
    load_cache_modifier=None,
    store_cache_modifier=None,
    hint=None,
):
    """Copies from `from_rank` to `to_rank`; both pointers are into the heap of `cur_rank`, which is mine."""
    ctx = Bases(heap_bases, cur_rank, "cur_rank")
    _copy(emit, ctx, src_ptr, dst_ptr, from_rank, to_rank, mask, load_cache_modifier, store_cache_modifier)


def _atomic(kind):
    """The function and the method of a read-modify-write."""
    base = getattr(_ops, f"atomic_{kind}")

    def function(emit, pointer, val, from_rank, to_rank, heap_bases, mask=None, sem=None, scope=None, hint=None):
        ctx = Bases(heap_bases, from_rank, "from_rank")
        return base.__wrapped__(emit, ctx, pointer, val, to_rank, mask, sem, scope)

    def method(emit, ctx, pointer, val, to_rank, mask=None, sem=None, scope=None, hint=None):
        return base.__wrapped__(emit, ctx, pointer, val, to_rank, mask, sem, scope)

    for each in (function, method):
        each.__name__ = each.__qualname__ = base.__name__
        each.__doc__ = base.__doc__.replace("`ptr` of `rank`", "`pointer` of `to_rank`").replace("`value`", "`val`")
    named = _op(rank="to_rank", ptr="pointer", value="val")
    return named(function), named(method)


atomic_add, _add = _atomic("add")
atomic_sub, _sub = _atomic("sub")
atomic_and, _and = _atomic("and")
atomic_or, _or = _atomic("or")
atomic_xor, _xor = _atomic("xor")
atomic_min, _min = _atomic("min")
atomic_max, _max = _atomic("max")
atomic_xchg, _xchg = _atomic("xchg")


@_op(rank="to_rank", ptr="pointer", expected="cmp", desired="val")
def atomic_cas(emit, pointer, cmp, val, from_rank, to_rank, heap_bases, sem=None, scope=None, hint=None):
    """Stores `val` at `pointer` of `to_rank` if its value is `cmp`, atomically; returns the old value.

    `sem` and `scope` are as for the other atomics.
    """
    ctx = Bases(heap_bases, from_rank, "from_rank")
    return _ops.atomic_cas.__wrapped__(emit, ctx, pointer, cmp, val, to_rank, sem, scope)


class Methods:
    """What a context does: as the functions, without the heap bases and the rank that is mine."""

    @op
    def as_remote(emit, ctx, ptr, rank):
        return _ops.as_remote.__wrapped__(emit, ctx, ptr, rank)

    @_op(rank="from_rank", ptr="pointer")
    def load(emit, ctx, pointer, from_rank, mask=None, other=None, cache_modifier=None, volatile=False, hint=None):
        return _load(emit, ctx, pointer, from_rank, mask, other, cache_modifier, volatile)

    @_op(rank="to_rank", ptr="pointer")
    def store(emit, ctx, pointer, value, to_rank, mask=None, cache_modifier=None, hint=None):
        _store(emit, ctx, pointer, value, to_rank, mask, cache_modifier)

    @_op(rank="from_rank", src="from_ptr", dst="to_ptr")
    def get(
        emit,
        ctx,
        from_ptr,
        to_ptr,
        from_rank,
        mask=None,
        other=None,
        load_cache_modifier=None,
        store_cache_modifier=None,
        hint=None,
    ):
        _get(emit, ctx, from_ptr, to_ptr, from_rank, mask, load_cache_modifier, store_cache_modifier)

    @_op(rank="to_rank", src="from_ptr", dst="to_ptr")
    def put(
        emit,
        ctx,
        from_ptr,
        to_ptr,
        to_rank,
        mask=None,
        other=None,
        load_cache_modifier=None,
        store_cache_modifier=None,
        hint=None,
        copy_engine=None,
        copy_engine_ctx=None,
        use_copy_engine=False,
    ):
        _no_copy_engine(copy_engine, copy_engine_ctx, use_copy_engine)
        _put(emit, ctx, from_ptr, to_ptr, to_rank, mask, load_cache_modifier, store_cache_modifier)

    @_op(src="src_ptr", dst="dst_ptr")
    def copy(
        emit,
        ctx,
        src_ptr,
        dst_ptr,
        from_rank,
        to_rank,
        mask=None,
        other=None,
        load_cache_modifier=None,
        store_cache_modifier=None,
        hint=None,
    ):
        _copy(emit, ctx, src_ptr, dst_ptr, from_rank, to_rank, mask, load_cache_modifier, store_cache_modifier)

    @_op(rank="to_rank", ptr="pointer", expected="cmp", desired="val")
    def atomic_cas(emit, ctx, pointer, cmp, val, to_rank, sem=None, scope=None, hint=None):
        return _ops.atomic_cas.__wrapped__(emit, ctx, pointer, cmp, val, to_rank, sem, scope)

    atomic_add, atomic_sub, atomic_and, atomic_or, atomic_xor = _add, _sub, _and, _or, _xor
    atomic_min, atomic_max, atomic_xchg = _min, _max, _xchg
