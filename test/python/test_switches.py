"""Switches of the compiler: in the environment, and of one kernel."""

import importlib.util
import inspect
import os
import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
import triton.language as tl
from compiling import TARGETS, compile_for
from symm import _switches
from triton.compiler.compiler import ASTSource
from triton.experimental import gluon
from triton.runtime.jit import MockTensor

SIGNATURE = {"table": "*i64", "data": "*fp32"}


@triton.jit
def narrow(table, data):
    st.DeviceContext(table).atomic_add(data, 1.0, 1, scope="gpu")


@triton.jit
def arriving(table, flag):
    st.DeviceContext(table).wait(flag, 1)


@st.options(strict=True)
@triton.jit
def strict(table, data):
    st.DeviceContext(table).atomic_add(data, 1.0, 1, scope="gpu")


@sg.options(strict=False)
@gluon.jit
def lenient(table, data):
    sg.DeviceContext(table).atomic_add(data, 1.0, 1, scope="gpu")


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_strict_kernels(monkeypatch, target):
    with pytest.warns(symm.SymmWarning, match="O2"):
        compile_for(target, narrow, SIGNATURE)
    with pytest.raises(symm.CompileError, match="O2"):
        compile_for(target, strict, SIGNATURE)
    # What is in Triton's cache was compiled without the switch.
    monkeypatch.setenv("SYMM_STRICT", "1")
    with pytest.raises(symm.CompileError, match="O2"):
        compile_for(target, narrow, SIGNATURE)
    with pytest.warns(symm.SymmWarning, match="O2"):
        compile_for(target, lenient, SIGNATURE)


@triton.jit
def optional(table, data):
    st.options(strict=True)


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


@pytest.mark.parametrize(("target", "final"), [("sm_90", "ptx"), ("gfx942", "amdgcn")])
@pytest.mark.filterwarnings("ignore::symm.SymmWarning")
def test_dumps(monkeypatch, tmp_path, target, final):
    monkeypatch.setenv("SYMM_DUMP", str(tmp_path))
    compile_for(target, narrow, SIGNATURE)
    [folder] = tmp_path.iterdir()
    texts = {path.name.split("-", 1)[1]: path.read_text() for path in sorted(folder.iterdir())}
    assert folder.name.startswith("narrow-")
    assert next(iter(texts)) == "before-symm-raise-carriers.mlir"
    assert "symm.carrier" in texts["before-symm-raise-carriers.mlir"]
    assert "symm.atomic_rmw" in texts["before-symm-check-memory-order.mlir"]
    assert "tt.atomic_rmw" in texts["lowered.mlir"] and "symm." not in texts["lowered.mlir"].split("loc(")[0]
    assert f"triton.{final}" in texts and "triton.ttir" in texts
    # A process dumps what is in Triton's cache by another one, too.
    monkeypatch.setattr(_switches, "THIS_PROCESS", "another")
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    compile_for(target, narrow, SIGNATURE)
    [folder] = tmp_path.iterdir()
    assert len(list(folder.iterdir())) == len(texts)


def test_wrong_switches(monkeypatch, tmp_path):
    with pytest.raises(symm.ArgumentError, match="options: strict must be True or False, not 1"):
        st.options(strict=1)
    with pytest.raises(symm.ArgumentError, match="options: dump must be a folder, not 3"):
        st.options(dump=3)
    with pytest.raises(symm.ArgumentError, match="options: dump must be a folder, not b'dumps'"):
        st.options(dump=b"dumps")
    named = "options takes each switch by its name, strict, dump or bounds_checks, and was given "
    for wrong in (True, None, "dumps", 3):
        with pytest.raises(symm.ArgumentError, match=f"^{named}{wrong!r}$"):
            st.options(wrong)
    with pytest.raises(symm.ArgumentError, match=r"options: which\? Write `@st.options\(strict=True\)`, say, above the"):
        st.options(fresh(narrow))
    with pytest.raises(triton.compiler.errors.CompilationError, match="options is not for kernels: write `with st.opt"):
        compile_for("sm_90", optional, SIGNATURE)
    with pytest.raises(TypeError, match=r"^options\(\) got an unexpected keyword argument 'foo'$"):
        st.options(foo=1)
    for wrong in (3, narrow.fn, st.options):
        with pytest.raises(symm.ArgumentError, match="is not a kernel: write it above @triton.jit"):
            st.options(strict=True)(wrong)
    monkeypatch.setenv("SYMM_STRICT", "yes")
    with pytest.raises(symm.ArgumentError, match="SYMM_STRICT must be 0 or 1, not 'yes'"):
        compile_for("sm_90", narrow, SIGNATURE)
    monkeypatch.delenv("SYMM_STRICT")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SYMM_DUMP", str(tmp_path / "file"))
    with pytest.raises(symm.ArgumentError, match="SYMM_DUMP: cannot write to "):
        compile_for("sm_90", narrow, SIGNATURE)
    (tmp_path / "another").write_text("")
    said = "options: dump: cannot write to "
    with pytest.raises(symm.ArgumentError, match=said), st.options(dump=tmp_path / "another"):
        compile_for("sm_90", narrow, SIGNATURE)


