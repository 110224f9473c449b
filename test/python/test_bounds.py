"""Bounds checks of compiled kernels: what they become, and that they are nothing where they are not asked for."""

import inspect
import re
import warnings
from unittest import mock

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text
from symm import _bounds, _switches, _timeouts
from symm._symm import DEADLINE_NUMBERS, DEADLINE_OFFSET, DEADLINE_RECORD
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

SIGNATURE = {"world": "*i64", "src": "*fp32", "dst": "*fp32", "flag": "*i64", "n": "i32"}
POINTERS = ["src", "dst", "flag"]
# Where the list of tensors is, from the start of a heap.
LIST = DEADLINE_OFFSET + 8 * DEADLINE_RECORD["tensors"]


@triton.jit
def each(world, src, dst, flag, n, OP: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    if OP == "store":
        ctx.store(dst + at, tl.load(src + at), 1, cache_modifier=".cs")
    elif OP == "load":
        tl.store(dst + at, ctx.load(src + at, 1, volatile=True))
    elif OP == "evicted":
        tl.store(dst + at, ctx.load(src + at, 1, eviction_policy="evict_first"), mask=at < n)
    elif OP == "as_remote":
        there = ctx.as_remote(dst, 1) + at
        tl.store(there, tl.load(ctx.as_remote(src + at, 1), cache_modifier=".cg"), eviction_policy="evict_last")
        tl.atomic_add(there, 1.0, sem="relaxed")
    elif OP == "loop":
        from_there = src + at
        for _ in range(n):
            ctx.get(from_there, dst + at, 1)
            from_there += 1024
    elif OP == "scalar":
        ctx.put_signal(src, dst, flag, 1, 1)
        ctx.wait(flag, 1)
        ctx.atomic_add(flag + 1, 1, 1)
    elif OP == "chosen":
        tl.store(tl.where(at < n, dst + at, src + at), ctx.rank())
    elif OP == "branch":
        here = src
        if n > 3:
            here = dst
        tl.store(here + at, ctx.rank())
    elif OP == "exchanged":
        here, there = dst + at, ctx.as_remote(src, 1) + at
        for _ in range(n):
            tl.store(here, 1)
            here, there = there, here
        tl.store(there, 1, mask=at < n)
    elif OP == "exchanged by while":
        here, there = dst, src
        left = n
        while left > 0:
            if left % 3 == 0:
                here, there = there + 1024, here
            left -= ctx.load(here, 1).to(tl.int32)
        tl.store(here + at, 1)
    elif OP == "of each rank":
        tl.store(ctx.as_remote(tl.where(at < n, dst + at, src + at), at % 2), 1)
    else:
        tile = tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :]
        ctx.put(src + tile, dst + tile, 1, mask=tile < n)


@gluon.jit
def each_in_gluon(world, src, dst, flag, n, OP: gl.constexpr, WARP: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [1, WARP], [4, 1], [1, 0])
    rows = gl.arange(0, 16, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 256, layout=gl.SliceLayout(0, layout))
    tile = rows[:, None] * 256 + columns[None, :]
    sg.DeviceContext(world).put(src + tile, dst + tile, 1, mask=tile < n)


# What is looked at: each op, and its operand.
LOOKED_AT = {
    "store": ["tl.load pointer", "symm store ptr"],
    "load": ["symm load ptr", "tl.store pointer"],
    "evicted": ["symm load ptr", "tl.store pointer"],
    "as_remote": ["tl.load pointer", "tl.store pointer", "tl.atomic pointer"],
    "loop": ["symm get src", "symm get dst"],
    "scalar": [
        "symm put_signal src", "symm put_signal dst", "symm put_signal flag", "symm wait flag", "symm atomic ptr",
    ],
    "chosen": ["tl.store pointer"],
    "branch": ["tl.store pointer"],
    "exchanged": ["tl.store pointer", "tl.store pointer"],
    "exchanged by while": ["symm load ptr", "tl.store pointer"],
    "of each rank": ["tl.store pointer"],
    "tile": ["symm put src", "symm put dst"],
    "gluon": ["symm put src", "symm put dst"],
}  # fmt: skip


