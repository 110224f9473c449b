"""The way out of Triton as text and back in changes nothing, and leaves other kernels and hooks alone."""

import contextlib
import re
import subprocess
import sys
import warnings
from unittest import mock

import plain_gluon
import plain_kernels as plain
import pytest
import remote_gluon
import symm
import symm.triton as st
import triton
import triton.language as tl
from compiling import TARGETS, Stop, compile_for, exported, machine_text
from symm import _fingerprint, _seam, _symm
from triton import knobs
from triton.backends.compiler import Language
from triton.compiler.compiler import make_backend

HALVES = dict.fromkeys(("a", "b", "c"), "*fp16")
SIZES = dict.fromkeys(("M", "N", "K"), "i32")
TILE = {"BM": 128, "BN": 128, "BK": 64}
KERNELS = {
    "constants": (plain.constants, {"out": "*fp32", "flags": "*i8", "n": "i32"}, {"B": 1024}),
    "softmax": (plain.softmax, {"out": "*fp32", "inp": "*fp32", "stride": "i32", "columns": "i32"}, {"BLOCK": 1024}),
    "matmul": (plain.matmul, {**HALVES, **SIZES, **dict.fromkeys(("sa", "sb", "sc"), "i32")}, TILE),
    "matmul_tma": (plain.matmul_tma, {**HALVES, **SIZES}, {**TILE, "WS": False}),
    "matmul_warp_specialized": (plain.matmul_tma, {**HALVES, **SIZES}, {**TILE, "WS": True}),
    "attention": (
        plain.attention,
        {**dict.fromkeys(("q", "k", "v", "out"), "*fp16"), "count": "i32", "scale": "fp32"},
        {"BM": 128, "BN": 64, "D": 64},
    ),
    "gluon_transpose": (plain_gluon.transpose, {"out": "*fp16", "inp": "*fp16"}, {"N": 64}),
    "gluon_warp_specialized": (plain_gluon.warp_specialized, dict.fromkeys(("out", "p", "q"), "*fp32"), {}),
}
CELLS = [
    *(("sm_90", name) for name in KERNELS if name != "matmul_warp_specialized"),
    ("sm_100", "matmul_warp_specialized"),
    *(("gfx942", name) for name in ("constants", "softmax", "matmul", "attention")),
]


@contextlib.contextmanager
def stages_hook(hook):
    """Triton's own hook, with somebody else's function in it."""
    with knobs.runtime.scope():
        # From 3.7 it is also called without arguments, for its part of the cache's key.
        knobs.runtime.add_stages_inspection_hook = lambda *arguments: hook(*arguments) if arguments else ("", "")
        yield


