"""The kernels of messages with hooks, compiled for GPUs that need not be there, in Triton and Gluon."""

import re

import pytest
import triton
import triton.language as tl
from compiling import compile_for, machine_text
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import symm
from symm.comm import hooks
from symm.comm._deadline import TAGS
from symm.comm._messages import check_hooks
from symm.comm._transfers import in_gluon
from symm.comm.device import Lane, Message, send
from symm.comm.kernels_channel import mail, swap, swap_in_place, transfer
from symm.comm.seam import NETWORK, NODE
from symm.errors import ArgumentError

POINTERS = ("table", "record", "send_dst", "recv_src", "rings", "signals", "to_signals", "from_signals", "flags",
            "to_flags", "from_flags", "to_cursors", "from_cursors", "cursors", "inp", "out", "landing", "staging",
            "far_send_dst", "far_rings", "far_signals", "far_flags", "far_cursors")  # fmt: skip
NUMBERS = {"to": "i32", "source": "i32", "rank_here": "i32"}
TYPED = ("send_dst", "recv_src", "rings", "inp", "out", "landing", "staging", "far_send_dst", "far_rings")
GEOMETRY = {"SENDS": True, "RECEIVES": True, "BLOCKS": 32, "RING": 1 << 20, "GROUP": 1, "OUT_GROUP": 1, "WORDS": 512,
            "SEND_BLOCKS": 32, "RECV_BLOCKS": 32, "ME": 1, "WORLD": 3, "VECTOR": 1, "SEND_OPS": NODE, "RECV_OPS": NODE,
            "DOMAIN": 2, "NEAR_OPS": NODE, "FAR_OPS": NODE, "PRODUCE": hooks.produce, "CONSUME": hooks.consume,
            "extra": None}  # fmt: skip
ELEMENTS = {"fp32": tl.float32, "bf16": tl.bfloat16, "i64": tl.int64, "u8": tl.uint8, "fp8e4nv": tl.float8e4nv}
LANES = {"sm_90": 32, "gfx942": 64}
GLUON_WARPS = 4


@gluon.jit
def twice(c):
    return gl.load(c.inputs(), c.mask()) * 2


@gluon.jit
def plus_one(c, value):
    gl.store(c.outputs(), value + 1, c.mask())


@triton.jit
def seven(c):
    return 7


@gluon.jit
def seven_in_gluon(c):
    return 7


@triton.jit
def too_few(c):
    return tl.load(c.in_ptr + tl.arange(0, 16))


@gluon.jit
def nothing_in_gluon(c):
    c.mask()


