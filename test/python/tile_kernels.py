"""Kernels with Iris' tiles and tensor views."""

import symm.iris as iris
import triton
import triton.language as tl


@triton.jit
def tiles(
    context_tensor,
    source,
    target,
    locks,
    M,
    N,
    width,
    rank: tl.constexpr,
    world_size: tl.constexpr,
    OP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of each program; `width` is that of the target, whose rows follow each other."""
    ctx = iris.DeviceContext.initialize(context_tensor, rank, world_size)
    view = iris.make_tensor_view(source, M, N, N, 1)
    number = tl.program_id(0)
    place = iris.TileView(number // tl.cdiv(N, BLOCK_N), number % tl.cdiv(N, BLOCK_N), BLOCK_M, BLOCK_N)
    pointers, mask = view.tile_ptr(place)
    tile = iris.Tile(place.pid_m, place.pid_n, BLOCK_M, BLOCK_N, data=tl.load(pointers, mask=mask, other=0))
    there = iris.make_tensor_view(target, M, N, width, 1)
    if OP == "gather":
        pointers, mask = there.offset(0, 0).tile_ptr(place)
        tl.store(pointers, ctx.gather(place, view, (rank + 1) % world_size), mask=mask)
    elif OP == "all_gather_rows":
        ctx.all_gather(tile, iris.make_tensor_view(target, M * world_size, N, width, 1), 0)
    elif OP == "all_gather_columns":
        ctx.all_gather(tile, iris.make_tensor_view(target, M, N * world_size, width, 1), dim=1)
    elif OP == "all_reduce_atomic":
        ctx.all_reduce_atomic(tile, there)
    else:
        ctx.atomic_xchg(locks + number, 1, rank, sem="release", scope="sys")
        if OP == "all_reduce_one_shot":
            ctx.all_reduce_one_shot(tile, view, there, locks)
        elif OP == "all_reduce_two_shot":
            ctx.all_reduce_two_shot(tile, view, there, locks, generation=1)
        else:
            ctx.reduce_scatter(tile, view, there, locks)


OPS = ("gather", "all_gather_rows", "all_gather_columns", "all_reduce_atomic", "all_reduce_one_shot")
OPS += ("all_reduce_two_shot", "reduce_scatter")
