"""The kernels of examples/python/kernels are compiled for both targets; test_ranks.py runs them."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from compiling import compile_for, machine_text

FOLDER = Path(__file__).parents[2] / "examples/python/kernels"
FILES = sorted(FOLDER.glob("*.py"))
LINES = 40
SIZES = {"BLOCK": 256, "BM": 16, "BN": 16, "N": 32, "K": 32, "SLOTS": 2, "COLUMNS": 64, "WIDTH": 64, "EXPERTS": 2}
NUMBERS = ("n", "step", "steps", "rows", "columns", "tasks")
ELEMENTS = {"world": "i64", "a": "fp16", "b": "fp16", "vector": "fp32", "total": "fp32", "parts": "fp32", "c": "fp32"}
ELEMENTS |= {"cells": "fp32", "halo": "fp32", "tokens": "fp32", "inbox": "fp32", "part": "fp32", "whole": "fp32"}
# Pointers that other kernels have as numbers.
POINTERS = {("shift", "steps"), ("uneven_all_to_all", "rows")}


def kernels(file, monkeypatch):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    # Only their checks need torch.
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    spec.loader.exec_module(module)
    return [each for each in vars(module).values() if hasattr(each, "arg_names")]


def signature(kernel):
    def kind(name):
        is_number = name in NUMBERS and (kernel.__name__, name) not in POINTERS
        return "i32" if is_number else f"*{ELEMENTS.get(name, 'i32')}"

    return {name: kind(name) for name in kernel.arg_names if name not in SIZES}


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_kernel(file, target, monkeypatch):
    found = kernels(file, monkeypatch)
    assert found
    for kernel in found:
        constants = {name: SIZES[name] for name in kernel.arg_names if name in SIZES}
        assert machine_text(compile_for(target, kernel, signature(kernel), **constants))


def test_files_are_short():
    assert len(FILES) == 10
    for file in FILES:
        assert len(file.read_text().splitlines()) < LINES, file
