"""Programs and Triton kernels, linked with each version of NVSHMEM that is there: NVIDIA's package, and the folders (of
include and lib) in SYMM_NVSHMEM_FOLDERS. They are compiled and assembled; nothing runs.
"""

import importlib.util
import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import far_kernels
import pytest
from compiling import compile_for, machine_text
from symm import EngineError, _engine, _seam
from test_far import KERNELS
from triton.compiler.compiler import CompiledKernel

ROOT = Path(__file__).parents[2]
# One tool that is all of them.
TRANSLATE = Path(os.environ.get("SYMM_OPT", ROOT / "target/release/symm-opt")).with_name("symm-translate")
PTXAS = ROOT / "target/ptxas/nvidia/cu13/bin/ptxas"
# A kernel of 1024 threads, copies, and every signal; together nearly all that a far path calls.
PROGRAMS = ("parted_threads", "atomic_rmw", "put_signal", "packets", "remote_load_mask")
REGISTERS_OF_1024_THREADS = 64


def folders():
    """The versions that are there, by their folders' names."""
    told = [folder for folder in os.environ.get("SYMM_NVSHMEM_FOLDERS", "").split(os.pathsep) if folder]
    if importlib.util.find_spec("nvidia") and (found := importlib.util.find_spec(_engine.WHEEL)):
        told += found.submodule_search_locations or ()
    return [Path(folder) for folder in told if (Path(folder) / "lib/libnvshmem_host.so.3").exists()]


FOLDERS = folders() or [pytest.param(None, marks=pytest.mark.skip(reason="no NVSHMEM here"))]


@pytest.fixture(params=FOLDERS, ids=lambda folder: "-".join(folder.parts[-4:]) if folder else "none")
def nvshmem(request, monkeypatch):
    monkeypatch.setattr(_engine, "_folders", lambda: [request.param / "lib"])
    monkeypatch.delenv(_engine.BITCODE, raising=False)
    return request.param


@pytest.mark.in_turn
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_assemble_for_blocks_of_any_size(nvshmem, name, tmp_path):
    if not TRANSLATE.exists() or not PTXAS.exists():
        pytest.skip("needs symm-translate and ./x ptxas")
    ptx, host = tmp_path / "kernels.ptx", str(nvshmem / "lib/libnvshmem_host.so.3")
    source = ROOT / f"test/conformance/{name}.mlir"
    line = [TRANSLATE, source, "--to", "ptx", "--chip", "sm_90", "--engine", "nvshmem", "-O", "3", "-o", ptx]
    environment = {**os.environ, "SYMM_NVSHMEM_LIBRARY": host}
    subprocess.run(line, check=True, env=environment)
    text = ptx.read_text()
    assert "nvshmemi_device_state_d" in text
    # Far calls are calls, and not in the way of near ranks.
    assert re.search(r"call(?:\.uni)?\s*(?:\(.*\),\s*)?nvshmem", text)
    assemble = [PTXAS, "-v", "-arch=sm_90", ptx, "-o", tmp_path / "kernels.cubin"]
    told = subprocess.run(assemble, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert max(map(int, re.findall(r"Used (\d+) registers", told.stderr))) <= REGISTERS_OF_1024_THREADS


@pytest.mark.in_turn
@pytest.mark.parametrize("name", ["put_signal", "atomics"])
def test_triton_kernels_are_linked(nvshmem, name, monkeypatch, tmp_path):
    monkeypatch.setattr(_engine.Current, "name", _engine.NAME)
    signature, constants, _ = KERNELS[name]
    ptx = machine_text(compile_for("sm_90", getattr(far_kernels, name), signature, **constants))
    assert ".visible .const" in ptx and "nvshmemi_device_state_d" in ptx


OLD = """
void nvshmemx_vendor_get_version_info(int *major, int *minor, int *patch) { *major = %d, *minor = %d, *patch = 1; }
"""


@pytest.mark.parametrize(("version", "said"), [((3, 3), "3.3.1"), ((4, 0), "4.0.1"), (None, None)])
def test_a_host_library_of_another_version(version, said, tmp_path, monkeypatch):
    library = tmp_path / "libnvshmem_host.so.3"
    source = OLD % version if version else "int nothing;"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source, text=True, check=True)
    monkeypatch.setenv(_engine.HOST, str(library))
    _engine._host.cache_clear()
    what = f"is NVSHMEM {said}" if said else "is no library of NVSHMEM"
    with pytest.raises(EngineError, match=f"{library} {what}: install nvidia-nvshmem-cu13"):
        _engine._host()
    _engine._host.cache_clear()


def test_a_module_that_the_engine_does_not_take_is_loaded_again(monkeypatch):
    """As while a graph is captured, or where NVSHMEM fails: a kernel that is launched all the same would fault."""
    captures, answers, loads = [True, False, False], [7, 0], []

    def load(kernel):
        if kernel.module is None:
            kernel.module = len(loads) + 1
            kernel._run = f"launcher {kernel.module}"
            loads.append(kernel.module)

    class Initialise:
        def __call__(self, module):
            return answers.pop(0)

    cuda = SimpleNamespace(is_current_stream_capturing=lambda: captures.pop(0))
    monkeypatch.setattr(_engine, "torch", lambda: SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(_engine, "_host", lambda: SimpleNamespace(nvshmemx_cumodule_init=Initialise()))

    class Kernel:
        # What a launch asks for, as Triton has it.
        run = CompiledKernel.run
        module = function = _run = None
        metadata = SimpleNamespace(**{_engine.LINKED: "yes"})
        _init_handles = _seam._with_engine(load)

    kernel = Kernel()
    for said in ("launch the kernel once before the capture", r"status 7\)"):
        with pytest.raises(EngineError, match=said):
            _ = kernel.run
    assert [kernel.run, kernel.run] == ["launcher 3"] * 2
    assert loads == [1, 2, 3] and not captures and not answers
