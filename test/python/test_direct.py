"""A loop over remote memory has the instructions of that over a direct pointer to it, for every element type."""

import re
from collections import Counter

import pytest
import symm.triton as st
import triton
import triton.language as tl
from compiling import compile_for, machine_text

BYTES = {"i8": 1, "fp8e4nv": 1, "fp8e5": 1, "fp16": 2, "bf16": 2, "fp32": 4}
BLOCK_BYTES = 16384
WARPS = 8


@triton.jit
def loop(table, p, q, n, peer, OP: tl.constexpr, MASK: tl.constexpr, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in tl.range(tl.program_id(0) * B, n, tl.num_programs(0) * B, num_stages=1):
        at = start + tl.arange(0, B)
        mask = at < n if MASK else None
        if OP == "load":
            tl.store(q + at, ctx.load(p + at, peer, mask=mask), mask=mask)
        elif OP == "store":
            ctx.store(q + at, tl.load(p + at, mask=mask), peer, mask=mask)
        elif OP == "get":
            ctx.get(p + at, q + at, peer, mask=mask)
        elif OP == "put":
            ctx.put(p + at, q + at, peer, mask=mask)
        else:
            tl.store(q + at, tl.load(p + at, mask=mask), mask=mask)


def opcodes(op, element, mask):
    """The instructions of the loop without operands: how many of each, and the accesses in their order."""
    signature = {"table": "*i64", "p": f"*{element}", "q": f"*{element}", "n": "i32", "peer": "i32"}
    constants = {"OP": op, "MASK": mask, "B": BLOCK_BYTES // BYTES[element]}
    aligned = ["table", "p", "q", "n"]
    text = machine_text(compile_for("sm_90", loop, signature, aligned, {"num_warps": WARPS}, **constants))
    bodies = re.findall(r"^(\$L__BB\d+_\d+):(.*?)bra\S*\s+\1;", text, re.M | re.S)
    _, body = max(bodies, key=lambda found: len(found[1]))
    found = re.findall(r"^\s+(?:@!?%p\d+ )?([a-z]\w*[\w.:]*)\s", body, re.M)
    return Counter(found), [opcode for opcode in found if ".global" in opcode]


@pytest.mark.in_turn
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("element", BYTES)
def test_loop_of_a_direct_pointer(element, mask):
    direct = opcodes("direct", element, mask)
    accesses = BLOCK_BYTES // (16 * 32 * WARPS)
    assert direct[1] == ["ld.global.v4.b32"] * accesses + ["st.global.v4.b32"] * accesses, direct
    for op in ("load", "store", "get", "put"):
        assert opcodes(op, element, mask) == direct, op
