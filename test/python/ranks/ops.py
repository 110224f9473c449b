"""Every op in kernels, on every rank, with data that differs by rank and element."""

import numpy as np
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
before, after = (me - 1) % ranks, (me + 1) % ranks
context = world.get_device_context()
B = 64
at = np.arange(B)


def same(tensor, wanted):
    np.testing.assert_array_equal(tensor.cpu().numpy(), wanted)


def data(rank):
    return 1000 * rank + at


@triton.jit
def read(table, p, q, peer, n, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(q + at, ctx.load(p + at, peer, mask=at < n, other=-1))
    if ctx.is_near(peer):
        tl.store(q + at, tl.load(st.as_remote(table, p, peer) + at), mask=at >= n + 8)
    else:
        tl.store(q + at, ctx.load(p + at, peer), mask=at >= n + 8)


@triton.jit
def write(table, p, q, n, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    peer = (ctx.rank() + 1) % ctx.num_ranks()
    ctx.store(q + at, tl.load(p + at), peer, mask=at < n)
    if tl.program_id(0) == 0:
        ctx.store(q + n, 7, peer)


@triton.jit
def copies(table, p, q, peer, far, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    ctx.get(p + at, q + at, peer)
    ctx.put(p + at, q + B + at, peer, mask=at < 10)
    ctx.copy(p + at, q + 2 * B + at, peer, far)


for kind in ("int8", "int16", "int32", "int64", "float16", "float32", "float64"):
    dtype = getattr(torch, kind)
    p, q = world.zeros(B, dtype=dtype), world.zeros(3 * B, dtype=dtype)
    mine, theirs, last = (data(rank).astype(kind) for rank in (me, after, before))
    p.copy_(torch.from_numpy(mine))
    world.barrier()
    read[(4,)](context, p, q, after, B // 2, B=B // 4)
    wanted = theirs.copy()
    wanted[B // 2 : B // 2 + 8] = -1
    same(q[:B], wanted)
    world.barrier()
    write[(2,)](context, p, q, 20, B=B)
    world.barrier()
    wanted[:20], wanted[20] = last[:20], 7
    same(q[:B], wanted)
    world.barrier()
    q.fill_(0)
    world.barrier()
    copies[(1,)](context, p, q, after, before, B=B)
    world.barrier()
    same(q[:B], theirs)
    same(q[B : 2 * B], np.where(at < 10, last, 0))
    # The rank after me copied from the rank after it to me.
    same(q[2 * B :], data((me + 2) % ranks).astype(kind))
    world.barrier()


@triton.jit
def updates(table, p, old, OP: tl.constexpr, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    value = ctx.rank() * 8 + at % 8 + 1
    if OP == "add":
        x = ctx.atomic_add(p + at, value, 0, mask=at != 5)
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
        x = ctx.atomic_cas(p + at, 0, value, 0)
    tl.store(old + at, x)


values = np.array([[8 * rank + i % 8 + 1 for i in range(B)] for rank in range(ranks)])
results = {
    "add": np.where(at == 5, 0, values.sum(0)),
    "sub": -values.sum(0),
    "and": np.bitwise_and.reduce(~values & 0, axis=0),
    "or": np.bitwise_or.reduce(values),
    "xor": np.bitwise_xor.reduce(values),
    "min": (-values).min(0),
    "max": values.max(0),
}
cells = [(op, kind) for op in (*results, "xchg", "cas") for kind in ("int32", "int64")]
cells += [(op, kind) for op in ("add", "sub") for kind in ("float16", "bfloat16", "float32", "float64")]
cells += [(op, kind) for op in ("min", "max", "xchg", "cas") for kind in ("float32", "float64")]
for op, kind in cells:
    dtype = getattr(torch, kind)
    p, old = world.zeros(B, dtype=dtype), world.zeros(B, dtype=dtype)
    world.barrier()
    updates[(1,)](context, p, old, OP=op, B=B)
    world.barrier()
    after_all = torch.empty_like(p)
    world.get(p, after_all, 0)
    got, found = ((each.float() if kind == "bfloat16" else each).cpu().numpy() for each in (after_all, old))
    if op in results:
        np.testing.assert_array_equal(got, results[op], f"{op} {kind}")
    else:
        # One of the ranks was last, or first; what it found was there before.
        assert (got == values).any(0).all(), (op, kind)
        assert ((found == 0) | (found == values).any(0)).all(), (op, kind)
    world.barrier()


@triton.jit
def pass_on(table, mail, flag, rounds, B: tl.constexpr):
    """A token goes around the ring; each rank adds one."""
    ctx = st.DeviceContext(table)
    at = tl.arange(0, B)
    after = (ctx.rank() + 1) % ctx.num_ranks()
    for turn in range(rounds):
        if turn > 0 or ctx.rank() > 0:
            ctx.wait(flag, turn + (ctx.rank() > 0).to(tl.int32))
        token = tl.load(mail + at)
        ctx.store(mail + at, token + 1, after)
        ctx.signal(flag, 1, after, op="add")


mail, flag = world.arange(B, dtype=torch.int64), world.zeros(1, dtype=torch.int64)
world.barrier()
pass_on[(1,)](context, mail, flag, 20, B=B)
world.barrier()
same(mail, at + 19 * ranks + (me if me > 0 else ranks))
assert flag.tolist() == [20]


@triton.jit
def exchange(table, p, q, flag, n, B: tl.constexpr):
    """Each program's piece goes to the next rank; signals are set, with values that begin below zero."""
    ctx = st.DeviceContext(table)
    after = (ctx.rank() + 1) % ctx.num_ranks()
    i = tl.program_id(0)
    at = i * B + tl.arange(0, B)
    ctx.put_signal(p + at, q + at, flag + i, -5, after)
    ctx.wait(flag + i, -5, compare="eq")
    ctx.fence()
    tl.store(p + at, tl.load(q + at) + 1)
    ctx.barrier()


p, q, flags = (world.zeros(size, dtype=torch.int32) for size in (B, B, 4))
p.copy_(torch.from_numpy(data(me).astype("int32")))
world.barrier()
exchange[(4,)](context, p, q, flags, 3, B=B // 4)
same(p, data(before) + 1)
world.barrier()
world.close()
