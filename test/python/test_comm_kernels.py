"""The kernels of collectives, compiled for GPUs that need not be there."""

import re

import pytest
import triton.language as tl
from compiling import compile_for, machine_text
from matrix import halves
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from symm.comm._deadline import WatchedContext
from symm.comm.kernels_direct import direct_all_reduce, direct_exchange
from symm.comm.kernels_exchange import exchange, meet
from symm.comm.kernels_floats import send_floats
from symm.comm.kernels_packets import send_packets
from symm.comm.kernels_two_shot import two_shot

NUMBERS = {"count": "i64", "shard": "i64", "in_apart": "i64", "out_apart": "i64", "inp_at": "i64", "out_at": "i64",
           "me": "i32", "rank_here": "i32", "root": "i32"}  # fmt: skip
STATE = {"table": "*i64", "members": "*i32", "flags": "*i64", "steps": "*i64", "places": "*i64",
         "lines": "*i64"}  # fmt: skip
GEOMETRY = {"WORLD": 2, "PROGRAMS": 32, "SUBSET": False, "LINES": 1024, "PARTED": False, "TILES": 2, "BUFFERS": 2,
            "AHEAD": 0}  # fmt: skip


def compiled(target, kernel, element, aligned=True, warps=8, **constants):
    """A kernel for elements of a type, on tensors that are aligned to 16 bytes or not."""
    tensors = {name: f"*{element}" for name in ("slots", "inp", "out")}
    signature = {name: kind for name, kind in {**STATE, **tensors, **NUMBERS}.items() if name in kernel.arg_names}
    pointers = [name for name in signature if signature[name].startswith("*")]
    constants = {name: value for name, value in {**GEOMETRY, **constants}.items() if name in kernel.arg_names}
    options = {"num_warps": warps, "num_stages": 1}
    return compile_for(target, kernel, signature, pointers if aligned else pointers[:-2], options, **constants)


