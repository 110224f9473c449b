"""Iris' tiles and tensor views for Triton kernels, and what its context does with them.

A tensor view is a matrix with strides, a tile a block of it: its place, its size and, in a `Tile`, its values.
"""

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import triton
import triton.language as tl
from triton.language import core
from triton.runtime.interpreter import interpreter_semantic
from triton.runtime.jit import JITCallable

from .._carrier import op, shown
from .._operands import describe, is_block, shape_of
from ._aggregates import described, refused

if TYPE_CHECKING:
    from typing import TypeAlias

    # A value of the kernel, and a constant.
    Value: TypeAlias = core.tensor | int
    Constant: TypeAlias = core.constexpr | int

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def _method(function: Function) -> Function:
    """A function of a kernel as a method of an aggregate, which takes no other ones.

    What Triton's interpreter runs instead of a function of a kernel is none to it.
    """
    made: Any = triton.jit(function)
    if isinstance(made, JITCallable):
        return made

    @functools.wraps(function)
    def interpreted(*args: Any, **keywords: Any) -> Any:
        return made(*args, **keywords)

    return interpreted  # type: ignore[return-value]


def _aggregate(cls: Class) -> Class:
    """Makes a class of fields and methods an aggregate of Triton, constructed from its fields."""
    kinds = dict(cls.__annotations__)

    def init(self, *values, _semantic=None, **named):
        given = dict(zip(kinds, values, strict=False))
        if given.keys() & named.keys() or (given | named).keys() != kinds.keys() or len(values) > len(kinds):
            raise refused(f"{cls.__name__} takes {', '.join(kinds)}")
        given |= named
        for name, kind in kinds.items():
            setattr(self, name, _field(self, name, given[name], kind, _semantic or interpreter_semantic))

    # Triton hashes what a kernel refers to: this is hashed with the version of symm.
    init.__triton_builtin__ = True
    cls.__init__ = init
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in kinds]
    made = shown(core._aggregate(cls), parameters)
    made.__repr__ = described(*kinds)
    return made


def _field(made, name, value, kind, semantic):
    """A field of an aggregate, `made` as far as the fields before it: a constant, or a value of the kernel."""
    value, what = core._unwrap_if_constexpr(value), f"{type(made).__name__}: {name}"
    if kind is core.constexpr:
        if not isinstance(value, int):
            raise refused(f"{what} must be a tl.constexpr, as Iris demands, not {describe(value)}")
        if value < 1 or value & (value - 1):
            raise refused(f"{what} must be a power of two, not {value}")
        return core.constexpr(value)
    if name == "data" and isinstance(value, float):
        value = semantic.to_tensor(value)
    if not isinstance(value, (core.tensor, int)):
        raise refused(f"{what} must be a value of the kernel, not {describe(value)}")
    value = semantic.to_tensor(value)
    if name == "data":
        return _values(made, value, semantic)
    is_right = value.type.is_ptr() if name == "ptr" else value.type.is_int()
    if not is_right:
        raise refused(f"{what} must be {'a pointer' if name == 'ptr' else 'an integer'}, not {describe(value)}")
    return value


def _values(tile, data, semantic):
    """The values of a tile, one for each of its places: of a scalar that one."""
    shape = [tile.block_m.value, tile.block_n.value]
    if is_block(data) and shape_of(data) != shape or data.type.scalar.is_ptr():
        raise refused(f"Tile: data must be a block of shape {shape}, (block_m, block_n), not {describe(data)}")
    return data if is_block(data) else semantic.broadcast_impl_shape(data, shape)


@triton.jit
def _inside(rows, columns, M, N):
    return (rows[:, None] < M) & (columns[None, :] < N)


