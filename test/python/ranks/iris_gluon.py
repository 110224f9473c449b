"""Programs as Iris' examples for Gluon are, with `symm.iris`: every method of IrisDeviceCtx, on GPUs."""

import numpy as np
import symm.iris.experimental.iris_gluon as iris_gl
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

shmem = iris_gl.iris(heap_size=64 << 20)
cur_rank, world_size = shmem.get_rank(), shmem.get_num_ranks()
before, after = (cur_rank - 1) % world_size, (cur_rank + 1) % world_size
context_tensor = shmem.get_device_context()
THREADS = triton.runtime.driver.active.get_current_target().warp_size
SIZE, BLOCK_SIZE = 40_000, 2048
GRID = (triton.cdiv(SIZE, BLOCK_SIZE),)
at = np.arange(SIZE)


def data(rank):
    return 8 * rank + at % 7


def same(tensor, wanted, what=""):
    np.testing.assert_array_equal(tensor.cpu().numpy(), wanted, what)


def as_shared(values, dtype):
    tensor = shmem.zeros(values.size, dtype=dtype)
    tensor.copy_(torch.from_numpy(values))
    return tensor


@gluon.jit
def move_kernel(
    IrisDeviceCtx: gl.constexpr,
    context_tensor,
    p,
    q,
    sums,
    size,
    WIDTH: gl.constexpr,
    BLOCK_SIZE: gl.constexpr,
    THREADS: gl.constexpr,
):
    """Every way to the next rank's data; all ranks' data, summed; and mine, to all ranks."""
    ctx = IrisDeviceCtx.initialize(context_tensor)
    layout: gl.constexpr = gl.BlockedLayout([WIDTH], [THREADS], [4], [0])
    offsets = gl.program_id(0) * BLOCK_SIZE + gl.arange(0, BLOCK_SIZE, layout=layout)
    mask = offsets < size
    after = (ctx.cur_rank + 1) % ctx.num_ranks
    before = (ctx.cur_rank + ctx.num_ranks - 1) % ctx.num_ranks
    src, dst = p + offsets, q + offsets
    gl.store(dst, ctx.load(src, after, mask=mask, other=0), mask=mask)
    ctx.get(src, dst + size, after, mask=mask)
    ctx.put(src, dst + 2 * size, before, mask=mask)
    ctx.copy(src, dst + 3 * size, after, ctx.cur_rank, mask=mask)
    gl.store(dst + 4 * size, gl.load(ctx.as_remote(src, after), mask=mask), mask=mask)
    total = gl.zeros([BLOCK_SIZE], dtype=p.dtype.element_ty, layout=layout)
    mine = gl.load(src, mask=mask)
    for rank in range(ctx.num_ranks):
        total += ctx.load(src, rank, mask=mask)
        ctx.store(dst + (5 + ctx.cur_rank) * size, mine, rank, mask=mask)
    gl.store(sums + offsets, total, mask=mask)


for dtype in (torch.int8, torch.float16, torch.float32, torch.int64):
    source, sums = as_shared(data(cur_rank), dtype), shmem.zeros(SIZE, dtype=dtype)
    target = shmem.zeros((5 + world_size, SIZE), dtype=dtype)
    shmem.barrier()
    width = 16 // source.element_size()
    places = (iris_gl.IrisDeviceCtx, context_tensor, source, target, sums)
    move_kernel[GRID](*places, SIZE, width, BLOCK_SIZE, THREADS, num_warps=4)
    shmem.barrier()
    every = [data(rank) for rank in range(world_size)]
    same(target, [data(after)] * 5 + every, dtype)
    same(sums, sum(every).astype(sums.cpu().numpy().dtype), dtype)
    shmem.barrier()


