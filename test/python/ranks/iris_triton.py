"""Programs as Iris' examples are, with `symm.iris`: every op for Triton, as a function and as a method."""

import numpy as np
import symm.iris as iris
import torch
import triton
import triton.language as tl

# Modules, without an import of their own.
assert iris.context.TritonContext is iris.DeviceContext and callable(iris.experimental.iris_gluon.iris)
assert iris.gluon.IrisDeviceCtx is iris.context.GluonContext

shmem = iris.iris(heap_size=16 << 20)
cur_rank, world_size = shmem.get_rank(), shmem.get_num_ranks()
before, after, far = ((cur_rank + step) % world_size for step in (-1, 1, 2))
heap_bases, context_tensor = shmem.get_heap_bases(), shmem.get_device_context()
SIZE, BLOCK_SIZE = 4000, 1024
at = np.arange(SIZE)


def grid(meta):
    return (triton.cdiv(SIZE, meta["BLOCK_SIZE"]),)


def data(rank):
    return 8 * rank + at % 7


def same(tensor, wanted, what=""):
    np.testing.assert_array_equal(tensor.cpu().numpy(), wanted, what)


def as_shared(values, dtype):
    tensor = shmem.zeros(values.size, dtype=dtype)
    tensor.copy_(torch.from_numpy(values.astype(str(dtype).removeprefix("torch."))))
    return tensor


@triton.jit
def all_load_kernel(
    source,
    target,
    size,
    cur_rank: tl.constexpr,
    world_size: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    heap_bases: tl.tensor,
    context_tensor: tl.tensor,
    METHODS: tl.constexpr,
):
    ctx = iris.DeviceContext.initialize(context_tensor, cur_rank, world_size)
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < size
    total = tl.zeros([BLOCK_SIZE], dtype=source.type.element_ty)
    for rank in range(world_size):
        if METHODS:
            total += ctx.load(source + offsets, rank, mask=mask, other=0, cache_modifier=".cg")
        else:
            total += iris.load(source + offsets, cur_rank, rank, heap_bases, mask=mask)
    tl.store(target + offsets, total, mask=mask)


@triton.jit
def all_store_kernel(
    source,
    target,
    size,
    cur_rank: tl.constexpr,
    world_size: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    heap_bases: tl.tensor,
    context_tensor: tl.tensor,
    METHODS: tl.constexpr,
):
    ctx = iris.DeviceContext.initialize(context_tensor, cur_rank, world_size)
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < size
    values = tl.load(source + offsets, mask=mask)
    for rank in range(world_size):
        if METHODS:
            ctx.store(target + cur_rank * size + offsets, values, rank, mask, cache_modifier=".wt")
        else:
            iris.store(target + cur_rank * size + offsets, values, cur_rank, rank, heap_bases, mask, hint=16)


@triton.jit
def move_kernel(
    p,
    q,
    wide,
    size,
    cur_rank: tl.constexpr,
    after: tl.constexpr,
    far: tl.constexpr,
    world_size: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    heap_bases: tl.tensor,
    context_tensor: tl.tensor,
    METHODS: tl.constexpr,
):
    """Gets from the next rank, puts to it, and copies from it to the rank before; then the same with casts."""
    ctx = iris.DeviceContext.initialize(context_tensor, cur_rank, world_size)
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < size
    src, dst, to = p + offsets, q + offsets, wide + offsets
    if METHODS:
        ctx.get(src, dst, after, mask=mask)
        ctx.put(src, dst + size, after, mask=mask)
        ctx.copy(src, dst + 2 * size, after, far, mask=mask)
        ctx.get(src, to, after, mask=mask)
        ctx.put(src, to + size, after, mask=mask)
        ctx.copy(src, to + 2 * size, after, far, mask=mask)
        tl.store(dst + 3 * size, tl.load(ctx.as_remote(src, after), mask=mask), mask=mask)
    else:
        iris.get(src, dst, cur_rank, after, heap_bases, mask=mask)
        iris.put(src, dst + size, cur_rank, after, heap_bases, mask=mask)
        iris.copy(src, dst + 2 * size, after, far, cur_rank, heap_bases, mask)
        iris.get(src, to, cur_rank, after, heap_bases, mask=mask, store_cache_modifier=".wt")
        iris.put(src, to + size, cur_rank, after, heap_bases, mask=mask, load_cache_modifier=".cg")
        iris.copy(src, to + 2 * size, after, far, cur_rank, heap_bases, mask=mask)
        # A pointer into the heap of another rank, as Iris translates it: from there to a third.
        theirs = ctx.as_remote(src, far)
        iris.put(src, dst + 3 * size, cur_rank, cur_rank, heap_bases, mask=mask)
        tl.store(dst + 3 * size, iris.load(theirs, far, after, heap_bases, mask=mask), mask=mask)