@_aggregate
class TileView:
    """The place and size of a block of a matrix: `TileView(pid_m, pid_n, BLOCK_M, BLOCK_N)`."""

    pid_m: core.tensor
    pid_n: core.tensor
    block_m: core.constexpr
    block_n: core.constexpr

    if TYPE_CHECKING:

        def __init__(self, pid_m: Value, pid_n: Value, block_m: Constant, block_n: Constant) -> None: ...

    @_method
    def indices(self) -> tuple[core.tensor, core.tensor]:
        rows = self.pid_m * self.block_m + tl.arange(0, self.block_m)
        return rows, self.pid_n * self.block_n + tl.arange(0, self.block_n)

    @_method
    def layout(self, M: "Value", N: "Value") -> tuple[core.tensor, core.tensor, core.tensor]:
        rows, columns = self.indices()
        return rows, columns, _inside(rows, columns, M, N)


@_aggregate
class Tile:
    """A block of a matrix with its values: `Tile(pid_m, pid_n, BLOCK_M, BLOCK_N, data)`."""

    pid_m: core.tensor
    pid_n: core.tensor
    block_m: core.constexpr
    block_n: core.constexpr
    data: core.tensor

    if TYPE_CHECKING:

        def __init__(self, pid_m: Value, pid_n: Value, block_m: Constant, block_n: Constant, data: Value) -> None: ...

    @_method
    def indices(self) -> tuple[core.tensor, core.tensor]:
        rows = self.pid_m * self.block_m + tl.arange(0, self.block_m)
        return rows, self.pid_n * self.block_n + tl.arange(0, self.block_n)

    @_method
    def layout(self, M: "Value", N: "Value") -> tuple[core.tensor, core.tensor, core.tensor]:
        rows, columns = self.indices()
        return rows, columns, _inside(rows, columns, M, N)


@_aggregate
class TensorView:
    """A matrix in memory: `make_tensor_view(pointer, M, N, stride_m, stride_n)`."""

    ptr: core.tensor
    M: core.tensor
    N: core.tensor
    stride_m: core.tensor
    stride_n: core.tensor

    if TYPE_CHECKING:

        def __init__(self, ptr: core.tensor, M: Value, N: Value, stride_m: Value, stride_n: Value) -> None: ...

    @_method
    def tile_ptr_from_indices(
        self, rows: core.tensor, columns: core.tensor, block_m: "Constant | None" = None,
        block_n: "Constant | None" = None,
    ) -> tuple[core.tensor, core.tensor]:  # fmt: skip
        offsets = rows.to(tl.int64)[:, None] * self.stride_m + columns.to(tl.int64)[None, :] * self.stride_n
        return self.ptr + offsets, _inside(rows, columns, self.M, self.N)

    @_method
    def tile_ptr(self, tile: "Tile | TileView") -> tuple[core.tensor, core.tensor]:
        rows, columns = tile.indices()
        return self.tile_ptr_from_indices(rows, columns)

    @_method
    def offset_tile_ptr(
        self, tile: "Tile | TileView", offset_m: "Value" = 0, offset_n: "Value" = 0,
        src_mask: core.tensor | None = None,
    ) -> tuple[core.tensor, core.tensor]:  # fmt: skip
        rows, columns = tile.indices()
        pointers, mask = self.tile_ptr_from_indices(rows + offset_m, columns + offset_n)
        if src_mask is not None:
            mask = mask & src_mask
        return pointers, mask

    @_method
    def offset(self, offset_m: "Value" = 0, offset_n: "Value" = 0) -> "TensorView":
        pointer = self.ptr + offset_m * self.stride_m.to(tl.int64) + offset_n * self.stride_n.to(tl.int64)
        return TensorView(pointer, self.M, self.N, self.stride_m, self.stride_n)

    @_method
    def number_of_tiles(self, block_m: "Value", block_n: "Value") -> core.tensor:
        return tl.cdiv(self.M, block_m) * tl.cdiv(self.N, block_n)


@triton.jit
def make_tensor_view(ptr, M, N, stride_m, stride_n):
    """The view of a matrix in memory; strides are in elements."""
    return TensorView(ptr, M, N, stride_m, stride_n)