@pytest.mark.filterwarnings("ignore::symm.SymmWarning")
def test_options_say_what_they_are():
    assert repr(st.options()) == "st.options()"
    assert repr(st.options(strict=True, dump=Path("there"))) == "st.options(strict=True, dump='there')"


def test_options_that_are_not_used_are_told():
    with pytest.warns(symm.SymmWarning, match="^st.options without `with` does nothing: write `with st.opt") as warned:
        st.options(strict=True)
    assert warned[0].filename == __file__ and len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with st.options(strict=True):
            pass
        st.options(strict=False)(fresh(narrow))
    with pytest.raises(symm.ArgumentError), warnings.catch_warnings():
        warnings.simplefilter("error")
        st.options(strict=1)


SWITCHES_OF_LAUNCHES = [
    ({"bounds_checks": True}, "a launch takes no bounds_checks: write `with st.options.bounds_checks=True.:` around"),
    ({"strict": True}, "a launch takes no strict: write `with st.options.strict=True.:` around it"),
    ({"dump": "there"}, "a launch takes no dump: write `with st.options.dump='there'.:` around it"),
    ({"timeout": 2}, "a launch takes no timeout: write `with world.timeout.2.:` around it"),
]


def test_the_page_compiles_without_a_gpu(tmp_path):
    page = (Path(__file__).parents[2] / "docs/kernels.md").read_text()
    [block] = page.split("```py\n")[1:]
    (tmp_path / "program.py").write_text(block.split("```")[0])
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    run = [sys.executable, tmp_path / "program.py"]
    done = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ".target sm_90" in done.stdout and ".amdgcn_target" in done.stdout and "gfx942" in done.stdout, done.stdout
    assert "atom.global.sys.release" in done.stdout and "buffer_wbl2 sc0 sc1" in done.stdout, done.stdout


class Driver:
    """As on a machine with a GPU."""

    def __init__(self, target):
        self.target = TARGETS[target]

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


def launched(kernel):
    """A kernel as a launch finds it, or compiles it."""
    return kernel.warmup(MockTensor(tl.int64), MockTensor(tl.float32), grid=(1,))


def fresh(kernel):
    """The same kernel, of which nothing is compiled in this process."""
    return (gluon if type(kernel) is not type(narrow) else triton).jit(kernel.fn)


@pytest.mark.in_turn
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("kernel", [narrow, lenient], ids=["triton", "gluon"])
@pytest.mark.filterwarnings("ignore::symm.SymmWarning")
def test_a_launch_with_other_switches_compiles_again(monkeypatch, tmp_path, kernel, target):
    monkeypatch.setattr(triton.runtime.driver, "_active", Driver(target))
    # With which Triton looks at tensors of torch, on AMD GPUs.
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    kernel = fresh(kernel)
    plain = launched(kernel)
    assert launched(kernel) is plain

    def others():
        """The same switches, in the environment and of a `with` block."""
        monkeypatch.setenv("SYMM_BOUNDS_CHECKS", "1")
        yield launched(kernel)
        monkeypatch.delenv("SYMM_BOUNDS_CHECKS")
        with st.options(bounds_checks=True):
            yield launched(kernel)

    text = "ptx" if target == "sm_90" else "amdgcn"
    for other in others():
        assert other is not plain and other.asm[text] != plain.asm[text]
        assert "outside symm atomic ptr" in other.metadata.symm_waits
    for folder in ("one", "another"):
        with st.options(dump=tmp_path / folder):
            assert launched(kernel) is not plain
        assert len(list((tmp_path / folder).iterdir())) == 1
    with pytest.raises(symm.CompileError, match="O2"), st.options(strict=True):
        launched(kernel)
    monkeypatch.setenv("SYMM_STRICT", "1")
    with pytest.raises(symm.CompileError, match="O2"):
        launched(kernel)
    with st.options(strict=False):
        assert launched(kernel).asm[text] == plain.asm[text]
    monkeypatch.setenv("SYMM_STRICT", "perhaps")
    with pytest.raises(symm.ArgumentError, match="SYMM_STRICT must be 0 or 1, not 'perhaps'"):
        launched(kernel)
    monkeypatch.delenv("SYMM_STRICT")
    assert launched(kernel) is plain


