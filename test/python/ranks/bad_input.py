"""What a World, a Team and their contexts refuse: typed errors that name the argument. Numbers of numpy are numbers."""

import math
import warnings

import numpy as np
import pytest
import symm
import symm.triton as st
import torch
import triton

world = symm.init(heap_size=32 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
data, flag = world.zeros(8, dtype=torch.int32), world.zeros(1, dtype=torch.int32)
team = world.team([me])


def refused(said, call, *arguments, **keywords):
    with pytest.raises(symm.ArgumentError) as raised:
        call(*arguments, **keywords)
    assert said in str(raised.value), (said, str(raised.value))


for context in (world, team):
    name, count = type(context).__name__, context.get_num_ranks()
    for wrong in ("0", None, 0.5, True, [0], np.float32(0), b"0"):
        for call, arguments in (
            (context.as_remote, (data, wrong)), (context.is_near, (wrong,)), (context.put, (data, data, wrong)),
            (context.get, (data, data, wrong)), (context.signal, (flag, 1, wrong)),
        ):  # fmt: skip
            refused("rank must be an integer, not ", call, *arguments)
        refused("value must be an integer of 32 bits, not ", context.signal, flag, wrong, 0)
        refused("value must be an integer of 32 bits, not ", context.wait, flag, wrong)
        for call, arguments, argument in (
            (context.flag_at, (wrong,), "flag_at: offset"), (context.tensor_at, (wrong, 4), "tensor_at: offset"),
            (context.tensor_at, (0, wrong), "tensor_at: size"),
        ):  # fmt: skip
            refused(f"{argument} must be an integer, not {wrong!r}", call, *arguments)
    for outside in (33, -1, 1 << 70):
        with pytest.raises(symm.RankRangeError, match=rf"rank {outside} out of range \[0, {count}\)"):
            context.as_remote(data, outside)
    for wrong in ("2", b"2", "x", 0, -1, math.nan, True, [1], -math.inf, 10**400, 10**5000):
        with pytest.raises(symm.ArgumentError, match=f"{name}.timeout: seconds must be a number of seconds above 0"):
            context.timeout(wrong).__enter__()
    for right in (1, 0.5, np.float32(1), np.int64(3), math.inf, None):
        with context.timeout(right):
            pass
    for right in (np.int32(0), np.uint8(0), np.int64(0)):
        assert context.is_near(right) and context.as_remote(data, right).numel() == 8
        context.wait(flag, right)
    # Python's own errors say the name that the user has written.
    for call, arguments, said in (
        (context.wait, {"cmp": "ge"}, "wait() got an unexpected keyword argument 'cmp'"),
        (context.timeout, {"secs": 3}, "timeout() got an unexpected keyword argument 'secs'"),
        (context.split, {"colour": 1}, "split() got an unexpected keyword argument 'colour'"),
        (context.put, {"flag": 1}, "put() got an unexpected keyword argument 'flag'"),
        (context.as_remote, {"peer": 1}, "as_remote() got an unexpected keyword argument 'peer'"),
    ):
        with pytest.raises(TypeError) as raised:
            call(**arguments)
        assert str(raised.value) == f"{name}.{said}", raised.value
    for attribute in ("rank", "num_ranks", "world_size", "size", "my_pe"):
        meant = "get_rank" if attribute in ("rank", "my_pe") else "get_num_ranks"
        with pytest.raises(AttributeError) as raised:
            getattr(context, attribute)
        assert str(raised.value) == f"'{name}' object has no attribute '{attribute}': call {meant}()", raised.value
    with pytest.raises(AttributeError, match=f"^'{name}' object has no attribute 'ranks'$"):
        context.ranks
with pytest.raises(AttributeError, match="^'Team' object has no attribute 'zeros': it is the World's, and all ranks "):
    team.zeros(4)
assert not hasattr(team, "zeros") and not hasattr(world, "rank")
large = torch.zeros(1000) if hasattr(torch, "__version__") else flag
if large.numel() == 1000:
    # Torch's own text lists all its signatures, and has keywords that the user has not given.
    for call, said in (
        (lambda: world.zeros("x"), "World.zeros: torch.zeros does not take ('x')"),
        (lambda: world.empty((2,), foo=1), "World.empty: torch.empty does not take ((2,), foo=1)"),
        (lambda: world.ones(2, dtype="float"), "World.ones: dtype must be a dtype of torch, such as torch.float"),
        (lambda: world.arange(), "World.arange: torch.arange does not take ()"),
        (lambda: world.full((2,), large), "World.full: "),
        (lambda: world.zeros(-1), "World.zeros: Trying to create tensor with negative dimension -1"),
        (lambda: world.randint(5), "World.randint: torch.randint does not take (5)"),
    ):
        with pytest.raises(symm.ArgumentError) as raised:
            call()
        assert str(raised.value).startswith(said) and "\n" not in str(raised.value), raised.value
    what = "a tensor of torch.float32, (1000,), on cpu"
    for call, arguments, said in (
        (world.as_remote, (data, large), f"rank must be an integer, not {what}"),
        (world.signal, (flag, large, 0), f"signal: value must be an integer of 32 bits, not {what}"),
        (world.timeout, (large,), f"or math.inf for none, not {what}"),
        (world.barrier, (large,), f"stream must be a torch stream, not {what}"),
        (symm.trace, (large,), f"symm.trace: path must be the name of a file, not {what}"),
        (world.uniform, (2, large, 3), f"not torch.float32 from {what} to 3"),
        (world.team, ([large, large],), f"team: ranks must be a list of integers, not a list of {what}, {what}"),
    ):
        refused(said, call, *arguments)
for given in ((), (0,), (1 << 20, "cpu", 1.0), (world, (me,))):
    refused("symm.World is what symm.init() returns: call world = symm.init()", symm.World, *given)
    refused("symm.Team is what a World makes: call world.team([0, 1]), or world.split(color)", symm.Team, *given)
refused("symm.World is what symm.init() returns", symm.World, heap_size=1 << 20)
refused("symm.Team is what a World makes", symm.Team, ranks=[0])
for wrong in ("x", "2", -1, 0, math.nan, True, [1], 10**400, 10**5000):
    refused("symm.init: timeout must be a number of seconds above 0", symm.init, heap_size=8 << 20, timeout=wrong)
for wrong, said in (
    ("1GB", ", not '1GB'"), (None, ", not None"), (1.5, ", not 1.5"), (True, ", not True"), (0, ", not 0"),
    (1 << 70, f", not {1 << 70}: that is more than any memory"),
    ("cuda", ", not 'cuda': write symm.init(device='cuda')"),
    (torch.device("cpu"), ": write symm.init(device='cpu')"),
):  # fmt: skip
    refused("symm.init: heap_size must be a number of bytes, such as 1 << 30, not ", symm.init, wrong)
    refused(said, symm.init, wrong)
for wrong in (3, 1.5, [world]):
    refused("symm.init: device must be 'cuda', 'hip', 'cpu' or a torch.device, not ", symm.init, 8 << 20, wrong)
for wrong in (0, -1, 1.5, "x", math.nan, 1 << 70):
    said = f"symm.init: domain must be a number of ranks from 1 to 2**63 - 1, not {wrong!r}"
    refused(said, symm.init, 8 << 20, domain=wrong)
for wrong in ("", ".", 3, None):
    refused("symm.trace: path must be the name of a file", symm.trace, wrong)
    if wrong is not None:
        refused("symm.trace.plot: path must be the name of a file", symm.trace.plot, wrong)


# What does nothing yet says what it is, and not where it lies.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    assert repr(world.timeout(2)) == "World.timeout(2)" and repr(team.timeout(None)) == "Team.timeout(None)"
    assert repr(symm.trace("out.json")) == "symm.trace('out.json')"


@triton.jit
def none(world):
    st.DeviceContext()


@triton.jit
def two(world):
    st.DeviceContext(world, world)


@triton.jit
def another(world):
    st.DeviceContext(context=world)


for arguments, keywords in ((world,), {}), ((), {"world": team}):
    with pytest.raises(symm.ArgumentError, match=r"^kernel two is launched without a grid: write two\[\(1,\)\]\("):
        two(*arguments, **keywords)
for kind, made in ((symm.World, "symm.init()"), (symm.Team, "world.team([0, 1]) or world.split(color)")):
    refused(f"a kernel is given the class symm.{kind.__name__}: give it what {made} returns", two[(1,)], kind)
for kernel in (none, two, another):
    with pytest.raises(triton.runtime.errors.InterpreterError) as raised:
        kernel[(1,)](world)
    said = "symm DeviceContext: it takes one argument, the World or context table"
    assert isinstance(raised.value.__cause__, symm.CompileError) and said in str(raised.value.__cause__), raised.value
world.barrier()