@triton.jit
def _number(view, tile):
    """The number of a tile, row by row: that of its lock."""
    return tile.pid_m * tl.cdiv(view.N, tile.block_n) + tile.pid_n


@triton.jit
def _sum(ctx, tile, src_view, lock, generation):
    """The tiles of all ranks: mine from registers, the others' when their locks have the number."""
    pointers, mask = src_view.tile_ptr(tile)
    wide: tl.constexpr = tl.float32 if tile.data.dtype.primitive_bitwidth == 16 else tile.data.dtype
    total = tile.data.to(wide)
    for rank in range(ctx.world_size):
        if rank != ctx.rank:
            while ctx.atomic_add(lock, 0, rank, sem="acquire", scope="sys") != generation:
                pass
            total += ctx.load(pointers, rank, mask=mask, other=0).to(wide)
    return total.to(tile.data.dtype)


@triton.jit
def _gather(ctx, tile, src_view, source_rank):
    pointers, mask = src_view.tile_ptr(tile)
    return ctx.load(pointers, source_rank, mask=mask, other=0)


@triton.jit
def _all_gather(ctx, tile, dst_view, dim: tl.constexpr):
    # What is past the end of my part is the next rank's.
    if dim == 0:
        part = dst_view.M // ctx.world_size
        _, _, mine = tile.layout(part, dst_view.N)
        pointers, mask = dst_view.offset_tile_ptr(tile, ctx.rank * part, 0, mine)
    else:
        part = dst_view.N // ctx.world_size
        _, _, mine = tile.layout(dst_view.M, part)
        pointers, mask = dst_view.offset_tile_ptr(tile, 0, ctx.rank * part, mine)
    for rank in range(ctx.world_size):
        ctx.store(pointers, tile.data, rank, mask=mask)


@triton.jit
def _all_reduce_atomic(ctx, tile, dst_view):
    pointers, mask = dst_view.tile_ptr(tile)
    for rank in range(ctx.world_size):
        ctx.atomic_add(pointers, tile.data, rank, mask=mask)


@triton.jit
def _all_reduce_one_shot(ctx, tile, src_view, dst_view, locks, generation):
    total = _sum(ctx, tile, src_view, locks + _number(dst_view, tile), generation)
    pointers, mask = dst_view.tile_ptr(tile)
    tl.store(pointers, total, mask=mask)


@triton.jit
def _all_reduce_two_shot(ctx, tile, src_view, dst_view, locks, generation):
    number = _number(dst_view, tile)
    if number % ctx.world_size == ctx.rank:
        total = _sum(ctx, tile, src_view, locks + number, generation)
        pointers, mask = dst_view.tile_ptr(tile)
        for rank in range(ctx.world_size):
            ctx.store(pointers, total, rank, mask=mask)


