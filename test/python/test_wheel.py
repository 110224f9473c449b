"""The wheel: small, one of it for all Pythons, MLIR hidden inside, and it runs where it is installed."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

MOST_BYTES = 60 << 20
# What Debian 12 has; Ubuntu 24.04 has all of it and more.
NEWEST = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
COMPILES = "import symm; from symm import _symm; print(symm.__file__, _symm.lower_triton('', '3.9.0', 'cuda:90'))"
LIBRARIES = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"}
PYTHONS = ("python3.10", "python3.11", "python3.12", "python3.13")


@pytest.fixture(scope="module")
def wheel():
    path = os.environ.get("SYMM_WHEEL")
    if path is None:
        pytest.skip("SYMM_WHEEL does not name a wheel: ./x python builds one")
    return Path(path)


def test_size_and_content(wheel):
    assert re.fullmatch(r"symm-[\d.]+-cp310-abi3-manylinux_2_\d+_x86_64.whl", wheel.name)
    assert wheel.stat().st_size < MOST_BYTES
    names = zipfile.ZipFile(wheel).namelist()
    for licence, holds in (("LICENSE", "LLVM Exceptions"), ("THIRD_PARTY", "== pyo3 ")):
        path = next(name for name in names if name.endswith(f".dist-info/licenses/licenses/{licence}"))
        assert holds in zipfile.ZipFile(wheel).read(path).decode()
    package = {name for name in names if name.startswith("symm/")}
    here = Path(__file__).parents[2] / "python/symm"
    files = {f"symm/{file.relative_to(here)}" for file in here.rglob("*") if "__pycache__" not in file.parts}
    assert package == {file for file in files if not (here.parent / file).is_dir()}


def test_the_index_page_links_to_nothing_that_is_not_there():
    page = (Path(__file__).parents[2] / "python/README.md").read_text()
    assert page.startswith("# symm\n")
    assert [link for link in re.findall(r"\]\(([^)]*)\)", page) if not link.startswith("https://")] == []


@pytest.fixture(scope="module")
def library(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    yield zipfile.ZipFile(wheel).extract("symm/_symm.abi3.so", folder)
    shutil.rmtree(folder)


def plain():
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_loads_on_debian_12_and_ubuntu_24_04(library):
    text = "\n".join(lines_of("readelf", "--wide", "--dynamic", "--version-info", library))
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", text)) <= LIBRARIES
    needed = re.findall(r"Name: ([A-Z]+)_([\d.]+) ", text)
    assert {name for name, _ in needed} == set(NEWEST)
    newer = [(name, version) for name, version in needed if tuple(map(int, version.split("."))) > NEWEST[name]]
    assert not newer


def test_only_our_symbols_are_exported(library):
    names = {line.split()[-1] for line in lines_of("nm", "-D", "--defined-only", library)}
    assert "PyInit__symm" in names
    assert not {name for name in names if not name.startswith("symm")} - {"PyInit__symm"}


def test_it_runs_in_a_clean_environment(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    done = subprocess.run([python, "-c", COMPILES], capture_output=True, text=True, cwd=tmp_path, env=plain())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{tmp_path}/venv/")
    # It is large, and pytest keeps the folders of some runs.
    shutil.rmtree(tmp_path / "venv")


@pytest.mark.parametrize("python", PYTHONS)
def test_it_runs_on_every_python(wheel, tmp_path, python):
    # A shim may be there without what it stands for.
    if not shutil.which(python) or subprocess.run([python, "--version"], capture_output=True).returncode:
        pytest.skip(f"there is no {python} here")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    done = subprocess.run([python, "-c", COMPILES], capture_output=True, text=True, cwd=tmp_path, env=plain())
    shutil.rmtree(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{tmp_path}/symm/")


def test_python_runs_the_tests_of_this_tree():
    import symm

    assert Path(symm.__file__).is_relative_to(Path(__file__).parents[2]), f"{sys.executable} has another symm installed"
