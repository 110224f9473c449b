"""`symm.iris` in kernels: every op of its three interfaces is assembled for both targets, and what its code says."""

import importlib
import inspect
import re
import warnings
from pathlib import Path

import iris_kernels
import pytest
import symm
import symm.iris as iris
import tile_kernels
import triton
import triton.language as tl
from compiling import VERSION, carriers, compile_for, exported, machine_text
from symm.iris import _left_out
from symm.iris.context import GluonContext, TritonContext
from symm.iris.experimental.iris_gluon import IrisDeviceCtx
from test_data import accesses
from triton.experimental.gluon import language as gl

INTERFACES = ("functions", "methods", "gluon")
OPS = ("load", "store", "get", "put", "copy", "as_remote")
THREADS = {"sm_90": 32, "gfx942": 64}
WARPS = 4


def compiled(target, interface, name, element, **constants):
    """The machine text of a kernel of iris_kernels."""
    table = {"heap_bases": "*u64"} if interface == "functions" else {"table": "*i64"}
    pointers = {**table, "p": f"*{element}", "q": f"*{element}"}
    signature = {**pointers, "n": "i32", "peer": "i32"}
    constants |= {"IrisDeviceCtx": IrisDeviceCtx} if interface == "gluon" else {"rank": 3}
    kernel = getattr(iris_kernels, f"{interface}_{name}")
    return machine_text(compile_for(target, kernel, signature, [*pointers, "n"], {"num_warps": WARPS}, **constants))


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("target", THREADS)
def test_data(target, interface, op):
    if (interface, op) == ("functions", "as_remote"):
        pytest.skip("Iris has no such function")
    constants = {"OP": op, "BLOCK": 16 * WARPS * THREADS[target]}
    if interface == "gluon":
        constants["LAYOUT"] = gl.BlockedLayout([8], [THREADS[target]], [WARPS], [0])
    text = compiled(target, interface, "data", "fp16", **constants)
    moved = accesses(text, target)
    # Sixteen halves of each thread, in and out; what is left are words of the context.
    assert moved.count(128) == 4, text
    assert set(moved) <= {64, 128}, text


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("target", THREADS)
def test_atomics(target, interface):
    text = compiled(target, interface, "atomics", "i32", CAS=False)
    if target == "sm_90":
        found = re.findall(r"\batom\.(?:global\.)?(\w+)\.(\w+)(?:\.global)?\.(\w+)", text)
        assert [kind for *_, kind in found] == ["add", "add", "and", "or", "xor", "min", "max", "exch"], text
        assert {frozenset(words[:2]) for words in found} == {frozenset(("release", "sys"))}, found
    else:
        found = re.findall(r"\b(?:global|flat|buffer)_atomic_(\w+) .*sc1", text)
        kinds = ("add", "add", "and", "or", "xor", "smin", "smax", "swap")
        # Some versions of LLVM write a loop of compare-and-swap.
        assert len(found) == len(kinds), text
        assert all(name in (kind, "cmpswap") for name, kind in zip(found, kinds, strict=True)), found
        assert (found[0], found[-1]) == ("add", "swap")


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("target", THREADS)
def test_compare_and_swap(target, interface):
    if target == "gfx942" and VERSION == (3, 6):
        with pytest.raises(symm.CompileError, match="Triton 3.6 has no compare-and-swap at system scope"):
            compiled(target, interface, "atomics", "i32", CAS=True)
        return
    text = compiled(target, interface, "atomics", "i32", CAS=True)
    if target == "sm_90":
        assert re.search(r"bar\.sync.*\batom\.\S*(?:release\.sys|sys\.release)\S*\.cas\.b32", text, re.S), text
    else:
        assert re.search(r"buffer_wbl2 sc0 sc1.*s_barrier.*_atomic_cmpswap .*sc1", text, re.S), text