@triton.jit
def of_its_own(table, data, strict: tl.constexpr):
    if strict:
        st.DeviceContext(table).atomic_add(data, 1.0, 1)


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_a_launch_takes_no_switches(monkeypatch, target):
    monkeypatch.setattr(triton.runtime.driver, "_active", Driver(target))
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    given = MockTensor(tl.int64), MockTensor(tl.float32)
    for keywords, mend in SWITCHES_OF_LAUNCHES:
        with pytest.raises(symm.ArgumentError, match=mend):
            fresh(arriving).warmup(*given, grid=(1,), **keywords)
    for kind, made in ((symm.World, r"symm.init\(\)"), (symm.Team, r"world.team\(\[0, 1\]\) or world.split")):
        with pytest.raises(symm.ArgumentError, match=f"a kernel is given the class symm.{kind.__name__}: give it what {made}"):
            fresh(arriving).warmup(kind, given[1], grid=(1,))
    assert fresh(of_its_own).warmup(*given, grid=(1,), strict=True) is not None


INTERPRETED = """
import sys, os
sys.path.insert(0, {tests!r})
import pytest, symm, triton, torch
import symm.triton as st
import triton.language as tl

@triton.jit
def kernel(data, strict: tl.constexpr = True):
    pass

@triton.jit
def other(data):
    pass

for keywords, mend in {cases!r}:
    with pytest.raises(symm.ArgumentError, match=mend):
        other[(1,)](3, **keywords)
kernel[(1,)](3, strict=False, num_warps=4)
os.environ["SYMM_STRICT"] = "maybe"
with pytest.raises(symm.ArgumentError, match="SYMM_STRICT must be 0 or 1, not 'maybe'"):
    other[(1,)](3)
"""


def test_an_interpreted_launch_takes_no_switches(tmp_path):
    program, tests = tmp_path / "program.py", Path(__file__).parent
    program.write_text(INTERPRETED.format(tests=str(tests / "stand_in"), cases=SWITCHES_OF_LAUNCHES))
    run = [sys.executable, str(program)]
    if importlib.util.find_spec("torch") is not None:
        program.write_text(program.read_text().replace("sys.path.insert", "#"))
    done = subprocess.run(run, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wrong = {**os.environ, "TRITON_INTERPRET": "1", "SYMM_STRICT": "maybe"}
    done = subprocess.run(run, env=wrong, capture_output=True, text=True)
    assert "ArgumentError: SYMM_STRICT must be 0 or 1, not 'maybe'" in done.stderr, done.stderr


def test_what_goes_before_what(monkeypatch):
    kernel = fresh(narrow)
    outer, inner = st.options(strict=True, bounds_checks=False), st.options(strict=False)
    with outer:
        assert _switches.of(kernel) == (True, "", False, False, "")
        with inner, inner:
            assert _switches.of(kernel) == (False, "", False, False, "")
            with pytest.raises(KeyError), st.options(dump="there"):
                assert _switches.of(kernel).dump == "there"
                raise KeyError
        assert _switches.of(kernel).strict
        other = threading.Thread(target=lambda: seen.append(_switches.of(kernel)))
        seen = []
        other.start()
        other.join()
        assert seen == [_switches.Switches()]
    assert _switches.of(kernel) == _switches.Switches() and _switches.of_launch() == ""
    # The launch, the decorators from the top down, the environment.
    monkeypatch.setenv("SYMM_DUMP", "everywhere")
    assert st.options(strict=True, dump="")(st.options(strict=False, bounds_checks=True)(kernel)) is kernel
    assert _switches.of(kernel) == (True, "", True, False, "")
    with st.options(bounds_checks=False, dump="here"):
        assert _switches.of(kernel) == (True, "here", False, False, "")


def test_a_decorator_above_autotune():
    tuned = triton.autotune([triton.Config({})], key=[])(triton.heuristics({})(fresh(narrow)))
    assert st.options(strict=True)(tuned) is tuned
    assert _switches.of(tuned.fn.fn).strict


def test_a_thread_that_compiles_for_another(monkeypatch):
    """As where Triton compiles in the background."""
    source = ASTSource(fresh(narrow), SIGNATURE)
    with st.options(strict=True):
        asked = source.hash()
    hashes = []
    thread = threading.Thread(target=lambda: hashes.extend([source.hash(), _switches.kept(source).strict]))
    thread.start()
    thread.join()
    assert hashes == [asked, True]
    # Who asks again is told anew.
    assert source.hash() != asked and not _switches.kept(source).strict


def test_a_kernel_is_compiled_once_with_time_outs_and_once_without(monkeypatch):
    """Of a World with a time-out the table has another type."""
    monkeypatch.setattr(triton.runtime.driver, "_active", Driver("sm_90"))
    kernel = fresh(arriving)
    tables = (tl.int64, tl.uint64, tl.int64, tl.uint64)
    plain, watched, *again = (kernel.warmup(MockTensor(table), MockTensor(tl.int32), grid=(1,)) for table in tables)
    assert "globaltimer" in watched.asm["ptx"] and "globaltimer" not in plain.asm["ptx"]
    assert again[0] is plain and again[1] is watched
