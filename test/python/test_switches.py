"""Switches of the compiler: in the environment, and of one kernel."""

import pytest
import symm
import symm.gluon as sg
import symm.triton as st
import triton
from compiling import compile_for
from symm import _switches
from triton.experimental import gluon

SIGNATURE = {"table": "*i64", "data": "*fp32"}


@triton.jit
def narrow(table, data):
    st.DeviceContext(table).atomic_add(data, 1.0, 1, scope="gpu")


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
    with pytest.raises(symm.ArgumentError, match="is not a kernel: write it above @triton.jit"):
        st.options(strict=True)(3)
    monkeypatch.setenv("SYMM_STRICT", "yes")
    with pytest.raises(symm.ArgumentError, match="SYMM_STRICT must be 0 or 1, not 'yes'"):
        compile_for("sm_90", narrow, SIGNATURE)
    monkeypatch.delenv("SYMM_STRICT")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SYMM_DUMP", str(tmp_path / "file"))
    with pytest.raises(symm.ArgumentError, match="SYMM_DUMP: cannot write to "):
        compile_for("sm_90", narrow, SIGNATURE)
