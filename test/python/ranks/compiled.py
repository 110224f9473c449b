"""A kernel that a compiled function launches itself, in the interpreter: torch compiles what is around it."""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
came = world.zeros(64)


@triton.jit
def to_the_next(world, source, came, N: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, N)
    ctx.store(came + at, tl.load(source + at), (ctx.rank() + 1) % ctx.num_ranks())
    ctx.barrier()


@torch.compile(backend="aot_eager")
def layer(x):
    doubled = x * 2
    to_the_next[(1,)](world, doubled, came, 64)
    return came + 1


for step in range(3):
    got = layer(torch.full((64,), float(me + step)))
    assert got.tolist() == [2.0 * ((me - 1) % ranks + step) + 1] * 64, (step, got)
    world.barrier()


@torch.compile(backend="aot_eager", fullgraph=True)
def whole(x):
    to_the_next[(1,)](world, x, came, 64)
    return came + 1


# One that must not be parted is told what to do instead.
try:
    whole(torch.ones(64))
    raise AssertionError("nothing was said")
except torch._dynamo.exc.Unsupported as error:
    assert "launch it in a custom op, as docs/python.md shows under torch.compile" in str(error), error
world.barrier()


@torch.library.custom_op("mine::written", mutates_args=("there",))
def written(there: torch.Tensor) -> None:
    to_the_next[(1,)](world, torch.ones(64), there, 64)


# Nor does a custom op get the tensor itself that it writes.
try:
    torch.compile(lambda there: written(there), backend="aot_eager")(came)
    raise AssertionError("nothing was said")
except triton.runtime.errors.InterpreterError as error:
    assert "torch.compile gives a custom op a copy of what it writes: use tensors of the heap" in str(error), error
