"""What the compiler repairs with a warning, and refuses with SYMM_STRICT=1: in Python's words, at the line."""

import inspect
import re
import warnings

import pytest
import symm
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for

SIGNATURE = {"table": "*i64", "data": "*fp32"}


@triton.jit
def narrow(table, data):
    st.DeviceContext(table).atomic_add(data, 1.0, 1, scope="gpu")


@triton.jit
def relaxed(table, data):
    ctx = st.DeviceContext(table)
    ctx.store(data, 1.0, 1)
    ctx.signal(data.to(tl.pointer_type(tl.int32), bitcast=True), 1, 1, sem="relaxed")


@triton.jit
def to_each(table, data):
    at = tl.arange(0, 2)
    st.signal(table, data.to(tl.pointer_type(tl.int32), bitcast=True) + at, 1, at, scope="gpu")


@triton.jit
def relaxed_to_each(table, data):
    at = tl.arange(0, 2)
    st.store(table, data + 4, 1.0, 1)
    st.signal(table, data.to(tl.pointer_type(tl.int32), bitcast=True) + at, 1, at, sem="relaxed")


@triton.jit
def relaxed_from_each(table, data):
    flags = data.to(tl.pointer_type(tl.int32), bitcast=True) + tl.arange(0, 2)
    st.wait_any(table, flags, 1, sem="relaxed")
    tl.store(data + 4, tl.load(data + 5))


@triton.jit
def fenced(table, data, out):
    at, ctx = tl.arange(0, 2), st.DeviceContext(table)
    flags = data.to(tl.pointer_type(tl.int32), bitcast=True) + at
    ctx.store(data + 4, 1.0, 1)
    ctx.fence(sem="release")
    ctx.signal(flags, 1, at, sem="relaxed")
    ctx.wait_all(flags, 1, sem="relaxed")
    ctx.fence(sem="acquire")
    tl.store(out, tl.load(data + 5))


@triton.jit
def from_each(table, data):
    flags = data.to(tl.pointer_type(tl.int32), bitcast=True) + tl.arange(0, 2)
    st.wait_all(table, flags, 1, scope="gpu")


O1 = "O1: relaxed, but "
O2 = 'O2: scope gpu does not reach another rank: write scope="sys"'
STRICT_ERRORS = [
    (to_each, 2, f"symm signal: {O2}"),
    (from_each, 2, f"symm wait_all: {O2}"),
    (relaxed_to_each, 3, f"symm signal: {O1}writes come before it without a release fence: write sem=\"release\""),
    (relaxed_from_each, 2, f"symm wait_any: {O1}reads come after it without an acquire fence: write sem=\"acquire\""),
    (narrow, 1, "symm atomic_add: O2: scope gpu does not reach another rank: write scope=\"sys\", or leave scope out"),
    (relaxed, 3, "symm signal: O1: relaxed, but writes come before it without a release fence: write sem=\"release\""),
]


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize(("kernel", "line", "said"), STRICT_ERRORS, ids=lambda given: getattr(given, "__name__", ""))
def test_what_is_strict_speaks_of_python(monkeypatch, target, kernel, line, said):
    with pytest.warns(symm.SymmWarning) as warned:
        compile_for(target, kernel, SIGNATURE)
    [warning] = [each for each in warned if each.category is symm.SymmWarning]
    assert str(warning.message).startswith(said.split(": write")[0]), warning.message
    monkeypatch.setenv("SYMM_STRICT", "1")
    with pytest.raises(symm.CompileError) as raised:
        compile_for(target, kernel, SIGNATURE)
    error, lines = raised.value, inspect.getsourcelines(kernel.fn)
    source = lines[0][line + 1].strip()
    assert (error.file, error.line) == (__file__, lines[1] + line + 1)
    assert error.message.startswith(said) and error.message.endswith(f"repairs it, and warns\n    {source}"), error


@pytest.mark.filterwarnings("ignore::symm.SymmWarning")
def test_relaxed_signals_and_waits_of_blocks_are_repaired():
    def order(kernel, **more):
        text = compile_for("sm_90", kernel, SIGNATURE | more).asm["ptx"]
        return set(re.findall(r"atom\.global\.sys\.(\w+)\.", text) + re.findall(r"fence\.(\w+)\.sys", text))

    assert order(relaxed_to_each) == {"release"} and order(relaxed_from_each) == {"acquire"}
    # What a fence covers stays as it is, and nothing is said.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert order(fenced, out="*fp32") == {"relaxed", "acq_rel"}
