"""Atomic updates of remote memory: every cell is assembled, at system scope, in the order that was asked for."""

import re
from pathlib import Path

import matrix_kernels
import pytest
import symm
import symm.triton as st
from compiling import VERSION, compile_for, machine_text
from matrix import ways
from matrix_kernels import gluon_atomic, triton_atomic

INTEGERS = ("i32", "u32", "i64", "u64")
ELEMENTS = {
    "add": (*INTEGERS, "fp16", "bf16", "fp32", "fp64"),
    "sub": (*INTEGERS, "fp16", "bf16", "fp32", "fp64"),
    "and": INTEGERS,
    "or": INTEGERS,
    "xor": INTEGERS,
    "min": (*INTEGERS, "fp32", "fp64"),
    "max": (*INTEGERS, "fp32", "fp64"),
    "xchg": (*INTEGERS, "fp32", "fp64"),
    "cas": (*INTEGERS, "fp32", "fp64"),
}
ORDERS = (None, "relaxed", "acquire", "release")
KERNELS = {"triton": triton_atomic, "gluon": gluon_atomic}
THREADS = {"sm_90": 32, "gfx942": 64}
WARPS = 4


def lacks_cas(target):
    return target == "gfx942" and VERSION == (3, 6)


def cells():
    for target in THREADS:
        kinds = [(op, element) for op, elements in ELEMENTS.items() for element in elements]
        for number, (op, element) in enumerate(kinds):
            if op == "cas" and lacks_cas(target):
                continue
            masks = (False,) if op == "cas" else (False, True)
            for way, marks in ways(number, tuple(KERNELS), ORDERS, masks, ("scalar", "block")):
                yield pytest.param(target, op, element, *way, marks=marks)


@pytest.mark.in_turn
@pytest.mark.parametrize(("target", "op", "element", "front_end", "order", "mask", "shape"), [*cells()])
def test_atomic(target, op, element, front_end, order, mask, shape):
    pointers = {"table": "*i64", "p": f"*{element}", "old": f"*{element}"}
    block = 2 * WARPS * THREADS[target] if shape == "block" else 0
    function = None if op == "cas" else getattr(st, f"atomic_{op}")
    constants = {"OP": function, "SEM": order, "MASK": mask, "BLOCK": block, "THREADS": THREADS[target]}
    signature = {**pointers, "n": "i32", "peer": "i32"}
    text = machine_text(compile_for(target, KERNELS[front_end], signature, pointers, {"num_warps": WARPS}, **constants))
    order = order or "acq_rel"
    if target == "sm_90":
        found = re.findall(r"\batom\.(?:global\.)?(\w+)\.(\w+)(?:\.global)?\.(\w+)", text)
        assert found, text
        # Triton writes them in either order.
        assert {frozenset(words[:2]) for words in found} == {frozenset((order, "sys"))}, found
        if op == "cas" or op == "xchg":
            assert {kind.replace("exch", "xchg") for *_, kind in found} == {op}, found
    else:
        found = re.findall(r"\b(?:global|flat|buffer)_atomic_.*", text)
        assert found and all("sc1" in instruction for instruction in found), text
        assert ("buffer_wbl2 sc0 sc1" in text) == (order in ("release", "acq_rel")), text
        assert ("buffer_inv sc0 sc1" in text) == (order in ("acquire", "acq_rel")), text


@pytest.mark.skipif(not lacks_cas("gfx942"), reason="it has one")
@pytest.mark.parametrize("block", [0, 256])
def test_missing_compare_and_swap_is_said(block):
    signature = {**dict.fromkeys(("table", "p", "old"), "*i64"), "n": "i32", "peer": "i32"}
    constants = {"OP": None, "SEM": "relaxed", "MASK": False, "BLOCK": block, "THREADS": 64}
    with pytest.raises(symm.CompileError, match="Triton 3.6 has no compare-and-swap at system scope") as caught:
        compile_for("gfx942", triton_atomic, signature, **constants)
    lines = Path(matrix_kernels.__file__).read_text().splitlines()
    assert caught.value.file == matrix_kernels.__file__
    assert "ctx.atomic_cas(" in lines[caught.value.line - 1]
