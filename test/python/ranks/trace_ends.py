"""What a trace ends with where its ranks are out of step, or are refused, as CASE says."""

import json
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
elif case == "second":
    there, team = other.zeros(4, dtype=torch.int32), other.team(range(other.get_num_ranks()))
    with symm.trace(folder / "out.json", world=world):
        other.signal(there[1:2], 1, 1 - me)
        other.wait(there[1:2], 1)
        team.barrier()
    events = json.loads((folder / "out.json").read_text())["traceEvents"]
    names = {(each["pid"], each["name"]) for each in events if each["ph"] == "X"}
    for rank in range(2):
        calls = {"World.signal", "World.wait", "Team.barrier", f"signal \u2192 {1 - rank}", "wait"}
        assert {(rank, name) for name in calls} <= names, names
    assert not [name for _, name in names if "-1" in name or "stream" in name or "team_" in name], names
    flags = {each["args"]["flag"] for each in events if each.get("cat") in ("signal", "wait") and each["ph"] == "X"}
    assert any(flag.startswith("element 1 of World.zeros: torch.int32, (4,)") for flag in flags), flags
    # From each signal to its wait.
    assert len([each for each in events if each["ph"] == "s"]) >= 2, events
