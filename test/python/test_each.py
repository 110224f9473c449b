"""A rank for each element, stores with a signal, eviction policies and compare-and-swap of halves of words."""

import inspect
import re

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import VERSION, compile_for, machine_text
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

POINTERS = {"table": "*i64", "rows": "*fp32", "inbox": "*fp32", "ranks": "*i32", "counts": "*i32", "halves": "*i16"}
SIGNATURE = {**POINTERS, "n": "i32"}
ROWS, WIDTH = 16, 64


def each(ctx, rows, inbox, ranks, counts, halves, n, at, columns, to, OP: tl.constexpr, WIDTH: tl.constexpr):
    there = at < n
    if OP == "store":
        block = tl.load(rows + at[:, None] * WIDTH + columns[None, :])
        ctx.store(inbox + at[:, None] * WIDTH + columns[None, :], block, to[:, None], mask=there[:, None])
    elif OP == "load":
        tl.store(rows + at, ctx.load(inbox + at, to, mask=there, other=0, eviction_policy="evict_first"))
    elif OP == "as_remote":
        tl.store(rows + at, tl.load(ctx.as_remote(inbox + at, to), mask=there))
    elif OP == "atomic":
        tl.store(ranks + at, ctx.atomic_add(counts + at, 1, to, mask=there, sem="relaxed"))
    elif OP == "cas":
        tl.store(halves + at, ctx.atomic_cas(halves + at, 0, 1, to, sem="relaxed", scope="gpu"))
    elif OP == "signal":
        tl.store(rows, 1.0)
        ctx.signal(counts, 1, to, mask=there, group="warp")
    else:
        ctx.store_signal(inbox + at, at, counts, 1, 1, mask=there)


gluon_each = gluon.jit(each)
each = triton.jit(each)


@triton.jit
def triton_kernel(
    table, rows, inbox, ranks, counts, halves, n, OP: tl.constexpr, WIDTH: tl.constexpr, THREADS: tl.constexpr
):
    at = tl.arange(0, 16)
    to = tl.load(ranks + at, mask=at < n, other=-1)
    each(st.DeviceContext(table), rows, inbox, ranks, counts, halves, n, at, tl.arange(0, WIDTH), to, OP, WIDTH)


@gluon.jit
def gluon_kernel(
    table, rows, inbox, ranks, counts, halves, n, OP: gl.constexpr, WIDTH: gl.constexpr, THREADS: gl.constexpr
):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, THREADS // 4], [4, 1], [1, 0])
    at = gl.arange(0, 16, layout=gl.SliceLayout(1, layout))
    to = tl.load(ranks + at, mask=at < n, other=-1)
    columns = gl.arange(0, WIDTH, layout=gl.SliceLayout(0, layout))
    gluon_each(sg.DeviceContext(table), rows, inbox, ranks, counts, halves, n, at, columns, to, OP, WIDTH)


OPS = ("store", "load", "as_remote", "atomic", "cas", "signal", "store_signal")


@pytest.mark.filterwarnings("ignore:.*scope gpu does not reach")
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("front_end", [triton_kernel, gluon_kernel], ids=["triton", "gluon"])
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_compiles(target, front_end, op):
    constants = {"OP": op, "WIDTH": WIDTH, "THREADS": 32 if target == "sm_90" else 64}
    if op == "cas" and (target, VERSION) == ("gfx942", (3, 6)):
        with pytest.raises(symm.CompileError, match="no compare-and-swap at system scope for AMD"):
            compile_for(target, front_end, SIGNATURE, POINTERS, **constants)
        return
    text = machine_text(compile_for(target, front_end, SIGNATURE, POINTERS, **constants))
    # A row goes to its rank in accesses of 128 bits.
    if op == "store":
        assert re.search(r"@%p\d+ st\.global\.v4\.b32|global_store_dwordx4", text), text
    if target == "gfx942":
        atomics = re.findall(r"global_atomic_.*", text)
        assert all("sc1" in atomic for atomic in atomics), atomics
        assert bool(atomics) == (op in ("atomic", "cas", "signal", "store_signal")), text
        assert ("buffer_wbl2 sc0 sc1" in text) == (op in ("signal", "store_signal")), text
        return
    assert ("L1::evict_first" in text) == (op == "load"), text
    [*atomics] = re.findall(r"@%p\d+ (?:atom|red)\.\S*", text)
    wanted = {"atomic": "relaxed", "cas": "relaxed", "signal": "release", "store_signal": "release"}
    assert bool(atomics) == (op in wanted), text
    # However narrow a scope was asked for (O2).
    assert all({"sys", wanted[op]} <= {*atomic.split(".")} for atomic in atomics), atomics
    if op == "cas":
        assert all(atomic.endswith("cas.b16") for atomic in atomics), atomics
    if op in ("signal", "store_signal"):
        assert len(atomics) == 1 and re.search(r"st\.global.*bar\.sync.*\b(atom|red)\.", text, re.S), text


