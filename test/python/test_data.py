"""Remote loads, stores and copies: every cell is assembled, and every block is moved in accesses of 128 bits."""

import itertools
import re

import pytest
from compiling import compile_for, machine_text
from matrix import ways
from matrix_kernels import gluon_data, triton_data

OPS = ("load", "store", "get", "put", "copy", "as_remote")
ELEMENTS = ("i8", "u8", "i16", "i32", "u32", "i64", "fp16", "bf16", "fp32", "fp64")
FP8 = {"sm_90": ("fp8e4nv", "fp8e5"), "gfx942": ("fp8e4b8", "fp8e5b16")}
KERNELS = {"triton": triton_data, "gluon": gluon_data}
THREADS = {"sm_90": 32, "gfx942": 64}
WARPS = 4


def cells():
    for target in THREADS:
        for number, (op, element) in enumerate(itertools.product(OPS, ELEMENTS + FP8[target])):
            for way, marks in ways(number, tuple(KERNELS), (False, True), ("scalar", "block")):
                yield pytest.param(target, op, element, *way, marks=marks)


def accesses(text, target):
    """The widths in bits of the loads and stores of global memory but those of the context table, in their order."""
    if target == "sm_90":
        found = re.findall(r"\b(?:ld|st)\.global\S*?(?:\.v(\d))?\.b(\d+)", text)
        return [int(count or 1) * int(bits) for count, bits in found]
    words = {"dword": 32, "dwordx2": 64, "dwordx3": 96, "dwordx4": 128, "byte": 8, "ubyte": 8, "sbyte": 8, "short": 16}
    words |= {"ushort": 16, "sshort": 16}
    return [words[width] for width in re.findall(r"\b(?:global|buffer)_(?:load|store)_([a-z]+(?:x\d)?)\b", text)]


@pytest.mark.in_turn
@pytest.mark.parametrize(("target", "op", "element", "front_end", "mask", "shape"), [*cells()])
def test_data(target, op, element, front_end, mask, shape):
    pointers = {"table": "*i64", "p": f"*{element}", "q": f"*{element}"}
    bits = int(re.search(r"(?:i|u|fp|bf)(\d+)", element)[1])
    # Sixteen elements for each thread.
    block = 16 * WARPS * THREADS[target] if shape == "block" else 0
    constants = {"OP": op, "MASK": mask, "BLOCK": block, "THREADS": THREADS[target]}
    signature = {**pointers, "n": "i32", "peer": "i32"}
    compiled = compile_for(target, KERNELS[front_end], signature, [*pointers, "n"], {"num_warps": WARPS}, **constants)
    text = machine_text(compiled)
    assert "symm" not in text.split(".section")[0]
    moved = accesses(text, target)
    if target == "sm_90" and shape == "block":
        predicated = len(re.findall(r"@%p\d+ (?:ld|st)\.global\S*\.v\d", text))
        assert predicated == (moved.count(128) if mask else 0), text
    if shape == "block":
        wanted = 2 * 16 * bits // 128
        assert moved.count(128) == wanted, (moved, text)
        assert not [width for width in moved if width not in (64, 128)], (moved, text)
    else:
        # AMD's compiler loads what is the same for all threads by the scalar unit.
        assert moved.count(bits) >= (2 if target == "sm_90" else 1), (moved, text)