def compiled(target, op):
    """A kernel's text, and what is said of its accesses."""
    with mock.patch.dict(_timeouts.waits, clear=True):
        if op == "gluon":
            made = compile_for(target, each_in_gluon, SIGNATURE, POINTERS, OP=op, WARP=32 if target == "sm_90" else 64)
        else:
            made = compile_for(target, each, SIGNATURE, POINTERS, OP=op)
        return machine_text(made), list(_timeouts.waits.values())


def data(text, target):
    """The kinds of accesses: with their widths, caches and orders."""
    if target == "sm_90":
        found = re.findall(r"\b((?:ld|st|atom|red)\.[\w.:]+)", text)
        return set(each for each in found if not re.search(r"\.(param|shared)\b", each))
    found = re.findall(r"\b((?:global|buffer|flat)_(?:load|store|atomic)_\w+) (.*)", text)
    return set(f"{name} {' '.join(re.findall(r' (sc0|sc1|nt)', rest))}" for name, rest in found)


@pytest.mark.in_turn
@pytest.mark.parametrize("op", LOOKED_AT)
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_the_access_itself_stays_what_it_is(monkeypatch, target, op):
    plain, nothing = compiled(target, op)
    assert nothing == []
    monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "1")
    monkeypatch.setattr(_bounds.Asked, "yet", False)
    checked, said = compiled(target, op)
    assert _bounds.Asked.yet
    assert [what for *_, what in said] == [f"outside {each}" for each in LOOKED_AT[op]]
    kernel = (each_in_gluon if op == "gluon" else each).fn
    first, last = kernel.__code__.co_firstlineno, max(line for *_, line in kernel.__code__.co_lines() if line)
    assert {(name, file) for name, file, *_ in said} == {(kernel.__name__, __file__)}
    assert all(first < line <= last for _, _, line, _ in said)
    assert not data(plain, target) - data(checked, target)
    # The record is taken by who is first, and says where the tensors are.
    record = r"atom\.global\.sys\.relaxed\.max\.u64" if target == "sm_90" else r"global_atomic_cmpswap_x2 .* sc1"
    assert len(re.findall(record, checked)) == len(LOOKED_AT[op]) and not re.search(record, plain)
    assert re.search(rf"{LIST}\b|{LIST:#x}\b", checked)


@pytest.mark.parametrize("access", sorted(set(sum(LOOKED_AT.values(), []))))
def test_each_access_is_told(access):
    world = mock.Mock(members=None)
    world.tensor_at.return_value = "World.zeros: torch.int32, (100,)"
    words = [0] * DEADLINE_RECORD["logged_words"]
    told = {"base": 0x1000, "address": 0x1590, "expected": 0x1400, "seen": 0x1590, "program": 5 | 2 << 32 | 1 << 48}
    for name, value in told.items():
        words[DEADLINE_RECORD[name]] = value
    message, *fields = _bounds.described(world, 3, words, ("ring", "ring.py", 20, f"outside {access}"))
    assert fields == ["ring.py", 20, "ring", 3, (5, 2, 1), "World.zeros: torch.int32, (100,)", 400]
    op, operand = access.rsplit(" ", 1)
    assert message.startswith(
        f"kernel ring: rank 3, program (5, 2, 1): {op}: {operand} is outside of World.zeros: torch.int32, (100,): "
        "it is at byte 400, and the tensor has 400 bytes."
    )
    assert world.tensor_at.call_args == mock.call(0x400, 400)


