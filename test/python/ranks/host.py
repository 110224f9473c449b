"""The host API, on every rank: run with RANK, WORLD_SIZE and MASTER_PORT."""

import copy
import pickle

import numpy as np
import symm
import symm.triton as st
import torch
import triton

world = symm.init(heap_size=16 << 20, device=None if torch.cuda.is_available() else torch.device("cpu"))
me, ranks = world.get_rank(), world.get_num_ranks()
neighbour = (me + 1) % ranks


def numbers(tensor):
    return tensor.cpu().numpy()


def raised(kind, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except kind as error:
        assert isinstance(error, symm.SymmError)
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


# Values and types are torch's.
for name, arguments, keywords in (
    ("zeros", (2, 3), {}),
    ("ones", ((4,),), {"dtype": torch.float16}),
    ("full", ((2, 2), 7), {}),
    ("full", ((2, 2), 0.5), {"dtype": torch.float64}),
    ("arange", (3, 10, 2), {}),
    ("linspace", (0.0, 1.0, 5), {}),
    ("empty", ((),), {}),
    ("zeros", (0, 3), {}),
):
    made, model = getattr(world, name)(*arguments, **keywords), getattr(torch, name)(*arguments, **keywords)
    assert (made.dtype, tuple(made.shape)) == (model.dtype, tuple(model.shape)), name
    assert world.is_symmetric(made) and world.as_remote(made, neighbour).shape == made.shape, name
    assert not world.is_symmetric(model), name
    if name != "empty":
        np.testing.assert_array_equal(numbers(made), numbers(model))
for name in ("zeros_like", "empty_like"):
    made = getattr(world, name)(torch.ones(3, dtype=torch.int32))
    assert (made.dtype, made.tolist()) == (torch.int32, [0, 0, 0]) and world.is_symmetric(made), name
for data, dtype in (([1, 2], torch.int64), ([[0.5], [2.0]], torch.float32), (7, torch.int64), (True, torch.bool)):
    made = world.tensor(data)
    assert (made.dtype, made.tolist()) == (dtype, data) and world.is_symmetric(made), data
assert world.tensor([me, 3], dtype=torch.float64).tolist() == [me, 3]
for drawn, low, high in (
    (world.rand(1000), 0, 1),
    (world.randint(5, 9, (1000,)), 5, 8),
    (world.uniform((1000,), low=2.0, high=3.0), 2, 3),
):
    values = numbers(drawn)
    assert low <= values.min() < values.max() <= high
assert abs(numbers(world.randn(10000)).std() - 1) < 0.1

# The same memory from both sides, strides kept.
table = world.arange(12, dtype=torch.int32).view((3, 4))
table.copy_(torch.from_numpy(numbers(table) + 100 * me))
world.barrier()
there = world.as_remote(table.t()[1:], neighbour)
assert there.stride() == (1, 4)
np.testing.assert_array_equal(numbers(there), (np.arange(12).reshape(3, 4) + 100 * neighbour).T[1:])
world.barrier()
there.fill_(me)
world.barrier()
assert (numbers(table)[:, 1:] == (me - 1) % ranks).all()
assert world.as_remote(table, me).data_ptr() == table.data_ptr()

# The context table.
assert world.get_device_context().tolist() == [me, ranks, *world.get_heap_bases().tolist()]
assert world.get_heap_bases().tolist()[me] <= table.data_ptr()

# The World says what it is, and is that table to a kernel.
device = str(world.get_device())
assert repr(world) == f"World(rank={me}, num_ranks={ranks}, heap_size={16 << 20}, device={device!r})"
assert triton.runtime.jit.mangle_type(world) == "*i64"
assert world.data_ptr() == world.get_device_context().data_ptr()
assert not hasattr(world, "sizes")

# A rank is this process.
for function in (pickle.dumps, copy.copy, copy.deepcopy):
    assert "in another process, call symm.init" in raised(symm.ArgumentError, function, world)

# All together.
assert world.broadcast({"from": me}, ranks - 1) == {"from": ranks - 1}
np.testing.assert_array_equal(numbers(world.broadcast(torch.full((3,), me), 0)), [0, 0, 0])
assert world.broadcast("x" * 100_000 if me == 0 else None) == "x" * 100_000
world.device_barrier()

# Memory comes back when no rank has a tensor on it: this is three heaps in all.
kept = world.full((1 << 20,), me, dtype=torch.uint8)
for _ in range(12):
    gone = world.ones((4 << 20,), dtype=torch.uint8)
assert (numbers(kept) == me).all()
del gone

# Bad input.
message = raised(symm.HeapExhaustedError, world.zeros, 1 << 24)
assert "asked for 67108864 bytes" in message and "heap_size of symm.init" in message and "host.py" in message, message
outside = torch.ones(3)
said = "as_remote requires a tensor on the symmetric heap, not a tensor of "
assert raised(ValueError, world.as_remote, outside, 0).startswith(said)
assert raised(ValueError, world.as_remote, table, ranks) == f"rank {ranks} out of range [0, {ranks})"
booleans = False, True, np.bool_(1), torch.ones(1, dtype=torch.bool)
for wrong in (0.5, "1", None, *booleans):
    assert raised(symm.ArgumentError, world.as_remote, table, wrong) == f"rank must be an integer, not {wrong!r}"
    assert raised(symm.ArgumentError, world.is_near, wrong) == f"rank must be an integer, not {wrong!r}"
    assert raised(symm.ArgumentError, world.put, table, table, wrong) == f"rank must be an integer, not {wrong!r}"
    assert raised(symm.ArgumentError, world.broadcast, 1, wrong) == f"source must be an integer, not {wrong!r}"
assert raised(symm.RankRangeError, world.broadcast, 1, ranks) == f"rank {ranks} out of range [0, {ranks})"
assert "on the symmetric heap" in raised(symm.NotSymmetricError, world.as_remote, [1, 2], 0)
for op, arguments in ((st.load, (table, 0)), (st.barrier, ())):
    message = raised(symm.SymmError, op, world.get_device_context(), *arguments)
    assert message == f"symm {op.__name__} is an op for kernels: call it in a function with @triton.jit or @gluon.jit"
assert raised(symm.SymmError, st.DeviceContext, table).startswith("symm DeviceContext is for kernels: make it in a ")
for wrong in (lambda: world.uniform("a"), lambda: world.uniform((3,), "a", 1), lambda: world.uniform((3,), None),
              lambda: world.uniform((3,), 2, 1), lambda: world.zeros("a"),
              lambda: world.zeros(2, out=table), lambda: world.zeros(2, layout="sparse"),
              lambda: world.uniform((3,), dtype=torch.int32), lambda: world.is_symmetric(None),
              lambda: world.barrier("x"), lambda: world.device_barrier("x"),
              lambda: symm.init(timeout=False)):  # fmt: skip
    raised(symm.ArgumentError, wrong)
assert "cannot be pickled" in raised(symm.ArgumentError, world.broadcast, lambda: 0, ranks - 1)
if hasattr(torch, "channels_last"):
    for model in (torch.ones(2, 3).t(), torch.zeros(1, 2, 3, 4).to(memory_format=torch.channels_last)):
        assert world.zeros_like(model).stride() == model.stride()
    assert world.empty(1, 2, 3, 4, memory_format=torch.channels_last).stride() == (24, 1, 8, 2)
    raised(symm.ArgumentError, world.zeros, -1)
    for op, arguments in ((world.zeros_like, (torch.ones(2, 2).to_sparse(),)), (world.uniform, (3, "a", 1)),
                          (world.full, ((2,), 1 << 70))):  # fmt: skip
        raised(symm.ArgumentError, op, *arguments)
    raised(symm.ArgumentError, world.ones, 3, dtype=torch.int32, requires_grad=True)
    raised(symm.ArgumentError, world.zeros, 1, device="nonsense")
    raised(symm.NotSymmetricError, world.as_remote, world.full((2,), 1 + 2j).conj(), 0)
    assert world.is_symmetric(table[3:]) and not world.is_symmetric(torch.ones(2).to_sparse())
assert "leave out device" in raised(symm.SymmError, world.zeros, 3, device="meta")
assert world.log.process("hello", {})[0] == f"[rank {me}/{ranks}] hello"
if ranks > 1:
    mistaken = (lambda: world.zeros(64)) if me == 0 else world.barrier
    message = raised(symm.MismatchError, mistaken)
    assert "ranks disagree on a collective operation" in message and "host.py" in message, message
    assert "are out of step" in raised(symm.RankFailedError, world.barrier)
    raised(symm.RankFailedError, world.close)
else:
    world.close()