@pytest.mark.parametrize("op", tile_kernels.OPS)
@pytest.mark.parametrize("target", THREADS)
def test_tiles(target, op):
    pointers = {"context_tensor": "*i64", "source": "*fp32", "target": "*fp32", "locks": "*i32"}
    signature = {**pointers, "M": "i32", "N": "i32", "width": "i32"}
    constants = {"rank": 1, "world_size": 4, "OP": op, "BLOCK_M": 16, "BLOCK_N": 4 * THREADS[target]}
    compiled = compile_for(target, tile_kernels.tiles, signature, list(signature), {"num_warps": WARPS}, **constants)
    moved = accesses(machine_text(compiled), target)
    # Rows are as wide as they may be, without hints; an atomic moves no vectors.
    assert moved.count(128) >= (4 if op == "all_reduce_atomic" else 8), machine_text(compiled)


@triton.jit
def all_store(source, target, n, heap_bases, rank: tl.constexpr, world_size: tl.constexpr, BLOCK: tl.constexpr):
    for i in range(n):
        at = i * BLOCK + tl.arange(0, BLOCK)
        values = tl.load(source + at)
        for peer in tl.static_range(world_size):
            iris.store(target + at, values, rank, peer, heap_bases)


def test_bases_are_looked_up_once_in_front_of_the_loop():
    signature = {"source": "*fp16", "target": "*fp16", "n": "i32", "heap_bases": "*u64"}
    constants = {"rank": 1, "world_size": 4, "BLOCK": 1024}
    text = machine_text(compile_for("sm_90", all_store, signature, list(signature), **constants))
    before, loop = re.search(r"^(.*)^(\$L__BB\d+_\d+):(.*?bra\S*\s+\2;)", text, re.M | re.S).group(1, 3)
    # Of four ranks, each once.
    assert len(re.findall(r"\bld\.global\.b64", before)) == 4, text
    assert "ld.global.b64" not in loop
    assert re.findall(r"\bst\.global\S*", loop) == ["st.global.v4.b32"] * 4, loop