@triton.jit
def unseen(world, src, dst, flag, n, HOW: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, 64)
    if HOW == "address":
        tl.store(ctx.load(flag, 1).to(tl.pointer_type(tl.float32)) + at, 1)
    elif HOW == "descriptor":
        ctx.store(flag, tl.sum(tl.make_tensor_descriptor(src, [n], [1], [64]).load([0])).to(tl.int64), 1)
    else:
        ctx.store(flag, tl.load(flag), 1)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("address", "bounds checks do not see this tl.store: its pointer is not made from the kernel's arguments"),
        ("descriptor", "bounds checks do not see this tt.descriptor_load: it is by a tensor descriptor"),
        ("", None),
    ],
)
def test_what_is_not_checked_is_said(monkeypatch, how, said):
    monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "1")
    lines, first = inspect.getsourcelines(unseen.fn)
    with mock.patch.dict(_timeouts.waits, clear=True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_for("sm_90", unseen, SIGNATURE, POINTERS, HOW=how)
    assert [said in str(each.message) for each in caught] == ([True] if said else []), caught
    for each in caught:
        assert (each.category, each.filename) == (symm.SymmWarning, __file__)
        assert first < each.lineno < first + len(lines)


def test_a_far_rank_of_several_has_no_number():
    world, words = mock.Mock(members=None), [0] * DEADLINE_RECORD["logged_words"]
    world.flag_at.return_value = "element 3 of World.zeros"
    for name, value in {"base": 0x1000, "address": 0x100C, "expected": DEADLINE_NUMBERS["nowhere"]}.items():
        words[DEADLINE_RECORD[name]] = value
    message, *_ = _bounds.described(world, 0, words, ("ring", "ring.py", 20, "far tl.load pointer"))
    assert "tl.load: pointer leads to element 3 of World.zeros of another rank, which is far" in message, message
    words[DEADLINE_RECORD["expected"]] = 2
    message, *_ = _bounds.described(world, 0, words, ("ring", "ring.py", 20, "far tl.load pointer"))
    assert "of rank 2, which is far" in message, message


@st.options(bounds_checks=True)
@triton.jit
def several(world, src, dst, flag, n, N: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, N)
    tile = at[:, None] * N + at[None, :]
    ctx.store(dst + at, ctx.load(src + at, at % 2), at % 2)
    ctx.store_signal(dst + at, tl.load(src + at), flag, 1, 1)
    tl.store(flag, tl.max(ctx.wait_all(flag + at, 1)))
    if ctx.test(flag, 3):
        square = tl.dot(tl.load(src + tile).to(tl.float16), ctx.load(src + tile, 1).to(tl.float16))
        tl.store(dst + tile, square.to(dst.dtype.element_ty))
    ctx.put_packet(flag, at.to(tl.int64), 3, 1)
    tl.store(flag + at, ctx.wait_packet(flag, 3, [N], tl.int64))
    value, is_there = ctx.try_packet(flag, 4, [N], tl.int64)
    tl.store(flag + at, value, mask=is_there)


@pytest.mark.in_turn
@pytest.mark.parametrize("element", ["i1", "bf16"])
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_every_kind_of_access_is_assembled(target, element):
    with mock.patch.dict(_timeouts.waits, clear=True):
        compile_for(target, several, {**SIGNATURE, "src": f"*{element}", "dst": f"*{element}"}, POINTERS, N=32)
        looked_at = {what.split(" ", 1)[1] for *_, what in _timeouts.waits.values()}
    assert looked_at >= {"symm put_packet slots", "symm wait_packet slots", "symm try_packet slots", "symm load ptr"}


def test_the_decorators_argument(monkeypatch):
    own = triton.jit(each.fn)
    monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "1")
    assert _switches.of(own).bounds and not _switches.of(st.options(bounds_checks=False)(own)).bounds
    monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "0")
    assert _switches.of(st.options(bounds_checks=True)(own)).bounds
    assert _switches.of(own).key().endswith(" bounds")
    with pytest.raises(symm.ArgumentError, match="options: bounds_checks must be True or False, not 1"):
        st.options(bounds_checks=1)
    monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "yes")
    with pytest.raises(symm.ArgumentError, match="SYMM_BOUNDS_CHECKS must be 0 or 1, not 'yes'"):
        _switches.of(triton.jit(each.fn))


def test_kernels_of_symm_are_not_checked(monkeypatch):
    monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "1")
    from symm.comm import kernels_direct

    kernels = [each for each in vars(kernels_direct).values() if isinstance(each, triton.runtime.jit.JITFunction)]
    assert kernels and not any(_switches.of(each).bounds or _switches.are_bounds_checked(each) for each in kernels)