for dtype in (torch.int32, torch.float16, torch.float32):
    for methods in (False, True):
        case = (dtype, methods)
        places = (heap_bases, context_tensor, methods)
        source = as_shared(data(cur_rank), dtype)
        target = shmem.zeros(SIZE, device="cuda", dtype=dtype)
        scattered = shmem.zeros((world_size, SIZE), dtype=dtype)
        moved, wide = shmem.zeros((4, SIZE), dtype=dtype), shmem.zeros((3, SIZE), dtype=torch.float64)
        shmem.barrier()
        all_load_kernel[grid](source, target, SIZE, cur_rank, world_size, BLOCK_SIZE, *places)
        all_store_kernel[grid](source, scattered, SIZE, cur_rank, world_size, BLOCK_SIZE, *places)
        move_kernel[grid](source, moved, wide, SIZE, cur_rank, after, far, world_size, BLOCK_SIZE, *places)
        shmem.barrier()
        every = [data(rank) for rank in range(world_size)]
        same(target, sum(every), case)
        same(scattered, every, case)
        same(moved, [data(after), data(before), data(before), data(after)], case)
        same(wide, [data(after), data(before), data(before)], case)
        shmem.barrier()


@triton.jit
def update_kernel(
    p,
    old,
    cur_rank: tl.constexpr,
    world_size: tl.constexpr,
    OP: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    heap_bases: tl.tensor,
    context_tensor: tl.tensor,
    METHODS: tl.constexpr,
):
    """Every rank updates the words of rank 0."""
    ctx = iris.DeviceContext.initialize(context_tensor, cur_rank, world_size)
    at = tl.arange(0, BLOCK_SIZE)
    there, mask = p + at, at != 5
    value = cur_rank * 8 + at % 8 + 1
    if OP == "add":
        if METHODS:
            x = ctx.atomic_add(there, value, 0, mask=mask, sem="relaxed")
        else:
            x = iris.atomic_add(there, value, cur_rank, 0, heap_bases, mask, sem="relaxed", scope="sys")
    elif OP == "sub":
        x = ctx.atomic_sub(there, value, 0) if METHODS else iris.atomic_sub(there, value, cur_rank, 0, heap_bases)
    elif OP == "and":
        x = ctx.atomic_and(there, ~value, 0) if METHODS else iris.atomic_and(there, ~value, cur_rank, 0, heap_bases)
    elif OP == "or":
        x = ctx.atomic_or(there, value, 0) if METHODS else iris.atomic_or(there, value, cur_rank, 0, heap_bases)
    elif OP == "xor":
        x = ctx.atomic_xor(there, value, 0) if METHODS else iris.atomic_xor(there, value, cur_rank, 0, heap_bases)
    elif OP == "min":
        x = ctx.atomic_min(there, -value, 0) if METHODS else iris.atomic_min(there, -value, cur_rank, 0, heap_bases)
    elif OP == "max":
        x = ctx.atomic_max(there, value, 0) if METHODS else iris.atomic_max(there, value, cur_rank, 0, heap_bases)
    elif OP == "xchg":
        x = ctx.atomic_xchg(there, value, 0) if METHODS else iris.atomic_xchg(there, value, cur_rank, 0, heap_bases)
    else:
        x = ctx.atomic_cas(there, 0, value, 0) if METHODS else iris.atomic_cas(there, 0, value, cur_rank, 0, heap_bases)
    tl.store(old + at, x, mask=mask)