@triton.jit
def _reduce_scatter(ctx, tile, src_view, dst_view, locks):
    number = _number(dst_view, tile)
    count = dst_view.number_of_tiles(tile.block_m, tile.block_n)
    first = ctx.rank * (count // ctx.world_size)
    last = first + count // ctx.world_size
    if ctx.rank == ctx.world_size - 1:
        last = count
    if (number >= first) & (number < last):
        total = _sum(ctx, tile, src_view, locks + number, 1)
        pointers, mask = dst_view.tile_ptr(tile)
        tl.store(pointers, total, mask=mask)


def _check(tile, kinds=(Tile,), generation=1, **views):
    """Errors for wrong arguments, where the kernel calls a method, by the names that Iris has for them."""
    if not isinstance(tile, kinds):
        raise TypeError(f"tile must be a {' or a '.join(kind.__name__ for kind in kinds)}, not {_said(tile)}")
    for name, view in views.items():
        if not isinstance(view, TensorView):
            raise TypeError(f"{name} must be a TensorView, which make_tensor_view makes, not {_said(view)}")
    generation = core._unwrap_if_constexpr(generation)
    is_value = isinstance(generation, core.tensor) and generation.type.is_int()
    if not is_value and (not isinstance(generation, int) or isinstance(generation, bool)):
        raise TypeError(f"generation must be an integer, not {describe(generation)}")


def _check_locks(emit, locks, generation=1):
    """An error for what are no locks, or a number that they do not hold."""
    locks = emit.pointer(locks, "locks", written=True, scalar=True)
    if locks.type.element_ty not in (core.int32, core.uint32, core.int64, core.uint64):
        raise TypeError(f"locks must point to int32, uint32, int64 or uint64, not to {locks.type.element_ty}")
    emit.exact(generation, locks, "generation")


def _said(value):
    """What a wrong argument is: of an aggregate its type."""
    return f"a {type(value).__name__}" if isinstance(value, (Tile, TileView, TensorView)) else describe(value)


def _call(emit, function, *arguments):
    """What a function of a kernel returns, compiled where its caller is, or interpreted."""
    generator = getattr(emit, "generator", None)
    return function(*arguments) if generator is None else generator.call_JitFunction(function, list(arguments), {})


class Tiles:
    """What a context does with tiles. Locks are flags, one of each tile, that a rank sets to `generation` by an atomic
    that releases, when its tile is in `src_view`.
    """

    @op
    def gather(emit, ctx, tile, src_view, source_rank, hint=None):
        """The values of a tile of `source_rank`'s `src_view`; 0 past its ends. `tile` is a Tile or a TileView."""
        _check(tile, (Tile, TileView), src_view=src_view)
        emit.rank(source_rank, "source_rank")
        return _call(emit, _gather, ctx, tile, src_view, source_rank)

    @op
    def all_gather(emit, ctx, tile, dst_view, dim):
        """Stores my tile in every rank's `dst_view`, whose rows (`dim` 0) or columns (1) are the ranks' in turn."""
        _check(tile, dst_view=dst_view)
        dim = core._unwrap_if_constexpr(dim)
        if not isinstance(dim, int) or isinstance(dim, bool) or dim not in (0, 1):
            raise ValueError(f"dim must be 0 or 1, not {describe(dim)}")
        _call(emit, _all_gather, ctx, tile, dst_view, core.constexpr(dim))

    @op
    def all_reduce_atomic(emit, ctx, tile, dst_view):
        """Adds my tile to every rank's `dst_view`, by atomics."""
        _check(tile, dst_view=dst_view)
        _call(emit, _all_reduce_atomic, ctx, tile, dst_view)

    @op
    def all_reduce_one_shot(emit, ctx, tile, src_view, dst_view, locks, generation=1):
        """Stores the sum of all ranks' tiles in my `dst_view`: every rank loads the others' from `src_view`."""
        _check(tile, src_view=src_view, dst_view=dst_view, generation=generation)
        _check_locks(emit, locks, generation)
        _call(emit, _all_reduce_one_shot, ctx, tile, src_view, dst_view, locks, generation)

    @op
    def all_reduce_two_shot(emit, ctx, tile, src_view, dst_view, locks, generation=1):
        """Stores the sum of all ranks' tiles in every rank's `dst_view`: each tile is one rank's to sum."""
        _check(tile, src_view=src_view, dst_view=dst_view, generation=generation)
        _check_locks(emit, locks, generation)
        _call(emit, _all_reduce_two_shot, ctx, tile, src_view, dst_view, locks, generation)

    @op
    def reduce_scatter(emit, ctx, tile, src_view, dst_view, locks):
        """Stores the sum of all ranks' tiles in my `dst_view`, if the tile is mine: each rank has as many in turn."""
        _check(tile, src_view=src_view, dst_view=dst_view)
        _check_locks(emit, locks)
        _call(emit, _reduce_scatter, ctx, tile, src_view, dst_view, locks)


METHODS = {name: member for name, member in vars(Tiles).items() if not name.startswith("__")}
