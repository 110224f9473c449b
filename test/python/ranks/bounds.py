"""With SYMM_BOUNDS_CHECKS=1, a kernel that leaves its tensors is told where, and one that does not is left alone.

Interpreted kernels are told one after the other. A compiled one is the last of its World: on a GPU CASE is its name.
What it has loaded is used, and so is the World: what is not leaves a compiled kernel before it is looked at.
"""

import os
import time

import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl
from leave import leave

world = symm.init(heap_size=16 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
# Neighbours in the heap; `plain` is not on it.
p, q, flag = world.zeros(100, dtype=torch.int32), world.zeros(4096, dtype=torch.int32), world.zeros(1, dtype=torch.int64)
plain = torch.zeros(100, dtype=torch.int32, device=world.device)


@triton.jit
def right(world, p, q, plain, flag):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, 128)
    there = at < 100
    peer = (ctx.rank() + 1) % ctx.num_ranks()
    ctx.store(p + at, at, peer, mask=there)
    ctx.signal(flag, 1, peer)
    ctx.wait(flag, 1)
    tl.store(plain + at, tl.load(p + at, mask=there), mask=there)
    ctx.barrier()
    if ctx.is_near(peer):
        theirs = tl.load(ctx.as_remote(p + at, peer), mask=there, other=0)
        tl.store(ctx.as_remote(p, peer) + at, theirs + 1, mask=there)
        # Of each rank's own.
        tl.atomic_add(ctx.as_remote(p + at, at % ctx.num_ranks()), 0, mask=there)
    else:
        ctx.store(p + at, ctx.load(p + at, peer, mask=there, other=0) + 1, peer, mask=there)
    ctx.barrier()
    tl.store(q + at[:, None] * 32 + tl.arange(0, 32)[None, :], 1)
    tl.atomic_add(p + tl.where(there, at, 99), 0)
    # Of two tensors, chosen for each element.
    of_two = tl.where(there, p + at, plain + (at - 100))
    tl.store(of_two, tl.load(of_two))
    tiles = tl.where(at[:, None] < 100, p + at[:, None], q + at[:, None]) + tl.zeros([1, 2], tl.int32)
    tl.store(tiles, tl.load(tiles))
    # Back from before the beginning.
    tl.store(p - 8 + tl.arange(0, 16), 5, mask=tl.arange(0, 16) >= 8)


right[(1,)](world, p, q, plain, flag)
world.barrier()
assert plain.tolist() == list(range(100))
assert p.tolist() == [5] * 8 + list(range(9, 101))


@triton.jit
def forgotten_mask(world, p, plain, flag):
    at = tl.arange(0, 128) + st.rank(world)
    tl.store(p + at - st.rank(world), at)  # tl.store: 28 of 128 elements are outside of the tensor that the pointers are of: one is at byte 400


@triton.jit
def whole_program_outside(world, p, plain, flag):
    st.store(world, flag, tl.sum(tl.load(p + 128 + tl.arange(0, 4))).to(tl.int64), 0)  # tl.load: 4 of 4 elements


@triton.jit
def before(world, p, plain, flag):
    st.store(world, flag, tl.load(p - 1).to(tl.int64), 0)  # tl.load: 1 of 1 elements are outside of the tensor that the pointers are of: one is 4 bytes before its first


@triton.jit
def not_on_the_heap(world, p, plain, flag):
    tl.atomic_add(plain + tl.arange(0, 128), 1)  # tl.atomic: 28 of 128


@triton.jit
def wrong_mask(world, p, plain, flag):
    at = tl.arange(0, 128)
    st.store(world, p + at, at, 0, mask=at < 101)  # symm store: ptr: 1 of 128 elements


@triton.jit
def far_away(world, p, plain, flag):
    st.store(world, flag, tl.load(st.as_remote(world, p, 0) + 100).to(tl.int64), 0)  # tl.load: 1 of 1 elements are outside of the tensor


@triton.jit
def source_of_a_copy(world, p, plain, flag):
    at = tl.arange(0, 64)
    st.put(world, p + 64 + at, p + at, 0)  # symm put: src: 28 of 64


@triton.jit
def flag_of_another(world, p, plain, flag):
    st.signal(world, flag + 1, 1, 0)  # symm signal: flag: 1 of 1


@triton.jit
def packets(world, p, plain, flag):
    st.put_packet(world, p + 96, tl.arange(0, 4).to(tl.int64), 1, 0)  # symm put_packet: slots: 3 of 4