B = 128
values = np.array([[8 * rank + i % 8 + 1 for i in range(B)] for rank in range(world_size)])
results = {
    "add": np.where(np.arange(B) == 5, 0, values.sum(0)),
    "sub": -values.sum(0),
    "and": np.bitwise_and.reduce(~values & 0, axis=0),
    "or": np.bitwise_or.reduce(values),
    "xor": np.bitwise_xor.reduce(values),
    "min": (-values).min(0),
    "max": values.max(0),
}
for op in (*results, "xchg", "cas"):
    for dtype in (torch.int32, torch.int64):
        for methods in (False, True):
            p, old = (shmem.zeros(B, dtype=dtype) for _ in range(2))
            shmem.barrier()
            update_kernel[(1,)](p, old, cur_rank, world_size, op, B, heap_bases, context_tensor, methods)
            shmem.barrier()
            got, found = (each.cpu().numpy() for each in (shmem.as_remote(p, 0), old))
            if op in results:
                same(shmem.as_remote(p, 0), results[op], (op, dtype, methods))
            else:
                # One of the ranks was last, or first; what it found was there before.
                assert (got == values).any(0).all(), (op, dtype, methods)
                assert ((found == 0) | (found == values).any(0)).all(), (op, dtype, methods)
            shmem.barrier()


@triton.jit
def producer_kernel(
    source_buffer,
    target_buffer,
    flag,
    buffer_size,
    producer_rank: tl.constexpr,
    consumer_rank: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    heap_bases: tl.tensor,
):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < buffer_size
    values = iris.load(source_buffer + offsets, producer_rank, producer_rank, heap_bases, mask=mask)
    iris.store(target_buffer + offsets, values, producer_rank, consumer_rank, heap_bases, mask=mask)
    iris.atomic_cas(flag + pid, 0, 1, producer_rank, consumer_rank, heap_bases, sem="release", scope="sys")


@triton.jit
def consumer_kernel(
    buffer,
    flag,
    buffer_size,
    consumer_rank: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
    heap_bases: tl.tensor,
):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < buffer_size
    done = 0
    while done == 0:
        done = iris.atomic_cas(flag + pid, 1, 0, consumer_rank, consumer_rank, heap_bases, sem="acquire", scope="sys")
    values = iris.load(buffer + offsets, consumer_rank, consumer_rank, heap_bases, mask=mask)
    iris.store(buffer + offsets, values * 2, consumer_rank, consumer_rank, heap_bases, mask=mask)


source = as_shared(data(cur_rank), torch.float32)
target = shmem.randn(SIZE, device="cuda", dtype=torch.float32)
flags = shmem.zeros((triton.cdiv(SIZE, BLOCK_SIZE),), device="cuda", dtype=torch.int32)
shmem.barrier()
for turn in range(10):
    source.copy_(torch.from_numpy((data(cur_rank) + turn).astype(np.float32)))
    shmem.barrier()
    producer_kernel[grid](source, target, flags, SIZE, cur_rank, after, BLOCK_SIZE, heap_bases)
    consumer_kernel[grid](target, flags, SIZE, cur_rank, BLOCK_SIZE, heap_bases)
    shmem.barrier()
    same(target, 2 * (data(before) + turn))


@triton.jit
def reduce_kernel(
    context_tensor,
    partial,
    total,
    ready,
    size,
    cur_rank: tl.constexpr,
    world_size: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    """All-reduce in one shot: each tile is announced, and then taken from every rank."""
    ctx = iris.DeviceContext.initialize(context_tensor, cur_rank, world_size)
    for tile in range(tl.cdiv(size, BLOCK_SIZE)):
        offsets = tile * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < size
        tl.store(partial + offsets, (cur_rank + 1) * offsets, mask=mask)
        ctx.atomic_xchg(ready + tile, 1, cur_rank, sem="release", scope="sys")
    for tile in range(tl.cdiv(size, BLOCK_SIZE)):
        offsets = tile * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offsets < size
        sums = tl.zeros([BLOCK_SIZE], dtype=tl.int32)
        for rank in range(world_size):
            while ctx.atomic_cas(ready + tile, 1, 1, rank, sem="acquire", scope="sys") != 1:
                pass
            sums += ctx.load(partial + offsets, rank, mask=mask, other=0)
        tl.store(total + offsets, sums, mask=mask)


partial, total = (shmem.zeros(SIZE, dtype=torch.int32) for _ in range(2))
ready = shmem.zeros(triton.cdiv(SIZE, BLOCK_SIZE), dtype=torch.int32)
shmem.barrier()
reduce_kernel[(1,)](context_tensor, partial, total, ready, SIZE, cur_rank, world_size, BLOCK_SIZE)
shmem.barrier()
same(total, at * sum(range(1, world_size + 1)))
shmem.barrier()