@triton.jit
def spin_then_load(source, target, flags, n, heap_bases, rank: tl.constexpr, peer: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for i in tl.range(n, num_stages=3):
        while tl.atomic_cas(flags + i, 1, 1, sem="acquire", scope="sys") != 1:
            pass
        total += iris.load(source + i * BLOCK + tl.arange(0, BLOCK), rank, peer, heap_bases)
    tl.store(target + tl.arange(0, BLOCK), total)


def test_loads_stay_after_a_loop_that_spins():
    signature = {"source": "*fp32", "target": "*fp32", "flags": "*i32", "n": "i32", "heap_bases": "*u64"}
    text = machine_text(compile_for("sm_90", spin_then_load, signature, list(signature), rank=0, peer=1, BLOCK=1024))
    assert "cp.async" not in text
    assert re.search(r"atom\.\S*cas.*bra.*ld\.global\.v4", text, re.S), text


@triton.jit
def narrow(p, q, heap_bases, context_tensor):
    ctx = iris.DeviceContext.initialize(context_tensor, 0, 2)
    tl.store(q, iris.atomic_add(p, 1, 0, 1, heap_bases, scope="gpu"))
    tl.store(q + 1, ctx.atomic_xchg(p, 1, 1, scope="cta"))
    tl.store(q + 2, ctx.atomic_xchg(p, 2, 1))


def test_narrow_scopes_are_widened_with_a_warning():
    signature = {"p": "*i32", "q": "*i32", "heap_bases": "*u64", "context_tensor": "*i64"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = machine_text(compile_for("sm_90", narrow, signature))
    assert not re.search(r"\batom\.\S*\.(gpu|cta)\b", text)
    found = [warning for warning in caught if warning.category is symm.SymmWarning]
    _, first = inspect.getsourcelines(narrow.fn)
    # The default is the system, other than in Iris.
    assert [(each.filename, each.lineno) for each in found] == [(__file__, first + 3), (__file__, first + 4)], found


@triton.jit
def copies_that_cast(p, q, heap_bases, peer):
    iris.get(p, p, 0, peer, heap_bases)
    iris.get(p, q, 0, peer, heap_bases)
    iris.put(p, p, 0, peer, heap_bases, store_cache_modifier=".wt")
    iris.copy(p, q, peer, 0, 0, heap_bases, load_cache_modifier=".cg")


def test_copies_of_one_type_stay_copies():
    text = exported(copies_that_cast, {"p": "*fp16", "q": "*fp32", "heap_bases": "*u64", "peer": "i32"})
    parts = "ctx, ctx.rank, ctx.num_ranks"
    assert [carrier for carrier, *_ in carriers(text)] == [
        f"get({parts}, src, dst, rank)",
        f"remote_load({parts}, ptr, rank)",
        f"remote_store({parts}, value, ptr, rank) {{cache = wt}}",
        f"remote_load({parts}, ptr, rank) {{cache = cg}}",
        f"remote_store({parts}, value, ptr, rank)",
    ]


@triton.jit
def wrong_bases(p, heap_bases, peer):
    tl.store(p, iris.load(p, 0, peer, heap_bases))


@triton.jit
def rank_not_constant(p, context_tensor, peer):
    ctx = iris.DeviceContext.initialize(context_tensor, peer, 2)
    ctx.store(p, 1, 1)


@triton.jit
def rank_is_a_boolean(p, context_tensor, peer):
    ctx = iris.DeviceContext.initialize(context_tensor, True, 2)
    ctx.store(p, 1, 1)


@triton.jit
def traced(p, context_tensor, peer):
    ctx = iris.DeviceContext.initialize(context_tensor, 0, 2, tracing=True)
    ctx.store(p, 1, 1)


@triton.jit
def wrong_rank(p, heap_bases, peer):
    iris.store(p, 1, 1.5, peer, heap_bases)


@triton.jit
def engine(p, heap_bases, peer):
    iris.put(p, p, 0, peer, heap_bases, copy_engine=None, copy_engine_ctx=None, use_copy_engine=False)
    iris.put(p, p, 0, peer, heap_bases, copy_engine=p)


@triton.jit
def engine_of_a_context(p, context_tensor, peer):
    ctx = TritonContext.initialize(context_tensor, 0, 2)
    ctx.put(p, p, peer, copy_engine=None, copy_engine_ctx=None, use_copy_engine=False)
    ctx.put(p, p, peer, use_copy_engine=True)


@triton.jit
def wrong_view(p, context_tensor, peer):
    ctx = TritonContext.initialize(context_tensor, 0, 2)
    ctx.gather(iris.TileView(0, 0, 4, 4), peer, 0)


@triton.jit
def wrong_dim(p, context_tensor, peer):
    ctx = TritonContext.initialize(context_tensor, 0, 2)
    view = iris.make_tensor_view(p, 4, 4, 4, 1)
    ctx.all_gather(iris.Tile(0, 0, 4, 4, peer), view, dim=2)


@triton.jit
def no_locks(p, context_tensor, peer):
    ctx = TritonContext.initialize(context_tensor, 0, 2)
    view = iris.make_tensor_view(p, 4, 4, 4, 1)
    ctx.reduce_scatter(iris.Tile(0, 0, 4, 4, peer), view, view, None)


@triton.jit
def wrong_data(p, context_tensor, peer):
    iris.Tile(0, 0, 4, 8, tl.zeros((8, 4), tl.float32))


@triton.jit
def wrong_locks(p, context_tensor, peer):
    ctx = TritonContext.initialize(context_tensor, 0, 2)
    view = iris.make_tensor_view(p, 4, 4, 4, 1)
    ctx.all_reduce_two_shot(iris.Tile(0, 0, 4, 4, peer), view, view, p)


@pytest.mark.parametrize(
    ("kernel", "signature", "line", "message"),
    [
        (engine, {"heap_bases": "*u64"}, 3, "symm put: symm.iris has no copy engines: leave out copy_engine"),
        (engine_of_a_context, {"context_tensor": "*i64"}, 4, "symm put: symm.iris has no copy engines: leave out use_"),
        (wrong_bases, {"heap_bases": "*fp32"}, 2, "symm load: heap_bases must be the pointer to the heap bases, not "),
        (rank_not_constant, {"context_tensor": "*i64"}, 2, "rank must be a tl.constexpr, as Iris demands"),
        (
            rank_not_constant,
            {"context_tensor": "*i32"},
            2,
            "symm DeviceContext.initialize: context_tensor must be what get_device_context returns",
        ),
        (rank_is_a_boolean, {"context_tensor": "*i64"}, 2, "rank must be a tl.constexpr, as Iris demands"),
        (traced, {"context_tensor": "*i64"}, 2, "symm.iris has no tracing"),
        (wrong_view, {"context_tensor": "*i64"}, 3, "symm gather: src_view must be a TensorView, which "),
        (wrong_dim, {"context_tensor": "*i64"}, 4, "symm all_gather: dim must be 0 or 1, not 2"),
        (no_locks, {"context_tensor": "*i64"}, 4, "symm reduce_scatter: locks must be a pointer or a block"),
        (wrong_locks, {"context_tensor": "*i64"}, 4, "locks must point to int32, uint32, int64 or uint64, not to fp32"),
        (wrong_rank, {"heap_bases": "*u64"}, 2, "symm store: from_rank must be an integer, not 1.5"),
    ],
)
def test_wrong_kernels_name_the_line(kernel, signature, line, message):
    with pytest.raises(symm.CompileError, match=re.escape(message)) as caught:
        compile_for("sm_90", kernel, {"p": "*fp32", "peer": "i32", **signature})
    _, first = inspect.getsourcelines(kernel.fn)
    assert (caught.value.file, caught.value.line) == (__file__, first + line)


def test_a_tile_has_values_of_its_shape():
    # Where Triton makes an object of a kernel it says the line itself.
    said = r"Tile: data must be a block of shape \[4, 8\], \(block_m, block_n\), not a block of fp32 of shape \[8, 4\]"
    with pytest.raises(triton.compiler.errors.CompilationError, match=said):
        compile_for("sm_90", wrong_data, {"p": "*fp32", "context_tensor": "*i64", "peer": "i32"})


def test_names_of_iris():
    assert iris.DeviceContext is iris.Context is TritonContext
    assert IrisDeviceCtx is GluonContext
    missing = [name for name in iris.__all__ if not hasattr(iris, name)]
    assert not missing
    for name, mend in _left_out.OF_THE_MODULE.items():
        said = re.escape(f"symm.iris has no {name}: {mend} (docs/iris.md, What is missing)")
        with pytest.raises(AttributeError, match=said):
            getattr(iris, name)
        with pytest.raises(ImportError, match=said):
            exec(f"from symm.iris import {name}")
    assert not hasattr(iris, "laod")
    with pytest.raises(ImportError, match="cannot import name 'laod' from 'symm.iris'"):
        exec("from symm.iris import laod")


def test_the_module_of_the_same_name():
    module = importlib.import_module("symm.iris.iris")
    assert inspect.ismodule(module) and inspect.isfunction(iris.iris)
    for name in module.__all__:
        assert getattr(module, name) == getattr(iris, name), name


def test_what_is_left_out_is_on_its_page():
    page = (Path(__file__).parents[2] / "docs/iris.md").read_text().split("## What is missing")[1]
    names = {**_left_out.OF_THE_MODULE, **_left_out.OF_AN_IRIS, **_left_out.OF_A_HEAP}
    assert [name for name in names if f"`{name}`" not in page] == []
