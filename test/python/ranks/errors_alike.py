"""Every wrong op of test_errors.py, interpreted: it says what the compiler says."""

import sys
from pathlib import Path

import symm
import torch
import triton

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_errors import CASES, FIRST, SOURCE, __file__, wrong

world = symm.init(heap_size=16 << 20, timeout=20)
kinds = torch.float32, torch.float32, torch.float16, torch.int8, torch.int64
given = [world.zeros(64, dtype=kind) for kind in kinds]
# What the interpreter does not know, and what only it has: pointers to constants, and the ranks that there are.
ONLY_COMPILED = ("is a pointer to constants",)
for case, line in enumerate(CASES):
    said = line.split("  # ")[1]
    if any(each in said for each in ONLY_COMPILED):
        continue
    try:
        wrong[(1,)](world.get_device_context(), *given, 7, 2.5, case)
        raise AssertionError(f"nothing is wrong: {line}")
    except triton.runtime.errors.InterpreterError as error:
        ours = error.__cause__
    assert isinstance(ours, symm.CompileError) and said in ours.message, (case, line, ours)
    place = __file__, FIRST + SOURCE.splitlines().index(line)
    assert (ours.file, ours.line) == place, (case, line, ours, place)