def compiled(target, kernel, element, tile, rows=0, cols=0, warps=8, in_front=False, strides=None, **constants):
    signature = {}
    for name in kernel.arg_names:
        if name in POINTERS:
            elements = name in TYPED and not (kernel is mail and name in ("send_dst", "recv_src"))
            signature[name] = f"*{element}" if elements else "*i64"
        elif name == "extra" or name.isupper():
            continue
        else:
            signature[name] = NUMBERS.get(name, "i64")
    wire = ELEMENTS[element]
    shape = {"TILE": tile, "TILE_ROWS": rows, "TILE_COLS": cols, "WIRE": wire}
    given = {**GEOMETRY, **shape, **{f"OUT_{name}": value for name, value in shape.items()}, **constants}
    layout = None
    if in_front:
        lanes = LANES[target]
        layout = gl.BlockedLayout([tile // (lanes * warps)], [lanes], [warps], [0])
        if rows:
            layout = gl.BlockedLayout([1, 1], [1, lanes], [warps, 1], [1, 0])
    given |= {"LAYOUT": layout, "OUT_LAYOUT": layout}
    for name, value in (strides or {}).items():
        del signature[name]
        given[name] = value
    names = set(kernel.arg_names)
    kernel = in_gluon(kernel) if in_front else kernel
    options = {"num_warps": warps, "num_stages": 1}
    return compile_for(target, kernel, signature, [name for name in signature if signature[name].startswith("*")],
                       options, **{name: value for name, value in given.items() if name in names})  # fmt: skip


def test_hooks_of_one_kernel_are_of_one_front_end():
    for good in ({}, {"produce": twice}, {"produce": twice, "consume": plus_one}, {"consume": hooks.consume}):
        check_hooks("sendrecv", **good)
    said = "sendrecv: produce is Gluon's and consume is Triton's, but one kernel calls both: give both with @triton.jit"
    with pytest.raises(ArgumentError, match=re.escape(said)):
        check_hooks("sendrecv", twice, hooks.consume)


@pytest.mark.parametrize(("in_front", "produce", "wrong", "found"), [
    (False, seven, too_few, "shape [16]"), (True, seven_in_gluon, nothing_in_gluon, "None"),
])  # fmt: skip
def test_a_hook_returns_a_value_for_each_element_or_one(in_front, produce, wrong, found):
    hooked = {"PRODUCE": produce, "CONSUME": plus_one if in_front else hooks.consume, "RECEIVES": False}
    for kernel in (mail, transfer):
        hooked["PRODUCE"] = produce
        assert machine_text(compiled("sm_90", kernel, "fp32", 1024, 0, 0, GLUON_WARPS, in_front, **hooked))
        said = f"symm produce: it must return a block of shape [1024], that of c.inputs(), not {found}"
        hooked["PRODUCE"] = wrong
        with pytest.raises(symm.CompileError, match=re.escape(said)):
            compiled("sm_90", kernel, "fp32", 1024, 0, 0, GLUON_WARPS, in_front, **hooked)


BOTH = [("both", element) for element in ELEMENTS]
WAYS = {"send": {"RECEIVES": False}, "recv": {"SENDS": False}, "both": {}}


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(("way", "element"), [("send", "fp32"), ("recv", "bf16"), *BOTH])
def test_rings_and_packets_compile(way, element, target):
    for kernel, tile in ((transfer, 4096), (mail, 256 * 64 // ELEMENTS[element].primitive_bitwidth)):
        assert machine_text(compiled(target, kernel, element, tile, **WAYS[way]))


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(("element", "rows"), [("fp32", 0), ("bf16", 32)])
def test_all_to_all_compiles(element, rows, target):
    for kernel in (swap, swap_in_place):
        assert machine_text(compiled(target, kernel, element, 1024, rows, 32 if rows else 0))
    if rows:
        assert machine_text(compiled(target, transfer, element, 1024, rows, 32))


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("kernel", [transfer, mail, swap, swap_in_place], ids=lambda kernel: kernel.fn.__name__)
def test_gluon_compiles(kernel, target):
    hooked = {"PRODUCE": twice, "CONSUME": plus_one}
    assert machine_text(compiled(target, kernel, "fp32", 1024, 0, 0, GLUON_WARPS, True, **hooked))
    if kernel is transfer:
        assert machine_text(compiled(target, kernel, "fp32", 1024, 32, 32, GLUON_WARPS, True))


def test_messages_travel_by_16_bytes_and_in_order():
    text = machine_text(compiled("sm_90", transfer, "i64", 8192, warps=32))
    assert "ld.global.v2.b64" in text and "st.global.v2.b64" in text
    assert "local" not in text
    # HEAD and TAIL are released and acquired, for all GPUs.
    assert len(re.findall(r"^.*sys\.release\.exch\.b64", text, re.M)) == 3
    assert "ld.acquire.sys" in text and not re.search(r"(st|exch)\.relaxed|relaxed\.exch", text)
    # A target below zero is one that has been reached.
    assert re.search(r"setp\.(ge|lt)\.s64", text) and not re.search(r"setp\.(ge|lt|hs|lo)\.u64", text)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_tiles_go_together_with_one_signal(target):
    groups = {"GROUP": 4, "OUT_GROUP": 4}
    one, four = (
        machine_text(compiled(target, transfer, "i64", 8192, warps=16, **given)) for given in ({}, groups)
    )
    # A signal is in the code once for tiles that are full and once for those that are not, whatever the group.
    said = r"sys\.release\.exch\.b64" if target == "sm_90" else r"buffer_wbl2 sc0 sc1"
    assert len(re.findall(said, one)) == len(re.findall(said, four)) > 0
    assert machine_text(compiled(target, swap, "i64", 1024, **groups))


def test_matrices_with_rows_are_read_by_more_than_an_element():
    one = {"row_stride": 4096, "col_stride": 1, "out_row_stride": 4096, "out_col_stride": 1}
    text = machine_text(compiled("sm_90", transfer, "bf16", 8192, 64, 128, 8, strides=one))
    assert re.search(r"ld\.global\.v4\.b32|ld\.global\.v2\.b64", text)


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("kernel", [transfer, swap, swap_in_place], ids=lambda kernel: kernel.fn.__name__)
def test_between_nodes_compiles(kernel, target):
    ways = {"FAR_OPS": NETWORK, "SEND_OPS": NETWORK}
    assert machine_text(compiled(target, kernel, "fp32", 4096, **ways))
    assert machine_text(compiled(target, kernel, "bf16", 1024, 32, 32, GROUP=4, OUT_GROUP=4, **ways))
    assert machine_text(compiled(target, kernel, "fp32", 1024, 0, 0, GLUON_WARPS, True, **ways))


def test_what_is_between_nodes_waits_for_staging():
    near, far = (machine_text(compiled("sm_90", transfer, "i64", 8192, warps=32, SEND_OPS=ops, RECEIVES=False))
                 for ops in (NODE, NETWORK))  # fmt: skip
    # HEAD and SENT: before tiles that are full, and before those that are not.
    assert 2 * near.count("ld.acquire.sys") == far.count("ld.acquire.sys") > 0
    assert "ld.global.v2.b64" in far and "st.global.v2.b64" in far and "local" not in far


@triton.jit
def without_staging(table, region, flags, cursors, inp, OPS: tl.constexpr):
    send(Lane(table, region, flags, flags, cursors, 1, 4, 1 << 16), Message(inp, 100, 1024), tl.program_id(0), 1, OPS,
         hooks.produce)  # fmt: skip


def test_a_lane_without_staging_is_told():
    signature = {"table": "*i64", "region": "*fp32", "flags": "*i64", "cursors": "*i64", "inp": "*fp32"}
    for ops in (NODE, NETWORK):
        try:
            compile_for("sm_90", without_staging, signature, list(signature), {"num_warps": 4}, OPS=ops)
        except triton.CompilationError as error:
            while error.__cause__ is not None:
                error = error.__cause__
            assert ops is NETWORK and "give the Lane the endpoint's staging" in str(error), error
        else:
            assert ops is NODE


@pytest.mark.in_turn
@pytest.mark.parametrize("in_front", [False, True], ids=["triton", "gluon"])
@pytest.mark.parametrize("kernel", [transfer, mail, swap, swap_in_place], ids=lambda kernel: kernel.fn.__name__)
def test_deadlines_cost_nothing_where_there_are_none(kernel, in_front):
    plain, none, some = (
        machine_text(compiled("sm_90", kernel, "fp32", 1024, warps=GLUON_WARPS, in_front=in_front, **watch))
        for watch in ({}, {"WATCH": 0}, {"WATCH": TAGS["sendrecv"]})
    )
    assert plain == none and "globaltimer" not in plain
    assert "globaltimer" in some and "atom.relaxed.sys.global.cas.b64 state" in some


@triton.jit
def counted(ctx, flag, value):
    tl.device_assert(value > 0)


def test_one_kernel_mixes_seams():
    mixed = NODE._replace(wait=counted)
    one, two = (machine_text(compiled("sm_90", transfer, "fp32", 1024, SEND_OPS=ops)) for ops in (NODE, mixed))
    assert one.count("ld.acquire.sys") > two.count("ld.acquire.sys") > 0