@triton.jit
def tested(world, p, plain, flag):
    st.store(world, flag, st.test(world, flag + 1, 1).to(tl.int64), 0)  # symm test: flag: 1 of 1 elements


@triton.jit
def from_both_ends(world, p, plain, flag):
    st.store(world, p + 99 - 200 * tl.arange(0, 2) * tl.arange(0, 2) + 2, 1, 0)  # symm store: ptr: 2 of 2 elements are outside of the tensor that the pointers are of: one is 396 bytes before its first


@triton.jit
def of_a_far_rank(world, p, plain, flag):
    st.store(world, flag, tl.load(st.as_remote(world, p + 3, (st.rank(world) + 1) % st.num_ranks(world))).to(tl.int64), 0)  # rank 0 is far


@triton.jit
def one_of_two(world, p, plain, flag):
    at = tl.arange(0, 128)
    either = tl.where(at < 64, p + at, p.cast(tl.pointer_type(tl.int32)) + at)
    tl.store(either, tl.load(either, mask=at < 50), mask=at < 50)
    chosen = tl.where(st.rank(world) < 0, flag.cast(tl.pointer_type(tl.int32)), p)
    tl.store(chosen + at, at)  # tl.store: 28 of 128 elements are outside of the tensor that the pointers are of: one is at byte 400


@triton.jit
def each_of_two(world, p, plain, flag):
    at = tl.arange(0, 128)
    flags = flag.cast(tl.pointer_type(tl.int32))
    st.store(world, tl.where(at < 2, flags + at, p + (at - 27)), at, 0)  # symm store: ptr: 26 of 128 elements are outside of the tensor that the pointers are of: one is 100 bytes before its first


@triton.jit
def tile_of_two(world, p, plain, flag):
    at = tl.arange(0, 16)
    rows = tl.where(at < 1, flag.cast(tl.pointer_type(tl.int32)), p + at)
    tl.store(tl.trans(rows[:, None] + 8 * tl.arange(0, 16)[None, :]), 1)  # tl.store: 76 of 256 elements are outside of their tensors: one is at byte 32


@triton.jit
def shape_of_a_descriptor(world, p, plain, flag):
    shaped = tl.make_tensor_descriptor(p, (100,), (1,), (32,))
    shaped.store([96], shaped.load([96]))
    longer = tl.make_tensor_descriptor(p, (128,), (1,), (32,))
    longer.store([96], shaped.load([64]))  # tl.store: 28 of 32 elements are outside of the tensor that the pointers are of: one is at byte 400, and the tensor


@triton.jit
def rank_for_each(world, p, plain, flag):
    at = tl.arange(0, 128)
    there = st.as_remote(world, p + at, at % st.num_ranks(world))
    st.store(world, flag, tl.sum(tl.load(there)).to(tl.int64), 0)  # tl.load: 28 of 128 elements are outside of


# What is said of compiled kernels: the operand, and the first byte outside. What is not on the heap is not looked at.
@triton.jit
def exchanged(world, p, plain, flag):
    at = tl.arange(0, 128)
    here, there = flag.cast(tl.pointer_type(tl.int32)), p
    for step in range(st.num_ranks(world) + 1 - st.num_ranks(world)):
        here, there = there, here
    st.store(world, here + at, at, 0)  # symm store: ptr: 28 of 128 elements are outside of the tensor that the pointers are of: one is at byte 400


@triton.jit
def exchanged_while(world, p, plain, flag):
    here, there = flag.cast(tl.pointer_type(tl.int32)), p
    left = st.num_ranks(world) - st.num_ranks(world) + 3
    while left > 0:
        here, there = there, here
        left -= 1
    tl.store(here + 97 + tl.arange(0, 8), 1)  # tl.store: 5 of 8 elements are outside of the tensor that the pointers are of: one is at byte 400


COMPILED = {
    "forgotten_mask": ("tl.store pointer", 400),
    "whole_program_outside": ("tl.load pointer", 512),
    "before": ("tl.load pointer", -4),
    "wrong_mask": ("symm store ptr", 400),
    "far_away": ("tl.load pointer", 400),
    "source_of_a_copy": ("symm put src", 400),
    "flag_of_another": ("symm signal flag", 8),
    "packets": ("symm put_packet slots", 400),
    "one_of_two": ("tl.store pointer", 400),
    "rank_for_each": ("tl.load pointer", 400),
    "exchanged": ("symm store ptr", 400),
    "exchanged_while": ("tl.store pointer", 400),
}
# Of an access through the as_remote of a rank that is far: where there is one.
FAR = "of_a_far_rank"
lines = open(__file__).read().splitlines()


