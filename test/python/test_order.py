"""Signals, waits, fences and barriers: order, scope, who takes part, and that nothing moves across a wait."""

import inspect
import itertools
import re
import warnings

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


def order(table, p, q, flag, peer, CONTEXT: tl.constexpr, OP: tl.constexpr, KIND: tl.constexpr, GROUP: tl.constexpr):
    ctx = CONTEXT(table)
    if OP == "signal":
        ctx.signal(flag, 1, peer, op=KIND, group=GROUP)
    elif OP == "wait":
        ctx.wait(flag, peer, compare=KIND, group=GROUP)
    elif OP == "put_signal":
        ctx.put_signal(p, q, flag, 1, peer, op=KIND, group=GROUP)
    elif OP == "fence":
        ctx.fence(sem=KIND, group=GROUP)
    else:
        ctx.barrier(group=GROUP)


KERNELS = {"triton": (triton.jit(order), st.DeviceContext), "gluon": (gluon.jit(order), sg.DeviceCtx)}
KINDS = {
    "signal": ("set", "add"),
    "wait": ("eq", "ne", "lt", "le", "gt", "ge"),
    "put_signal": ("set", "add"),
    "fence": (None, "acquire", "release"),
    "barrier": (None,),
}
ELEMENTS = ("i32", "u32", "i64", "u64")
GROUPS = ("thread", "warp", "block")


def cells():
    for target in ("sm_90", "gfx942"):
        pairs = [(op, kind) for op, kinds in KINDS.items() for kind in kinds]
        ways = list(itertools.product(KERNELS, ELEMENTS, GROUPS))
        for index, (op, kind) in enumerate(pairs):
            for way, cell in enumerate(ways):
                common = way % 8 == (3 * index + (target == "gfx942")) % 8
                yield pytest.param(target, op, kind, *cell, marks=() if common else pytest.mark.rare)


def order_text(target, op, kind, front_end="triton", element="i64", group="block"):
    signature = {"table": "*i64", "p": "*fp32", "q": "*fp32", "flag": f"*{element}", "peer": "i32"}
    kernel, context = KERNELS[front_end]
    return machine_text(compile_for(target, kernel, signature, CONTEXT=context, OP=op, KIND=kind, GROUP=group))


@pytest.mark.parametrize(("target", "op", "kind", "front_end", "element", "group"), [*cells()])
def test_order(target, op, kind, front_end, element, group):
    text = order_text(target, op, kind, front_end, element, group)
    releases = op in ("signal", "put_signal", "barrier") or (op == "fence" and kind != "acquire")
    acquires = op in ("wait", "barrier") or (op == "fence" and kind != "release")
    if target == "gfx942":
        assert ("buffer_wbl2 sc0 sc1" in text) == releases, text
        assert ("buffer_inv sc0 sc1" in text) == acquires, text
        return
    scopes = re.findall(r"\b(?:atom|red|ld|st|fence|membar)\.\S*?(?<!:)\b(cta|cluster|gpu|sys)\b", text)
    # A barrier counts its epochs in a word of its own program.
    assert set(scopes) - ({"gpu"} if op == "barrier" else set()) == {"sys"}, text
    if op in ("signal", "put_signal"):
        [update] = re.findall(r"\b(?:atom|red)\.\S*", text)
        assert ("exch" if kind == "set" else "add") in update and "release" in update, text
        assert text.index("bar.sync") < text.index(update), text
    if op == "put_signal":
        assert text.index("st.global.b32") < text.index("bar.sync"), text
    if op == "wait":
        polls = re.findall(r"\bld\.(relaxed|acquire)\.sys\S*", text)
        # The first polls acquire; then they are relaxed (O5), and one load acquires in the end.
        assert "relaxed" in polls and polls.count("acquire") == 2, text
        assert "nanosleep" in text and text.rindex("bar.sync") > text.rindex("ld.acquire.sys"), text
        compared = set(re.findall(rf"\bsetp\.(?:{kind}|eq|ne|lt|le|gt|ge)\.([su]){element[1:]}", text))
        if kind not in ("eq", "ne"):
            assert ("u" if element.startswith("u") else "s") in compared, text
    if op == "fence":
        assert "fence.acq_rel.sys" in text and "bar.sync" in text, text


@triton.jit
def narrow(table, p, flag, peer):
    st.signal(table, flag, 1, peer, scope="gpu")
    tl.store(p, st.atomic_add(table, flag, 1, peer, scope="cta"))


def test_narrow_scopes_are_widened_with_a_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = machine_text(compile_for("sm_90", narrow, dict(table="*i64", p="*i64", flag="*i64", peer="i32")))
    assert not re.search(r"\batom\.\S*\.(gpu|cta)\b", text)
    found = [warning for warning in caught if warning.category is symm.SymmWarning]
    lines, first = inspect.getsourcelines(narrow.fn)
    assert [(each.filename, each.lineno) for each in found] == [(__file__, first + 2), (__file__, first + 3)], found
    assert "scope" in str(found[0].message)


@triton.jit
def product_of_arrivals(table, a, b, c, flags, K, peer, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    ctx = st.DeviceContext(table)
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a, at_b = a + m[:, None] * K + k[None, :], b + k[:, None] * BN + n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, K, BK, num_stages=3):
        ctx.wait(flags + step // BK, 1)
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += BK
        at_b += BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], total.to(tl.float16))


@triton.jit(noinline=True)
def arrival(table, flag):
    st.wait(table, flag, 1)


@triton.jit
def product_of_calls(table, a, b, c, flags, K, peer, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    at_a, at_b = a + m[:, None] * K + k[None, :], b + k[:, None] * BN + n[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, K, BK, num_stages=3):
        arrival(table, flags + step // BK)
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += BK
        at_b += BK * BN
    tl.store(c + m[:, None] * BN + n[None, :], total.to(tl.float16))


# Triton's pipeliner moves loads above calls, whatever the function does.
@pytest.mark.parametrize("kernel", [product_of_arrivals, product_of_calls], ids=["inline", "noinline"])
def test_loads_stay_behind_a_wait(kernel):
    signature = {"table": "*i64", **dict.fromkeys(("a", "b", "c"), "*fp16"), "flags": "*i32", "K": "i32", "peer": "i32"}
    aligned = ["table", "a", "b", "c", "K"]
    text = machine_text(compile_for("sm_90", kernel, signature, aligned, BM=128, BN=128, BK=64))
    accesses = r"ld\.global\.v4|cp\.async\.c|ld\.(acquire|relaxed)\.sys"
    code = [line for line in text.splitlines() if re.search(accesses, line)]
    assert "sys" in code[0], code
    assert sum("ld.acquire.sys" in line for line in code) >= 1
    # All 16 + 16 accesses of one step, and none that another step's wait would not have come before.
    assert sum("v4" in line or "cp.async" in line for line in code) == 16, code


@triton.jit
def ignored(table, flag):
    st.wait(table, flag, 1)


def test_a_wait_is_never_dead():
    text = machine_text(compile_for("sm_90", ignored, {"table": "*i64", "flag": "*i32"}))
    assert "ld.acquire.sys" in text