def of_bytes(item, block=8 << 10, slot=64 << 10):
    return {"SLOT": slot // item, "BLOCK": block // item, "VECTOR": 16 // item, "ITEM": item}


ELEMENTS = {"fp64": (8, tl.float64), "fp32": (4, tl.float32), "fp16": (2, tl.float32), "bf16": (2, tl.float32),
            "fp8e4nv": (1, tl.float32), "fp8e5": (1, tl.float32), "i64": (8, tl.int64), "i32": (4, tl.int32),
            "i16": (2, tl.int32), "i8": (1, tl.int32), "u8": (1, tl.int32)}  # fmt: skip
OPS = ("sum", "avg", "min", "max", "prod")


TARGETS = ("sm_90", "gfx942")
SUMS = (exchange, two_shot, direct_all_reduce, direct_exchange)


@pytest.mark.parametrize(("kernel", "number", "target"), [*halves(SUMS, range(len(ELEMENTS)), TARGETS)])
def test_sums_compile(kernel, number, target):
    element, (item, accumulator) = list(ELEMENTS.items())[number]
    # Each type with an operation; averages are of floats.
    op = OPS[number % (5 if number < 6 else 1)]
    assert machine_text(compiled(target, kernel, element, SHAPE="all", OP=op, ACC=accumulator, **of_bytes(item)))


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("kernel", [exchange, direct_exchange])
@pytest.mark.parametrize(
    ("shape", "element", "item"), [("all", "i64", 8), ("from root", "i32", 4), ("to root", "u8", 1)]
)
def test_moves_compile(kernel, shape, element, item, target):
    if kernel is direct_exchange and shape == "to root":
        pytest.skip("what goes to a root goes through slots")
    for world, subset in ((2, False), (3, True)):
        assert machine_text(compiled(target, kernel, element, SHAPE=shape, OP="", ACC=None, WORLD=world, SUBSET=subset,
                                     **of_bytes(item)))  # fmt: skip


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_barrier_compiles(target):
    assert machine_text(compiled(target, meet, "i64", warps=1))


@pytest.mark.parametrize("kernel", [exchange, two_shot, direct_all_reduce])
def test_data_are_accessed_by_16_bytes(kernel):
    text = machine_text(compiled("sm_90", kernel, "bf16", SHAPE="all", OP="sum", ACC=tl.float32, **of_bytes(2)))
    assert re.search(r"ld\.global\.v4\.b32|ld\.global\.v2\.b64", text)
    assert re.search(r"st\.global\.v4\.b32|st\.global\.v2\.b64", text)


@pytest.mark.in_turn
def test_nothing_spills():
    for kernel in (exchange, two_shot, direct_all_reduce, direct_exchange):
        block = of_bytes(2, 64 << 10 if kernel in (exchange, two_shot) else 32 << 10)
        text = machine_text(compiled("sm_90", kernel, "bf16", SHAPE="all", OP="sum", ACC=tl.float32, warps=32, **block))
        assert "local" not in text


@pytest.mark.parametrize(("number", "target"), [*halves(range(len(ELEMENTS)), TARGETS)])
def test_packets_compile(number, target):
    element, (item, accumulator) = list(ELEMENTS.items())[number]
    op = OPS[number % (5 if number < 6 else 1)]
    for world, shape, whole in ((2, "all", True), (3, "to root", False)):
        assert machine_text(compiled(target, send_packets, element, WORLD=world, SHAPE=shape, OP=op, ACC=accumulator,
                                     WHOLE=whole, BLOCK=256, PARTED=world == 3, SUBSET=world == 3))  # fmt: skip
    assert machine_text(compiled(target, send_packets, element, SHAPE="from root", OP="", ACC=None, WHOLE=True,
                                 BLOCK=256))  # fmt: skip


FLOATS = [name for name, (item, _) in ELEMENTS.items() if name.startswith(("fp", "bf")) and item <= 4]


@pytest.mark.parametrize(("element", "target"), [*halves(FLOATS, TARGETS)])
def test_floats_compile(element, target):
    op = OPS[FLOATS.index(element)]
    for world, whole in ((2, True), (3, False)):
        text = machine_text(compiled(target, send_floats, element, WORLD=world, OP=op, ACC=tl.float32, WHOLE=whole,
                                     SHAPE="all", BLOCK=512, PARTED=world == 3, SUBSET=world == 3))  # fmt: skip
        # A line of 16 bytes for each of 256 threads: a float for each peer, and what clears a peer's.
        one = r"st\.relaxed\.sys\.global\.v4\.b32" if target == "sm_90" else r"global_store_dwordx2 .*offset:8 sc0 sc1"
        assert len(re.findall(one, text)) == 2 * (world - 1), text


@pytest.mark.parametrize("target", TARGETS)
def test_floats_of_several_blocks_compile(target):
    given = {"OP": "sum", "ACC": tl.float32, "WHOLE": True, "SHAPE": "all", "BLOCK": 2048, "BUFFERS": 16, "AHEAD": 2}
    text = machine_text(compiled(target, send_floats, "bf16", warps=16, **given))
    if target == "sm_90":
        # Of a block that is full: 16 bytes at once, for what is sent, for what is summed, and for the result.
        found = accesses(text)
        assert found.count("ld.global.v2.b64") == 4 and found.count("st.global.v2.b64") == 2, found
        assert not re.search(r"\b(fence|membar|atom|red|local)\b", text)


@pytest.mark.parametrize("op", ["avg", "max"])
@pytest.mark.parametrize("element", ["fp8e4nv", "fp8e5"])
def test_no_half_of_a_register_is_undefined(element, op):
    """ptxas 12 then made a wrong element of 16: it merged a conversion with a register that held something else."""
    text = machine_text(compiled("sm_90", send_floats, element, OP=op, ACC=tl.float32, WHOLE=True, SHAPE="all",
                                 BLOCK=512, PARTED=False))  # fmt: skip
    halves_read = [half for pair in re.findall(r"mov\.b32 \t?%r\d+, \{(%rs\d+), (%rs\d+)\}", text) for half in pair]
    assert not [half for half in halves_read if len(re.findall(rf"{half}\b", text)) == 1], text


def test_half_as_many_lines_carry_an_all_reduce_of_floats():
    text = machine_text(compiled("sm_90", send_floats, "bf16", warps=8, SHAPE="all", OP="sum", ACC=tl.float32,
                                 WHOLE=True, BLOCK=512))  # fmt: skip
    found = accesses(text)
    assert found.count("st.relaxed.sys.global.v4.b32") == 2 and found.count("ld.relaxed.sys.global.v4.b32") == 2
    assert not re.search(r"\b(fence|membar|atom|red)\b", text)
    # What has come is taken by all threads before the first clears it.
    loads, stores = ([at for at, access in enumerate(found) if access == f"{kind}.relaxed.sys.global.v4.b32"]
                     for kind in ("ld", "st"))  # fmt: skip
    assert "bar.sync" in found[loads[-1] : stores[-1]], found


def test_small_all_reduce_is_loads_packets_polls_sums_and_stores():
    text = machine_text(compiled("sm_90", send_packets, "bf16", warps=8, SHAPE="all", OP="sum", ACC=tl.float32,
                                 WHOLE=True, BLOCK=256))  # fmt: skip
    memory = re.findall(r"^\s*(?:@!?%\w+ )?((?:ld|st|atom|red|fence|bar|membar|call)\b[\w.:]*)", text, re.M)
    memory = [each for each in memory if not each.startswith("ld.param")]
    # The packet's own store is within inline assembly. Loads: the input, the call's number, and two heap bases.
    assert sorted(memory) == sorted([
        *["ld.global.b64"] * 4, "ld.relaxed.sys.global.v2.b64", "bar.sync", *["st.global.b64"] * 2,
    ]), memory  # fmt: skip
    assert text.count("st.relaxed.sys.global.v2.b64") == 1


def accesses(text):
    """What a kernel does to memory, in order, that it declares no scratch names for."""
    return re.findall(r"\b(?:ld|st|atom|red|fence|bar)\.[\w.:]*", re.sub(r"\bld\.param\S*", "", text))


@pytest.mark.in_turn
@pytest.mark.parametrize("kernel", [send_packets, send_floats, exchange, two_shot, direct_all_reduce, direct_exchange,
                                    meet])
def test_deadlines_cost_nothing_where_there_are_none(kernel):
    """A kernel without one is, to the letter, what it is with a context that knows of none."""
    settings = {"SHAPE": "all", "OP": "sum", "ACC": tl.float32, **of_bytes(2), "WHOLE": True}
    watches = ({}, {"WATCH": 0}, {"WATCH": 3})
    plain, none, some = (machine_text(compiled("sm_90", kernel, "bf16", **settings, **watch)) for watch in watches)
    assert plain == none and "globaltimer" not in plain
    assert "globaltimer" in some and "atom.relaxed.sys.global.cas.b64 state" in some


def test_a_packet_that_is_there_is_waited_for_without_a_look_at_the_deadline():
    texts = [
        machine_text(compiled("sm_90", send_packets, "bf16", warps=8, SHAPE="all", OP="sum", ACC=tl.float32, WHOLE=True,
                              BLOCK=256, WATCH=watch))  # fmt: skip
        for watch in (0, 1)
    ]
    before = [accesses(text.split("AGAIN:")[0]) for text in texts]
    after = [accesses(text.split("HERE:")[1]) for text in texts]
    assert before[0] == before[1] and after[0] == after[1]


@pytest.mark.in_turn
@pytest.mark.parametrize("kernel", [exchange, meet])
def test_deadlines_on_amd(kernel):
    settings = {"SHAPE": "all", "OP": "sum", "ACC": tl.float32, **of_bytes(2)}
    plain, watched = (machine_text(compiled("gfx942", kernel, "bf16", WATCH=watch, **settings)) for watch in (0, 1))
    assert "s_memrealtime" in watched and "s_memrealtime" not in plain


@gluon.jit
def watched_in_gluon(table, record, flag, slots, out, epoch):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    ctx = WatchedContext(table, record, 5)
    ctx.wait(flag, epoch, "eq")
    got = ctx.wait_packet(slots, epoch, 128, layout=layout)
    gl.store(out + gl.arange(0, 128, layout=layout), got)
    ctx.signal(flag, 1, 0)


def test_deadlines_in_gluon():
    signature = {"table": "*i64", "record": "*i64", "flag": "*i32", "slots": "*i64", "out": "*i64", "epoch": "i32"}
    text = machine_text(compile_for("sm_90", watched_in_gluon, signature))
    # Of the flag and of the packets, and the record has the tag.
    assert text.count("atom.relaxed.sys.global.cas.b64 state") == 2
    assert len(re.findall(r"st\.relaxed\.sys\.global\.b64 \[%rd\d+\+16\], 5;", text)) == 2, text
