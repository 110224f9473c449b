"""A host's own writes to its tensors count under symm.check, whatever was there before.

They need torch itself, not what stands in for it.
"""

import pytest
from test_check import checked

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")

PROGRAM = """
import symm
import symm.triton as st
import torch
import triton

@triton.jit
def ping(world, flag):
    if st.rank(world) == 0:
        st.signal(world, flag, 1, 1)
    else:
        st.wait(world, flag, 1)

world = symm.init(heap_size=1 << 24)
flags = world.zeros(2, 4, dtype=torch.int32)
world.barrier()
{write}
{then}
ping[(1,)](world, flags)
"""
WRITES = ["flags.zero_()", "flags[:, 0].fill_(0)", "flags[0, 0] = 0", "flags.view(-1)[:1].copy_(torch.zeros(1))"]


def report(tmp_path, write, then="pass"):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.format(write=write, then=then))
    return checked(script, "--ranks=2", "--exhaustive")


@pytest.mark.parametrize("write", WRITES)
def test_a_reset_to_what_is_there_already(tmp_path, write):
    done = report(tmp_path, write)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "error: race (O1)" in done.stdout and "error: passed-by (O6)" in done.stdout, done.stdout
    assert "rank 1, host: writes " in done.stdout, done.stdout


@pytest.mark.parametrize("write", WRITES)
def test_a_barrier_after_the_reset(tmp_path, write):
    done = report(tmp_path, write, "world.barrier()")
    assert done.returncode == 0 and "there are no others that differ" in done.stdout, done.stdout + done.stderr


OTHERS = ["flags[:, 1:] = 0", "flags[1].zero_()", "flags[flags > 5] = 0", "torch.ones(3).zero_()"]


@pytest.mark.parametrize("write", OTHERS)
def test_a_write_of_other_elements(tmp_path, write):
    done = report(tmp_path, write)
    assert done.returncode == 0, done.stdout + done.stderr
