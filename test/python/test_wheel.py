"""The wheel: small, one of it for all Pythons, MLIR hidden inside, and it runs where it is installed."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

MOST_BYTES = 60 << 20


@pytest.fixture(scope="module")
def wheel():
    path = os.environ.get("SYMM_WHEEL")
    if path is None:
        pytest.skip("SYMM_WHEEL does not name a wheel: ./x python builds one")
    return Path(path)


def test_size_and_content(wheel):
    assert wheel.name.endswith("-cp310-abi3-linux_x86_64.whl")
    assert wheel.stat().st_size < MOST_BYTES
    names = zipfile.ZipFile(wheel).namelist()
    package = {name for name in names if name.startswith("symm/")}
    here = Path(__file__).parents[2] / "python/symm"
    files = {f"symm/{file.relative_to(here)}" for file in here.rglob("*") if "__pycache__" not in file.parts}
    assert package == {file for file in files if not (here.parent / file).is_dir()}


def test_only_our_symbols_are_exported(wheel, tmp_path):
    library = zipfile.ZipFile(wheel).extract("symm/_symm.abi3.so", tmp_path)
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in lines.splitlines()}
    assert "PyInit__symm" in names
    assert not {name for name in names if not name.startswith("symm")} - {"PyInit__symm"}


def test_it_runs_in_a_clean_environment(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    code = "import symm; from symm import _symm; print(symm.__file__, _symm.lower_triton('', '3.9.0', 'cuda:90'))"
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=plain)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{tmp_path}/venv/")
    # It is large, and pytest keeps the folders of some runs.
    shutil.rmtree(tmp_path / "venv")


def test_python_runs_the_tests_of_this_tree():
    import symm

    assert Path(symm.__file__).is_relative_to(Path(__file__).parents[2]), f"{sys.executable} has another symm installed"