@gluon.jit
def update_kernel(
    IrisDeviceCtx: gl.constexpr,
    context_tensor,
    p,
    old,
    OP: gl.constexpr,
    BLOCK_SIZE: gl.constexpr,
    THREADS: gl.constexpr,
):
    """Every rank updates the words of rank 0."""
    ctx = IrisDeviceCtx.initialize(context_tensor)
    at = gl.arange(0, BLOCK_SIZE, layout=gl.BlockedLayout([1], [THREADS], [4], [0]))
    value = (ctx.cur_rank * 8 + at % 8 + 1).to(p.dtype.element_ty)
    if OP == "add":
        x = ctx.atomic_add(p + at, value, 0, mask=at != 5, sem="relaxed", scope="sys")
    elif OP == "sub":
        x = ctx.atomic_sub(p + at, value, 0)
    elif OP == "and":
        x = ctx.atomic_and(p + at, ~value, 0)
    elif OP == "or":
        x = ctx.atomic_or(p + at, value, 0)
    elif OP == "xor":
        x = ctx.atomic_xor(p + at, value, 0)
    elif OP == "min":
        x = ctx.atomic_min(p + at, -value, 0)
    elif OP == "max":
        x = ctx.atomic_max(p + at, value, 0)
    elif OP == "xchg":
        x = ctx.atomic_xchg(p + at, value, 0)
    else:
        x = ctx.atomic_cas(p + at, gl.zeros_like(value), value, 0)
    gl.store(old + at, x)


B = 256
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
        p, old = (shmem.zeros(B, dtype=dtype) for _ in range(2))
        shmem.barrier()
        update_kernel[(1,)](iris_gl.IrisDeviceCtx, context_tensor, p, old, op, B, THREADS, num_warps=4)
        shmem.barrier()
        got, found = (each.cpu().numpy() for each in (shmem.as_remote(p, 0), old))
        if op in results:
            np.testing.assert_array_equal(got, results[op], op)
        else:
            # One of the ranks was last, or first; what it found was there before.
            assert (got == values).any(0).all(), (op, dtype)
            assert ((found == 0) | (found == values).any(0)).all(), (op, dtype)
        shmem.barrier()


@gluon.jit
def producer_kernel(
    IrisDeviceCtx: gl.constexpr,
    context_tensor,
    source_buffer,
    target_buffer,
    flag,
    buffer_size,
    consumer_rank: gl.constexpr,
    BLOCK_SIZE: gl.constexpr,
    THREADS: gl.constexpr,
):
    ctx = IrisDeviceCtx.initialize(context_tensor)
    pid = gl.program_id(0)
    layout: gl.constexpr = gl.BlockedLayout([1], [THREADS], [4], [0])
    offsets = pid * BLOCK_SIZE + gl.arange(0, BLOCK_SIZE, layout=layout)
    mask = offsets < buffer_size
    values = ctx.load(source_buffer + offsets, ctx.cur_rank, mask=mask)
    ctx.store(target_buffer + offsets, values, consumer_rank, mask=mask)
    ctx.atomic_cas(flag + pid, 0, 1, consumer_rank, sem="release", scope="sys")


@gluon.jit
def consumer_kernel(
    IrisDeviceCtx: gl.constexpr,
    context_tensor,
    buffer,
    flag,
    buffer_size,
    consumer_rank: gl.constexpr,
    BLOCK_SIZE: gl.constexpr,
    THREADS: gl.constexpr,
):
    ctx = IrisDeviceCtx.initialize(context_tensor)
    pid = gl.program_id(0)
    layout: gl.constexpr = gl.BlockedLayout([1], [THREADS], [4], [0])
    offsets = pid * BLOCK_SIZE + gl.arange(0, BLOCK_SIZE, layout=layout)
    mask = offsets < buffer_size
    done = 0
    while done == 0:
        done = ctx.atomic_cas(flag + pid, 1, 0, consumer_rank, sem="acquire", scope="sys")
    values = ctx.load(buffer + offsets, consumer_rank, mask=mask)
    ctx.store(buffer + offsets, values * 2, consumer_rank, mask=mask)


source, target = as_shared(data(cur_rank), torch.float32), shmem.zeros(SIZE, dtype=torch.float32)
flags = shmem.zeros(GRID, dtype=torch.int32)
places = (iris_gl.IrisDeviceCtx, context_tensor)
for turn in range(200):
    source.copy_(torch.from_numpy(data(cur_rank) + turn))
    shmem.barrier()
    producer_kernel[GRID](*places, source, target, flags, SIZE, after, BLOCK_SIZE, THREADS, num_warps=4)
    consumer_kernel[GRID](*places, target, flags, SIZE, cur_rank, BLOCK_SIZE, THREADS, num_warps=4)
    shmem.barrier()
    same(target, 2 * (data(before) + turn))
shmem.barrier()
