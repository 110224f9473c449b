"""Right and wrong uses, for a type checker: test_types.py looks for its complaints where this file says `# wrong:`."""

import symm
import symm.gluon as sg
import symm.iris as iris
import symm.triton as st
import triton
import triton.language as tl
from symm.check import Report


@triton.jit
def ops_have_names_arguments_and_defaults(table, p, q, flag, peer, n, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    block = ctx.load(p + at, peer, mask=at < n, other=0.0, cache_modifier=".cg", volatile=True)
    st.store(ctx, q + at, block, peer)
    sg.put(table, p, q, rank=1)
    ctx.atomic_add(q, 1, peer, sem="relaxed", scope="sys")
    ctx.put_signal(p, q, flag, 1, peer, op="add", group="warp")
    ctx.wait(flag, 1, "eq")
    tl.store(q, ctx.wait(flag, 1) + tl.sum(ctx.wait_all(flag + at, 1, mask=at < n)))
    if ctx.test(flag, 1, compare="eq"):
        ctx.signal_all(flag, 2, op="add")
    ctx.load(p + at, at, eviction_policy="evict_first")
    ctx.signal(flag, 1, at, mask=at < n)
    st.store_signal(ctx, p + at, block, flag, 1, peer, op="add", mask=at < n, group="warp")
    ctx.fence()
    sg.DeviceContext(table).barrier()
    value, is_there = ctx.try_packet(q, 1)
    tl.store(q, value, mask=is_there)

    ctx.lod(p, peer)  # wrong: "DeviceContext" has no attribute "lod"
    ctx.load(p)  # wrong: Too few arguments
    st.load(p, peer)  # wrong: Missing positional argument "rank" in call to "load"
    ctx.load(p, peer, msk=at < n)  # wrong: Unexpected keyword argument "msk"
    ctx.load(p, peer, cache_modifier=".wb")  # wrong: Argument "cache_modifier" has incompatible type
    ctx.atomic_max(p, 1, peer, order="relaxed")  # wrong: Unexpected keyword argument "order"
    ctx.atomic_cas(p, 0, 1, peer, mask=at < n)  # wrong: Unexpected keyword argument "mask"
    ctx.wait(flag, 1, compare="==")  # wrong: Argument "compare" has incompatible type
    ctx.wait_any(flag, 1, sem="release")  # wrong: Argument "sem" has incompatible type
    ctx.load(p, peer, eviction_policy="first")  # wrong: Argument "eviction_policy" has incompatible type
    ctx.store_signal(p, 1, flag, 1)  # wrong: Too few arguments
    ctx.signal_all(flag, 1, rank=peer)  # wrong: Unexpected keyword argument "rank"
    st.signal(ctx, flag, 1, peer, sem="acquire")  # wrong: Argument "sem" to "signal" has incompatible type
    sg.fence(ctx, scope="world")  # wrong: Argument "scope" to "fence" has incompatible type
    st.atomic(ctx, p, 1, peer)  # wrong: Module has no attribute "atomic"
    st.DeviceCtx(table)  # wrong: Module has no attribute "DeviceCtx"
    st.DeviceContext()  # wrong: Missing positional argument "table" in call to "DeviceContext"
    st.DeviceContext(table, peer)  # wrong: Too many arguments for "DeviceContext"
    sg.DeviceContext(context=table)  # wrong: Unexpected keyword argument "context" for "DeviceContext"
    first, second, third = ctx.try_packet(q, 1)  # wrong: Need more than 2 values to unpack


@triton.jit
def so_have_those_of_iris(heap_bases, p, q, peer, B: tl.constexpr):
    at = tl.arange(0, B)
    iris.store(q + at, iris.load(p + at, 0, peer, heap_bases, other=0.0), 0, peer, heap_bases, hint=16)
    iris.copy(p, q, peer, 0, 0, heap_bases, load_cache_modifier=".cg")

    iris.load(p, 0, peer)  # wrong: Missing positional argument "heap_bases" in call to "load"
    iris.put(p, q, 0, peer, heap_bases, msk=at < 3)  # wrong: Unexpected keyword argument "msk"
    iris.all_gather(p, q)  # wrong: Module has no attribute "all_gather"


@triton.jit
def so_have_its_tiles(p, M, N, BM: tl.constexpr, BN: tl.constexpr):
    tile = iris.Tile(tl.program_id(0), 0, BM, block_n=64, data=tl.zeros((BM, 64), tl.float32))
    rows, columns, mask = iris.TileView(tile.pid_m, tile.pid_n, tile.block_m, BN).layout(M, N)
    pointers, inside = iris.TensorView(p, M, N, N, 1).tile_ptr(tile)
    tl.store(pointers, tile.data, mask=inside & mask)

    iris.Tile(0, 0, BM, BN)  # wrong: Missing positional argument "data" in call to "Tile"
    iris.TileView(0, 0, BM, block_k=BN)  # wrong: Unexpected keyword argument "block_k" for "TileView"
    tile.layout(M)  # wrong: Missing positional argument "N" in call to "layout" of "Tile"
    view = iris.TensorView(p, M, N, N, 1)
    tl.store(p, view.number_of_tiles(BM, BN), mask=view.offset(1).offset_tile_ptr(tile, 1, src_mask=mask)[1])
    view.tile_ptr(3)  # wrong: Argument 1 to "tile_ptr" of "TensorView" has incompatible type "int"
    view.number_of_tiles(BM)  # wrong: Missing positional argument "block_n" in call to "number_of_tiles"
    tile.values()  # wrong: "Tile" has no attribute "values"


def iris_has_a_typed_host() -> int:
    shmem: iris.Iris = iris.iris(1 << 28)
    shmem.barrier(stream=None)
    print(iris.context, iris.experimental, iris.gluon, iris.ccl)
    iris.do_bench(shmem.barrier, n_warmup=1, return_mode="median")
    iris.do_bench(shmem.barrier, return_mode="fast")  # wrong: Argument "return_mode" to "do_bench" has
    print(shmem.heap.heap_bases)
    shmem.barier()  # wrong: "Iris" has no attribute "barier"
    return shmem.device  # wrong: Incompatible return value type (got "str", expected "int")


def the_host_is_typed() -> int:
    world: symm.World = symm.init(heap_size=1 << 28, timeout=3)
    with symm.trace("out.json", world=world):
        symm.trace.plot().save("out.svg")
    symm.trace(3)  # wrong: Argument 1 to "trace" has incompatible type
    symm.trace.plot().show()  # wrong: "Picture" has no attribute "show"
    world.barrier()
    with st.options(strict=True, dump="there"), world.timeout(3):
        st.options(True)  # wrong: Too many positional arguments for "options"
        st.options(strict=1)  # wrong: Argument "strict" to "options" has incompatible type "int"
    world.tensor([1, 2], dtype=int).add_(world.empty_like(world.zeros(2)))
    near: str = world.is_near(0)  # wrong: Incompatible types in assignment (expression has type "bool"
    near = world.team([0]).is_near(0)  # wrong: Incompatible types in assignment (expression has type "bool"
    world.as_remote(near, rank=near)  # wrong: Argument "rank" to "as_remote" of "Streams" has incompatible type
    world.zero(3)  # wrong: "World" has no attribute "zero"
    symm.init(heap="1 GiB")  # wrong: Unexpected keyword argument "heap"
    symm.init(heap_size="1 GiB")  # wrong: Argument "heap_size" to "init" has incompatible type
    try:
        return world.get_rank()
    except symm.CompileError as error:
        return error.line  # wrong: Incompatible return value type (got "int | None", expected "int")


def a_program_is_checked(world: symm.World) -> Report:
    with symm.check.raises("race", "deadlock") as caught:
        symm.check(a_program_is_checked, ranks=4, schedules=3)
    print(caught.report.findings[0].places[0].line, caught.report.is_clean)
    symm.check.raise_("race")  # wrong: "Checker" has no attribute "raise_"
    symm.check.run(a_program_is_checked, rank=2)  # wrong: Unexpected keyword argument "rank"
    return symm.check.run(a_program_is_checked, exhaustive=True)
