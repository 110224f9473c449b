"""What a trace ends with where its ranks are out of step, or are refused, as CASE says."""

import os
from pathlib import Path

import symm
import symm.triton as st
import torch
import triton

world = symm.init(heap_size=16 << 20, timeout=300)
other = symm.init(heap_size=16 << 20)
me, case, folder = world.get_rank(), os.environ["CASE"], Path(os.environ["FOLDER"])
flags = world.zeros(4, dtype=torch.int32)


@triton.jit
def waits(world, flags):
    st.wait(world, flags, 1)


if case == "folder":
    (folder / "taken").mkdir(exist_ok=True)
    try:
        with symm.trace(folder / "taken", world=world):
            raise AssertionError("a folder is no file")
    except symm.ArgumentError as error:
        assert "symm.trace: path must be the name of a file, and " in str(error), error
    assert not [*folder.glob("taken.*")]
elif case == "closes":
    with symm.trace(folder / "out.json", world=world):
        try:
            world.close()
            raise AssertionError("a World is not closed in its trace")
        except symm.ArgumentError as error:
            assert "symm.trace records this World" in str(error), error
    world.barrier()
elif case == "waits":
    with symm.trace(folder / "out.json", world=world):
        if me:
            waits[(1,)](world, flags)
elif case == "barrier":
    with symm.trace(folder / "out.json", world=world):
        if me:
            world.barrier()
