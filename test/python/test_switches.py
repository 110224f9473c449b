"""Switches of the compiler: in the environment, and of one kernel."""

import importlib.util
import os
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
    with pytest.raises(symm.ArgumentError, match=r"options: which\? Write `@st.options\(strict=True\)`, say, ab"):
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
        said = f"a kernel is given the class symm.{kind.__name__}: give it what {made}"
        with pytest.raises(symm.ArgumentError, match=said):
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
