"""Time-outs of waits in kernels: what they become, what they cost where there are none, and what is told of them."""

import re
from unittest import mock

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
from compiling import VERSION, carriers, compile_for, exported, machine_text
from symm import _timeouts
from symm._symm import DEADLINE_OFFSET
from triton.experimental import gluon

PLAIN = {"world": "*i64", "flags": "*i32", "slots": "*i64"}
WATCHED = {**PLAIN, "world": "*u64"}


def triton_kernel(world, flags, slots, OP: triton.language.constexpr, SECONDS: triton.language.constexpr):
    each(st.DeviceContext(world), flags, slots, OP, SECONDS)


def gluon_kernel(world, flags, slots, OP: triton.language.constexpr, SECONDS: triton.language.constexpr):
    gluon_each(sg.DeviceContext(world), flags, slots, OP, SECONDS)


def each(ctx, flags, slots, OP: triton.language.constexpr, SECONDS: triton.language.constexpr):
    if OP == "wait":
        ctx.wait(flags + 1, 3, timeout=SECONDS)
    elif OP == "barrier":
        ctx.barrier(timeout=SECONDS)
    elif OP == "packet":
        ctx.wait_packet(slots, 3, timeout=SECONDS)
    else:
        polls(ctx, flags, slots, OP, SECONDS)


def triton_polls(ctx, flags, slots, OP: triton.language.constexpr, SECONDS: triton.language.constexpr):
    if OP == "all":
        ctx.wait_all(flags + triton.language.arange(0, 4), 3, timeout=SECONDS)
    elif OP == "any":
        ctx.wait_any(flags + triton.language.arange(0, 4), 3, mask=triton.language.arange(0, 4) > 1, timeout=SECONDS)
    elif OP == "cas":
        while ctx.atomic_cas(flags, 0, 1, 0) != 0:
            pass
    elif OP == "test":
        while not ctx.test(flags, 3):
            pass
    elif OP == "carried":
        seen = ctx.atomic_or(flags, 0, 0)
        while seen < 3:
            seen = ctx.atomic_or(flags, 0, 0)
    elif OP == "spin":
        while triton.language.atomic_cas(flags, 0, 1) == 1:
            ctx.num_ranks()
    elif OP == "spin there":
        while triton.language.atomic_xchg(ctx.as_remote(flags, 0), 1) != 0:
            pass
    elif OP == "try":
        value, is_there = ctx.try_packet(slots, 3)
        while not is_there:
            value, is_there = ctx.try_packet(slots, 3)
    elif OP == "try several":
        missing = triton.language.arange(0, 8) >= 0
        while triton.language.max(missing.to(triton.language.int32), 0) != 0:
            value, is_there = ctx.try_packet(slots, 3, 8, triton.language.float16, mask=missing)
            missing = missing & (is_there == 0)
    elif OP == "beside a fence":
        while triton.language.atomic_cas(flags, 0, 1) == 1:
            pass
        ctx.fence()
    elif OP == "try floats":
        value, is_there = ctx.try_floats(slots)
        while not is_there:
            value, is_there = ctx.try_floats(slots)
    elif OP == "own turn":
        while triton.language.atomic_add(flags, 1) < 3:
            ctx.fence()
    else:
        while ctx.atomic_add(flags, 1, 0) < 3:
            pass


LINE = each.__code__.co_firstlineno + 2
POLLS = triton_polls.__code__.co_firstlineno
polls = triton.jit(triton_polls)
gluon_each, gluon_kernel = gluon.jit(each), gluon.jit(gluon_kernel)
each, triton_kernel = triton.jit(each), triton.jit(triton_kernel)
KERNELS = {"triton": triton_kernel, "gluon": gluon_kernel}


def named(signature, **constants):
    return [carrier for carrier, *_ in carriers(exported(triton_kernel, signature, **constants))]


def test_the_default_and_a_waits_own():
    plain, record = ["wait(ctx, flag, value) {comparison = ge, group = block}"], ["rank(ctx)", "heap_base(ctx, rank)"]
    assert named(PLAIN, OP="wait", SECONDS=None) == plain
    assert named(WATCHED, OP="wait", SECONDS=float("inf")) == plain
    assert named(WATCHED, OP="wait", SECONDS=None) == [
        *record,
        "wait(ctx, flag, value, deadline) {comparison = ge, group = block}",
    ]
    own = [*record, "wait(ctx, flag, value, deadline) {comparison = ge, group = block, limit = 500000000}"]
    assert named(PLAIN, OP="wait", SECONDS=0.5) == named(WATCHED, OP="wait", SECONDS=0.5) == own