def line_of(name):
    """The number of the line of a kernel that is wrong, and what is said of it."""
    start = lines.index(f"def {name}(world, p, plain, flag):")
    number = next(number for number in range(start, len(lines)) if "  # " in lines[number])
    return number + 1, lines[number].split("  # ")[1]


def check_interpreted(kernel):
    number, text = line_of(kernel.fn.__name__)
    try:
        kernel[(1,)](world, p, plain, flag)
    except triton.runtime.errors.InterpreterError as error:
        cause = error.__cause__
        assert isinstance(cause, symm.BoundsError) and isinstance(cause, IndexError), error
        assert text in str(cause), cause
        assert (cause.file, cause.line) == (__file__, number), cause
        name, me = kernel.fn.__name__, world.get_rank()
        assert (cause.kernel, cause.rank, cause.program) == (name, me, (0, 0, 0)), cause.args
        assert f"(kernel {name}: rank {me}, program (0, 0, 0))" in str(cause), cause
        assert cause.tensor is None or cause.tensor.startswith("World."), cause.args
    else:
        raise AssertionError(f"{kernel.fn.__name__}: no BoundsError")


def check_compiled(name):
    before = q.tolist(), p.tolist()
    world.barrier()
    with pytest.raises(symm.BoundsError) as raised:
        globals()[name][(1,)](world, p, plain, flag)
        world.synchronize()
        # Of another rank's.
        while True:
            world.check()
            time.sleep(0.05)
    error = raised.value
    if name == FAR:
        assert (error.file, error.line, error.kernel) == (__file__, line_of(name)[0], name), error
        found = f"tl.load: pointer leads to element 3 of World.zeros: torch.int32, (100,) (made at {__file__}:"
        assert found in str(error) and "which is far" in str(error), error
        return print(error)
    access, offset = COMPILED[name]
    made = next(number for number, line in enumerate(lines, 1) if line.startswith("p, q, flag ="))
    assert (error.file, error.line, error.kernel) == (__file__, line_of(name)[0], name), error
    assert (error.program, error.offset) == ((0, 0, 0), offset) and error.rank < ranks, error
    op, operand = access.rsplit(" ", 1)
    assert f"{op}: {operand} is outside of World.zeros: torch." in str(error), error
    assert error.tensor.endswith(f"(made at {__file__}:{made})"), error
    # Nothing of the access was made; what could not be loaded is zero.
    assert (q.tolist(), p.tolist()) == before
    assert me != 0 or flag.item() == (0 if "load" in access else 1)
    print(error)


def check_switched():
    """Of one kernel, of launches in a block, and of both: the block goes before. Elsewhere nothing is checked."""
    before = os.environ.pop("SYMM_BOUNDS_CHECKS", "0")
    try:
        off, on = st.options(bounds_checks=False), st.options(bounds_checks=True)
        forgotten_mask[(1,)](world, p, plain, flag)
        with on:
            check_interpreted(forgotten_mask)
            with off:
                forgotten_mask[(1,)](world, p, plain, flag)
        forgotten_mask[(1,)](world, p, plain, flag)
        decorated = on(triton.jit(forgotten_mask.fn))
        check_interpreted(decorated)
        with off:
            decorated[(1,)](world, p, plain, flag)
        decorated[(1,)](world, p, plain, flag)
    except triton.runtime.errors.InterpreterError as error:
        assert isinstance(error.__cause__, symm.BoundsError), error
    else:
        raise AssertionError("it has not been checked at last")
    finally:
        os.environ["SYMM_BOUNDS_CHECKS"] = before
        q.fill_(1)


if world.device.type == "cpu":
    check_switched()
    for kernel in (forgotten_mask, whole_program_outside, before, not_on_the_heap, wrong_mask, far_away,
                   source_of_a_copy, flag_of_another, packets, one_of_two, each_of_two, tile_of_two,
                   shape_of_a_descriptor, rank_for_each, exchanged, exchanged_while):  # fmt: skip
        check_interpreted(kernel)
elif "CASE" in os.environ:
    check_compiled(os.environ["CASE"])
    leave()
assert q.tolist() == [1] * 4096
world.barrier()
world.close()
