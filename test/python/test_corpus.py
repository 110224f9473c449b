"""`./x corpus` finds kernels in what is not fully installed, compiles them, and sees what symm changes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import plain_kernels as plain
import pytest
import triton
import triton.language as tl

CORPUS = Path(__file__).parents[1] / "corpus"
sys.path.append(str(CORPUS))

import compare
import corpus
import kernels
from symm import _symm

MODULE = """
import torch
import triton
import triton.language as tl
from flash_attn.ops import what_is_not_there


class Function(torch.autograd.Function):
    pass


apply = Function.apply


@triton.jit
def add_one(x):
    return x + 1


@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=8)], key=["n"])
@triton.heuristics({"HAS_BIAS": lambda args: args["bias"] is not None})
@triton.jit
def scaled(x_ptr, bias, out, n, scale, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pointers = out + at
    values = tl.load(x_ptr + at, mask=at < n) * scale
    if HAS_BIAS:
        values += tl.load(bias + at, mask=at < n)
    tl.store(pointers, add_one(values), mask=at < n)


# As where a package's table has nothing for this one.
@triton.heuristics(None)
@triton.jit
def refused(n):
    tl.static_assert(False, "never")
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What a worker says of a package with this module."""
    folder = tmp_path_factory.mktemp("site")
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('no GPU')")
    (package / "ops.py").write_text(MODULE)
    command = [sys.executable, CORPUS / "worker.py", folder, "--limit", "0", "--keep", folder / "kept"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    messages = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert messages[0] == {"found": 2, "chosen": 2, "refused": 0}
    return {message["kernel"]: message["results"] for message in messages if "results" in message}


def test_kernels_are_found_and_compiled(results):
    assert [(each["target"], each["outcome"]) for each in results["package.ops.scaled"]] == [
        ("sm_90", "same"),
        ("gfx942", "same"),
    ]
    assert [each["outcome"] for each in results["package.ops.refused"]] == ["skipped"] * 2
    assert "never" in results["package.ops.refused"][0]["detail"]


def test_what_differs_is_named_and_kept(tmp_path):
    lower = _symm.lower_triton

    def wrong(text, *arguments):
        return lower(text.replace('"arith.subf"', '"arith.addf"'), *arguments)

    kernel = kernels.Kernel(plain.softmax)
    assert [result["outcome"] for result in compare.outcomes(kernel, 0, tmp_path)] == ["same", "same"]
    with mock.patch.object(_symm, "lower_triton", wrong):
        results = compare.outcomes(kernel, 0, tmp_path)
    assert [result["outcome"] for result in results] == ["differs", "differs"]
    assert "became" in results[0]["detail"] and len(list(tmp_path.iterdir())) == 4


def test_a_remote_access_changes_nothing_else(tmp_path):
    results = compare.outcomes(kernels.Kernel(plain.softmax), 2, tmp_path)
    assert [(result["target"], result["detail"].split(":")[0]) for result in results] == [
        (target, f"access {site}") for target in ("sm_90", "gfx942") for site in (0, 1)
    ]
    assert {result["outcome"] for result in results if result["target"] == "sm_90"} == {"same"}


def test_a_package_without_kernels_is_named_and_the_others_compared(tmp_path):
    modules = {"good": MODULE, "empty": "# @triton.jit\n", "dying": "# @triton.jit\nimport os\nos._exit(3)\n"}
    for name, text in modules.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_ops.py").write_text(text)
    command = [sys.executable, CORPUS / "corpus.py", *(tmp_path / name for name in modules)]
    command += ["--python", f"here={sys.executable}", "--keep", tmp_path / "kept"]
    # Workers are started in another folder.
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    environment = os.environ | {"PYTHONPATH": path}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert ended.returncode == 1, ended.stderr
    assert "good             here          2      2        2        0        0        0        2\n" in ended.stdout
    assert "empty any here: nothing: no kernels were found, and 0 modules" in ended.stdout
    assert "dying any here: nothing: ended the compiler (3): see " in ended.stdout


@triton.jit
def rows(x, scales, out, n, BLOCK: tl.constexpr):
    for row in range(n):
        at = row * BLOCK + tl.arange(0, BLOCK)
        scale = tl.load(scales + row, eviction_policy="evict_last")
        tl.store(out + at, tl.load(x + at) * scale)
        tl.store(scales + row, 0.0)


def test_the_table_is_read_once_and_accesses_of_numbers_stay_local(tmp_path):
    for result in compare.outcomes(kernels.Kernel(rows), 4, tmp_path):
        assert result["outcome"] == "same", result


def test_what_is_known_has_a_reason(tmp_path, capsys):
    assert all(len(each) == 2 for each in corpus.known_reasons())
    worker = mock.Mock(package="package", version="3.6.0", found=1, done=1)
    worker.results = [
        {"kernel": "package.k", "triton": "3.6.0", "target": "sm_90", "outcome": "differs", "detail": detail}
        for detail in ("access 1: registers 60 to 77", "access 2: registers 60 to 77")
    ]
    known = [["package.* sm_90 *: differs: access 1: registers *", "of a reason"]]
    with mock.patch.object(corpus, "known_reasons", lambda: known):
        assert corpus.report([worker]) == 1
    said = capsys.readouterr().out.splitlines()[2:]
    assert ["known: of a reason" in line for line in said] == [True, False]