@pytest.mark.in_turn
@pytest.mark.parametrize("op", ["wait", "barrier", "packet"])
@pytest.mark.parametrize("front_end", ["triton", "gluon"])
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_compiles(target, front_end, op):
    def compiled(signature, seconds=None):
        return compile_for(target, KERNELS[front_end], signature, OP=op, SECONDS=seconds)

    if target == "gfx942" and op == "packet":
        with pytest.raises(symm.CompileError, match="S1: packets have deadlines on NVIDIA GPUs only"):
            compiled(WATCHED)
        return
    # Without time-outs nothing of them is there.
    off = machine_text(compiled(PLAIN))
    clock = "globaltimer" if target == "sm_90" else "s_memrealtime"
    assert clock not in off and not _waits(compiled(PLAIN))
    with mock.patch.dict(_timeouts.waits, clear=True):
        on = compiled(WATCHED)
        assert clock in machine_text(on)
        [(tag, wait)] = _timeouts.waits.items()
    what = {"wait": "wait ge", "packet": "wait_packet"}.get(op, op)
    line = LINE + {"wait": 0, "barrier": 2, "packet": 4}[op]
    assert wait == (f"{front_end}_kernel", __file__, line, what)
    assert _waits(on).startswith(f"{tag}\t")
    if target == "sm_90":
        assert re.search(rf"\+{16}\], {tag};", machine_text(on))
        assert "mov.b64 limit, 2000000;" in machine_text(compiled(PLAIN, 0.002))
    assert str(DEADLINE_OFFSET) in machine_text(on) or f"{DEADLINE_OFFSET:#x}" in machine_text(on)


# Where the atomics of polls are, from its first line, and what is said of them.
LOOPS = {"all": (2, "wait ge"), "any": (4, "wait ge any"), "cas": (6, "wait eq"), "test": (9, "wait ge"),
         "carried": (14, "wait ge"), "spin": (16, "wait ne"), "spin there": (19, "wait eq"), "try": (24, "wait_packet"),
         "try several": (28, "wait_packet"), "beside a fence": (31, "wait ne"),
         "try floats": (37, "wait_floats")}  # fmt: skip


@pytest.mark.in_turn
@pytest.mark.parametrize("op", [*LOOPS, "turn", "own turn"])
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_loops_that_poll(target, op):
    def compiled(signature, seconds=None):
        return compile_for(target, triton_kernel, signature, OP=op, SECONDS=seconds)

    if target == "gfx942" and op in ("cas", "spin", "beside a fence") and VERSION < (3, 7):
        pytest.skip("there is no atomic_cas")
    clock = "globaltimer" if target == "sm_90" else "s_memrealtime"
    off = compiled(PLAIN)
    assert clock not in machine_text(off) and not _waits(off)
    on = compiled(WATCHED)
    if op in ("turn", "own turn"):
        # It is at work, and takes as long as it takes.
        assert clock not in machine_text(on) and not _waits(on)
        return
    line, what = LOOPS[op]
    tag, *wait = _waits(on).rstrip("\n").split("\t")
    assert wait == ["triton_kernel", __file__, str(POLLS + line), what]
    assert clock in machine_text(on)
    if target == "sm_90":
        assert re.search(rf"\+{16}\], {tag};", machine_text(on))
    if op in ("all", "any") and target == "sm_90":
        assert "mov.b64 limit, 2000000;" in machine_text(compiled(PLAIN, 0.002))


def _waits(compiled):
    return getattr(compiled.metadata, "symm_waits", "")


@pytest.mark.parametrize("seconds", [0, -1, True, "soon", float("nan")])
def test_wrong_seconds(seconds):
    with pytest.raises(
        symm.CompileError, match="symm wait: timeout must be a constant number of seconds above 0, not "
    ):
        compile_for("sm_90", triton_kernel, PLAIN, OP="wait", SECONDS=seconds)


def test_seconds_of_the_host(monkeypatch):
    assert _timeouts.default(None) == float("inf") and _timeouts.default(2) == 2
    monkeypatch.setenv("SYMM_TIMEOUT", "3.5")
    assert _timeouts.default(None) == 3.5 and _timeouts.default(2) == 2
    monkeypatch.setenv("SYMM_TIMEOUT", "0")
    with pytest.raises(symm.ArgumentError, match="SYMM_TIMEOUT must be a number of seconds above 0, .* not '0'"):
        _timeouts.default(None)


def test_the_numbers_of_a_program():
    assert _timeouts.program_of(5 | 6 << 32 | 7 << 48) == (5, 6, 7)