@pytest.mark.parametrize(("target", "name"), CELLS)
def test_round_trip_is_identity(target, name):
    kernel, signature, constants = KERNELS[name]
    aligned = [name for name in signature if name != "scale"]
    warps = 8 if name.startswith("matmul") else 4
    texts = []

    def through_text(backend, stages, options, language, capability):
        first = next(iter(stages))
        compile_ir = stages[first]

        def stage(module, metadata):
            gpu = f"{backend.target.backend}:{backend.target.arch}"
            text, *_ = _symm.lower_triton(_seam.generic_text(module), triton.__version__, gpu)
            texts.append(text)
            return compile_ir(_seam.parse(text, module.context), metadata)

        stages[first] = stage

    def compiled(warps):
        return machine_text(compile_for(target, kernel, signature, aligned, {"num_warps": warps}, **constants))

    straight = compiled(warps)
    with stages_hook(through_text):
        detour = compiled(warps)
    assert len(texts) == 1
    assert straight == detour
    if "gluon" not in name:
        assert straight != compiled(warps // 2), "the comparison is blind"
    if "warp_specialized" in name:
        assert "setmaxnreg" in straight


@triton.jit
def remote(table, p):
    tl.store(p, st.load(table, p, 1))


REMOTE = {"table": "*i64", "p": "*fp32"}


def test_kernels_without_symm_ops_are_left_alone():
    kernel, signature, constants = KERNELS["softmax"]
    with mock.patch.object(_seam, "lower", side_effect=Stop):
        compile_for("sm_90", kernel, signature, **constants)
        with pytest.raises(Stop):
            compile_for("sm_90", remote, REMOTE)


@pytest.mark.parametrize("name", ["softmax", "gluon_transpose"])
def test_another_hook_goes_on_working(name):
    kernel, signature, constants = KERNELS[name]
    seen = []
    with stages_hook(lambda backend, stages, *_: seen.append(list(stages))):
        compile_for("sm_90", kernel, signature, **constants)
        exported(remote, REMOTE)
    first = "ttir" if name == "softmax" else "ttgir" if triton.__version__.startswith("3.6") else "glir"
    assert [stages[0] for stages in seen] == [first, "ttir"]


def test_a_stage_of_another_hook_in_front_is_passed_over():
    def in_front(backend, stages, *_):
        others = dict(stages)
        stages.clear()
        stages.update({"somebody's": None, **others})

    with stages_hook(in_front):
        compile_for("sm_90", remote, REMOTE)


def test_clusters_are_refused():
    with pytest.raises(symm.CompileError, match="runs in one CTA, not in clusters: num_ctas is 2"):
        compile_for("sm_90", remote, REMOTE, options={"num_ctas": 2})


def test_cache_knows_the_compiler():
    backend = make_backend(TARGETS["sm_90"])
    before = backend.hash()
    assert _seam.fingerprint() in before
    with mock.patch.object(_seam, "fingerprint", return_value="symm-another"):
        assert backend.hash() != before


def test_fingerprint_has_the_linker_s_hash_of_the_compiler():
    notes = subprocess.run(["readelf", "--notes", "--wide", _symm.__file__], capture_output=True, text=True, check=True)
    [build_id] = re.findall(r"Build ID: (\w+)", notes.stdout)
    assert _fingerprint._build_id(_symm.__file__).hex() == build_id
    assert _fingerprint._build_id(sys.modules["_ctypes"].__file__) != bytes.fromhex(build_id)
    with mock.patch.object(_fingerprint, "_build_id", return_value=b"another"):
        assert _fingerprint.fingerprint.__wrapped__() != _fingerprint.fingerprint()


# Like the variable of the kernel below, whose methods it has not.
ctx = "somebody's"


@triton.jit
def branches(table, p, peer):
    ctx = st.DeviceContext(table)
    if peer > 0:
        ctx.store(p, 1.0, peer)
    else:
        ctx.store(p, 2.0, peer)


def test_a_global_with_the_name_of_a_variable_is_no_method_of_it():
    text = machine_text(compile_for("sm_90", branches, {**REMOTE, "peer": "i32"}))
    assert len(re.findall(r"\bst\.global", text)) in (1, 2), text


def test_remarks_are_logged_and_warnings_name_the_line(caplog):
    notes = [("warning", "widened", "kernel.py", 7), ("remark", "hoisted", "kernel.py", 8)]
    module = mock.Mock()
    with (
        mock.patch.object(_symm, "lower_triton", return_value=("", notes, "", [])),
        mock.patch.multiple(_seam, generic_text=mock.Mock(return_value=""), parse=mock.DEFAULT),
        warnings.catch_warnings(record=True) as caught,
        caplog.at_level("INFO", "symm"),
    ):
        warnings.simplefilter("always")
        _seam.lower(module, TARGETS["sm_90"], Language.TRITON)
    assert [(each.category, each.filename, each.lineno) for each in caught] == [(symm.SymmWarning, "kernel.py", 7)]
    assert caplog.messages == ["kernel.py:8: hoisted"]


def test_untested_version_warns():
    for version, warned in (("3.6.0", False), ("3.9.1", False), ("3.10.0", True), ("3.5.1", True)):
        with mock.patch.object(triton, "__version__", version), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _seam._check_version()
        assert bool(caught) == warned, version
        if warned:
            assert str(caught[0].message) == f"symm is tested with Triton 3.6 to 3.9, and this is {version}"


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_symm_alone_imports_no_triton():
    done = run_python("import sys, symm; assert not {'triton', 'torch'} & set(sys.modules), 'imported'")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("front_end", ["triton", "gluon"])
def test_missing_triton_is_said(front_end):
    done = run_python(f"import sys; sys.modules['triton'] = None; import symm.{front_end}")
    assert "MissingDependencyError: symm.triton and symm.gluon need Triton" in done.stderr
    assert "pip install triton" in done.stderr


def test_warp_specialized_kernels_hold_ops():
    signature = {"table": "*i64", **dict.fromkeys(("p", "q", "out"), "*fp32"), "peer": "i32"}
    text = machine_text(compile_for("sm_90", remote_gluon.warp_specialized, signature, ["p", "q", "out"]))
    assert "setmaxnreg" in text
    # The remote load is in a partition, and the bases are loaded once.
    assert len(re.findall(r"ld\.global\S*\.v2\.b32", text)) == 2, text


@triton.jit
def marks_in_strings(table, p):
    tl.device_print("symm.carriers = 1 : i32, llvm.data_layout = ", st.rank(table))
    tl.store(p, 1)


def test_strings_of_the_kernel_stay_as_they_are():
    text = machine_text(compile_for("sm_90", marks_in_strings, REMOTE))
    characters = [bytes(int(byte) for byte in found.split(",")) for found in re.findall(r"\] = \{([\d, ]+)\}", text)]
    assert any(b"symm.carriers = 1 : i32, llvm.data_layout =" in each for each in characters), characters