@triton.jit
def one_rank_in_a_block(table, counts, n):
    st.signal(table, counts, 1, tl.arange(0, 1), mask=n > 3)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_a_mask_holds_for_a_block_of_one_rank(target):
    text = machine_text(compile_for(target, one_rank_in_a_block, {"table": "*i64", "counts": "*i32", "n": "i32"}))
    assert re.search(r"setp\.gt\.s32 \t%p\d+, %r\d+, 3" if target == "sm_90" else r"s_cmp_gt_i32 s\d+, 3", text), text
    if target == "sm_90":
        [masked] = re.findall(r"and\.pred \t(%p\d+)", text)
        assert f"@{masked} atom.global.sys.release.exch.b32" in text, text


KERNEL = {"table": "*i64", "p": "*fp32", "flag": "*i32", "h": "*i16", "n": "i32"}


@triton.jit
def wrong(table, p, flag, h, n, CASE: tl.constexpr):
    at = tl.arange(0, 32)
    if CASE == 0:
        st.load(table, p, at)  # symm load: rank is a block, but the pointer is not
    elif CASE == 1:
        st.store(table, p + at, 1, tl.arange(0, 64))  # rank has shape [64], but the pointers have [32]
    elif CASE == 2:
        st.load(table, p + at, at * 0.5)  # rank must be an integer, not a block of fp32 of shape [32]
    elif CASE == 3:
        st.store(table, p + at, 1, at < n)  # rank must be an integer, not a block of int1 of shape [32]
    elif CASE == 4:
        st.put(table, p + at, p + at, at)  # rank must be one integer, not a block: all elements
    elif CASE == 5:
        st.copy(table, p + at, p + at, 0, at)  # to_rank must be one integer, not a block
    elif CASE == 6:
        st.put_signal(table, p + at, p + at, flag, 1, at)  # rank must be one integer, not a block
    elif CASE == 7:
        st.store_signal(table, p + at, at, flag, 1, at)  # rank must be one integer, not a block
    elif CASE == 8:
        st.store_signal(table, p + at, at, p, 1, 1)  # a flag is an int32, uint32, int64 or uint64, but this one is fp32
    elif CASE == 9:
        st.store_signal(table, p, 1, flag, 1 << 40, 1)  # value 1099511627776 does not fit in a flag of int32
    elif CASE == 10:
        st.store_signal(table, p, 1, flag, 1, 1, op="max")  # op must be one of 'set', 'add', not 'max'
    elif CASE == 11:
        st.signal(table, flag, 1, 1, mask=n > 0)  # mask is for a block of ranks: put a signal to one rank under an if
    elif CASE == 12:
        st.signal(table, flag, 1, at, mask=at)  # mask must be boolean, not a block of int32 of shape [32]
    elif CASE == 13:
        st.signal(table, flag, 1, at, group="grid")  # group must be one of 'thread', 'warp', 'block', not 'grid'
    elif CASE == 14:
        st.signal(table, flag, 1, at, sem="acq_rel")  # sem must be one of 'relaxed', 'release', not 'acq_rel'
    elif CASE == 15:
        st.signal(table, flag, 0.5, at)  # value must be an integer, not 0.5
    elif CASE == 16:
        st.signal(table, flag + tl.arange(0, 64), 1, at)  # rank has shape [32], but the pointers have [64]
    elif CASE == 17:
        st.signal(table, p, 1, at)  # a flag is an int32, uint32, int64 or uint64, but this one is fp32
    elif CASE == 18:
        st.signal_all(table, flag, 1, group=3)  # group must be one of 'thread', 'warp', 'block', not 3
    elif CASE == 19:
        st.load(table, p, 1, eviction_policy="first")  # must be one of 'evict_first', 'evict_last', not 'first'
    elif CASE == 20:
        st.load(table, p, 1, eviction_policy=1)  # eviction_policy must be one of 'evict_first', 'evict_last', not 1
    elif CASE == 21:
        st.atomic_add(table, h, 1, 1)  # there is no atomic_add of int16
    elif CASE == 22:
        st.store(table, p + at, 1, [0, 1])  # rank must be an integer, not the tuple (0, 1)
    elif CASE == 23:
        st.load(table, p, 1, cache_modifier=".cg", eviction_policy="evict_last")  # cannot be combined with '.ca', '.cg'
    elif CASE == 24:
        st.load(table, p, 1, volatile=True, eviction_policy="evict_first")  # cannot be combined with '.ca', '.cg' or


SOURCE, FIRST = inspect.getsourcelines(wrong.fn)
CASES = [line for line in SOURCE if "  # " in line]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_wrong_uses_name_the_line(case):
    with pytest.raises(symm.CompileError) as caught:
        compile_for("sm_90", wrong, KERNEL, CASE=case)
    # The line is shown below the message, with the comment.
    assert CASES[case].split("  # ")[1].strip() in str(caught.value).rsplit("\n", 1)[0]
    assert (caught.value.file, caught.value.line) == (__file__, FIRST + SOURCE.index(CASES[case]))
