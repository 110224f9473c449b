"""Every call of a World that is closed, of its teams, and of kernels with them, is a ClosedError."""

import symm
import symm.triton as st
import torch
import triton

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
flags, data = world.zeros(8, dtype=torch.int32), world.zeros(8)
team = world.team(range(ranks))
world.barrier()
world.close()


@triton.jit
def kernel(world, flags):
    st.signal(world, flags, 1, 0)


CALLS = {
    "barrier": lambda each: each.barrier(),
    "device_barrier": lambda each: each.device_barrier(),
    "put": lambda each: each.put(data, data, 0),
    "get": lambda each: each.get(data, data, 0),
    "signal": lambda each: each.signal(flags[:1], 1, 0),
    "wait": lambda each: each.wait(flags[:1], 0),
    "check": lambda each: each.check(),
    "synchronize": lambda each: each.synchronize(),
    "timeout": lambda each: each.timeout(1),
    "as_remote": lambda each: each.as_remote(flags, 0),
    "is_near": lambda each: each.is_near(0),
    "split": lambda each: each.split(0),
    "team": lambda each: each.team([0]),
    "get_members": lambda each: each.get_members() if each is team else each.get_rank(),
    "get_rank": lambda each: each.get_rank(),
    "get_num_ranks": lambda each: each.get_num_ranks(),
    "get_device_context": lambda each: each.get_device_context(),
    "kernel": lambda each: kernel[(1,)](each, flags),
}
OF_THE_WORLD = {
    "broadcast": lambda: world.broadcast(1),
    "zeros": lambda: world.zeros(1),
    "empty_like": lambda: world.empty_like(data),
    "arange": lambda: world.arange(4),
    "is_symmetric": lambda: world.is_symmetric(data),
    "get_heap_bases": lambda: world.get_heap_bases(),
    "trace": lambda: symm.trace("trace.json", world=world),
    "trace of the only one": lambda: symm.trace("trace.json"),
}
calls = [(f"{type(each).__name__}.{name}", call, each) for each in (world, team) for name, call in CALLS.items()]
wrong = []
for name, call, *each in [*calls, *((f"World.{name}", call) for name, call in OF_THE_WORLD.items())]:
    try:
        call(*each)
        wrong.append(f"{name} passes")
    except symm.ClosedError:
        pass
    except Exception as error:
        wrong.append(f"{name}: {type(error).__name__}: {error}")
assert not wrong, "\n".join(wrong)
# Another World is told what the tensor is of.
other = symm.init(heap_size=16 << 20)
for call in (lambda: other.as_remote(flags, 0), lambda: other.signal(flags[:1], 1, 0)):
    try:
        call()
    except symm.NotSymmetricError as error:
        said = str(error)
        assert "a tensor of torch.int32, (" in said and "on the heap of a World that is closed" in said, error
    else:
        raise AssertionError("the tensor is of another World")
other.close()
# What needs no ranks goes on.
assert flags.tolist() == [0] * 8 and world.get_device() == team.get_device()
assert "closed" in repr(world) and "closed" in repr(team)
world.close()
