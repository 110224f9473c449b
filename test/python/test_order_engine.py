"""What waits for the stores of the tensor engine before it accesses memory or releases it."""

import inspect
import re
from pathlib import Path

import pytest
import stores_gluon
import symm
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text
from triton.experimental.gluon import language as gl


@triton.jit
def stored_tile(table, p, q, flag, n, OP: tl.constexpr, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    tile = tl.make_tensor_descriptor(p, [n, B], [B, 1], [32, B])
    at = tl.arange(0, B)
    tile.store([0, 0], tl.full([32, B], 1.0, tl.float32))
    if OP == "load":
        tl.store(q + at, ctx.load(p + at, 1))
    elif OP == "put":
        ctx.put(p + at, q + at, 1)
    elif OP == "get":
        ctx.get(p + at, q + at, 1)
    elif OP == "copy":
        ctx.copy(p + at, q + at, 0, 1)
    elif OP == "put_signal":
        ctx.put_signal(p + at, q + at, flag, 1, 1)
    elif OP == "atomic_add":
        ctx.atomic_add(p + at, 1.0, 1, sem="relaxed")
    elif OP == "atomic_cas":
        ctx.atomic_cas(flag, 0, 1, 1, sem="relaxed")
    elif OP == "store":
        ctx.store(p + at, 2.0, 1)


@triton.jit
def stored_tiles(table, p, q, flag, n, OP: tl.constexpr, B: tl.constexpr):
    tile = tl.make_tensor_descriptor(p, [n, B], [B, 1], [32, B])
    at = tl.arange(0, B)
    for i in tl.range(0, n, num_stages=4):
        # The store of the iteration before is met first.
        tl.store(q + i * B + at, st.load(table, p + i * B + at, 1))
        tile.store([i, 0], tl.full([32, B], 1.0, tl.float32) + i)


TILES = {"table": "*i64", "p": "*fp32", "q": "*fp32", "flag": "*i32", "n": "i32"}
ENGINE = r"cp\.async\.bulk\.(?:tensor|wait_group(?:\.read)?\b)|bar\.sync|(?:ld|st)\.global\.b32|(?:atom|red)\.\S+"


@pytest.mark.parametrize("op", ["load", "put", "get", "copy", "put_signal", "atomic_add", "atomic_cas", "store"])
def test_an_access_waits_for_the_engine_s_stores(op):
    text = machine_text(compile_for("sm_90", stored_tile, TILES, ["p", "q", "table"], OP=op, B=64))
    steps = re.findall(ENGINE, text)
    after = steps[steps.index("cp.async.bulk.tensor") :]
    first = next(at for at, step in enumerate(after) if step.startswith(("ld.", "st.", "atom.", "red.")))
    assert "cp.async.bulk.wait_group" in after[:first], after
    # What one thread has waited for, all of them are told.
    assert "bar.sync" in after[after.index("cp.async.bulk.wait_group") : first], after


def test_an_access_waits_for_the_stores_of_the_iteration_before():
    text = machine_text(compile_for("sm_90", stored_tiles, TILES, ["p", "q", "table"], OP="", B=64))
    body = max(re.split(r"^\$L__BB\d+_\d+:", text, flags=re.MULTILINE), key=lambda block: "bulk.tensor" in block)
    steps = re.findall(ENGINE, body)
    load = next(at for at, step in enumerate(steps) if step.startswith("ld."))
    assert "cp.async.bulk.wait_group" in steps[:load] and "bar.sync" in steps[:load], steps
    assert steps.index("cp.async.bulk.tensor") > load, steps


LAYOUT = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float32)
SPECIALIZED = {"table": "*i64", "flag": "*i32", "tile": f"tensordesc<fp32[64, 64],{LAYOUT!r}>"}
STEPS = (
    r"cp\.async\.bulk\.(?:tensor|wait_group(?:\.read)?\b)|bar(?:rier)?\.sync|mbarrier\.arrive|mbarrier\.try_wait"
    r"|atom\.\S+"
)


def test_a_partition_s_own_store_wait_is_complete():
    kernel = stores_gluon.stores_in_a_partition
    text = machine_text(compile_for("sm_90", kernel, SPECIALIZED, WAIT=True, WITHIN=True))
    steps = re.findall(STEPS, text[text.index("cp.async.bulk.tensor") :])
    told = steps[: steps.index("mbarrier.arrive")]
    assert "cp.async.bulk.wait_group" in told, steps
    assert "bar.sync" in told[told.index("cp.async.bulk.wait_group") :], steps


def test_a_partition_s_stores_are_complete_at_its_end():
    kernel = stores_gluon.stores_in_a_partition
    text = machine_text(compile_for("sm_90", kernel, SPECIALIZED, WAIT=False, WITHIN=False))
    partition = text[text.index("cp.async.bulk.tensor") :]
    partition = partition[partition.index("mbarrier.arrive") :]
    # The warps come together again after it.
    steps = re.findall(STEPS, partition)
    steps = steps[steps.index("cp.async.bulk.wait_group") :]
    assert steps[1] in ("bar.sync", "barrier.sync"), partition
    assert "atom." in text


def test_a_release_beside_stores_that_are_not_waited_for_is_refused():
    with pytest.raises(symm.CompileError, match="S1: releases what this partition of the warps did") as caught:
        compile_for("sm_90", stores_gluon.stores_in_a_partition, SPECIALIZED, WAIT=False, WITHIN=True)
    lines, first = inspect.getsourcelines(stores_gluon.hand_over.fn)
    at = next(number for number, line in enumerate(lines) if "signal(" in line)
    assert (caught.value.file, caught.value.line) == (stores_gluon.__file__, first + at)


def test_the_benchmark_of_a_gather_in_one_kernel_compiles(monkeypatch):
    """The partition that pulls and signals is told nothing by the one that stores."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "bench/triton"))
    from gather_fused import gather_multiply

    tile = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    types = {name: f"tensordesc<bf16[{shape}],{tile!r}>" for name, shape in
             (("a", "128, 64"), ("b", "256, 64"), ("c", "128, 128"))}  # fmt: skip
    types |= dict.fromkeys(("table", "flags", "ready", "done", "epochs"), "*i64")
    types |= {"heap": "*bf16", "plan": "*i32", "parts": "i32"}
    sizes = {"ROWS": 1024, "N": 2048, "K": 8192, "RANKS": 4, "CHUNKS": 2, "BM": 128, "BN": 256, "BK": 64, "GROUP": 8,
             "STAGES": 4, "BLOCK": 4096, "GROUPS": 1}  # fmt: skip
    text = machine_text(compile_for("sm_90", gather_multiply, types, ["heap"], {"num_warps": 8}, **sizes))
    assert "wgmma" in text and "cp.async.bulk.tensor" in text and "atom." in text
