"""A rank for each element; signals to a block of ranks; stores with a signal; eviction policies; halves of words."""

import numpy as np
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20, timeout=60)
me, ranks = world.get_rank(), world.get_num_ranks()
N, WIDTH = 16, 8


@triton.jit
def scatter(world, rows, inbox, back, counts, old, n, N: tl.constexpr, WIDTH: tl.constexpr):
    """Row i goes to rank i % ranks, and comes back from there; what is masked has a rank that is none."""
    ctx = st.DeviceContext(world)
    at, columns = tl.arange(0, N), tl.arange(0, WIDTH)[None, :]
    to = tl.where(at < n, at % ctx.num_ranks(), 1000)
    mine = (ctx.rank() * N + at)[:, None] * WIDTH + columns
    here = (at < n)[:, None]
    ctx.store(inbox + mine, tl.load(rows + at[:, None] * WIDTH + columns), to[:, None], mask=here)
    tl.store(old + at, ctx.atomic_add(counts + at, ctx.rank() + 1, to, mask=at < n))
    ctx.barrier()
    came = ctx.load(inbox + mine, to[:, None], mask=here, other=-1, eviction_policy="evict_first")
    tl.store(back + at[:, None] * WIDTH + columns, came)
    same = came
    if ctx.is_near((ctx.rank() + 1) % ctx.num_ranks()):
        same = tl.load(ctx.as_remote(inbox + mine, to[:, None] * here.to(tl.int32)), mask=here, other=-1)
    tl.store(back + at[:, None] * WIDTH + columns, came + same, mask=(at < 2)[:, None])


rows, back = (world.zeros((N, WIDTH), dtype=torch.int32) for _ in range(2))
inbox = world.zeros((ranks * N, WIDTH), dtype=torch.int32)
counts, old = (world.zeros(N, dtype=torch.int32) for _ in range(2))
values = np.arange(N * WIDTH).reshape(N, WIDTH).astype(np.int32)
rows.copy_(torch.from_numpy(values + 1000 * me))
world.barrier()
n = 13
scatter[(1,)](world, rows, inbox, back, counts, old, n, N=N, WIDTH=WIDTH)
world.barrier()
for rank in range(ranks):
    got = inbox.cpu().numpy()[rank * N : (rank + 1) * N]
    wanted = [values[i] + 1000 * rank if i < n and i % ranks == me else [0] * WIDTH for i in range(N)]
    np.testing.assert_array_equal(got, wanted)
total = ranks * (ranks + 1) // 2
np.testing.assert_array_equal(counts.cpu().numpy(), [total if i < n and i % ranks == me else 0 for i in range(N)])
wanted = np.where(np.arange(N)[:, None] < n, values + 1000 * me, -1)
wanted[:2] *= 2
np.testing.assert_array_equal(back.cpu().numpy(), wanted)


@triton.jit
def tell(world, flags, sums, each, found, RANKS: tl.constexpr, GROUP: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, RANKS)
    # All ranks, then those above mine; then each in a flag of its own. A block may have one rank.
    ctx.signal(flags + ctx.rank(), ctx.rank() + 1, at, group=GROUP)
    ctx.signal(sums, 1, tl.where(at > ctx.rank(), at, -1), op="add", mask=at > ctx.rank())
    ctx.signal(each + at, at + 5, at)
    seen = ctx.wait_all(flags + at, at + 1)
    tl.store(found + at, seen)
    ctx.wait(sums, ctx.rank())
    # Only the sender whose number is mine uses this one.
    ctx.wait(each + ctx.rank(), ctx.rank() + 5)


@triton.jit
def one(world, flag, inbox, found, N: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.arange(0, N)
    after = (ctx.rank() + 1) % ctx.num_ranks()
    ctx.signal(flag + 1, 1, tl.arange(0, 1), mask=False)
    ctx.signal(flag + 1, 1, tl.arange(0, 1) + 1000, mask=at < 0 if N == 1 else ctx.rank() < 0)
    ctx.store_signal(inbox + at, at + ctx.rank(), flag, 3, after, mask=at < 5)
    ctx.wait(flag, 3)
    tl.store(found + at, tl.load(inbox + at))


for group in ("thread", "warp", "block"):
    flags, found, each = (world.zeros(ranks, dtype=torch.int64) for _ in range(3))
    sums = world.zeros(1, dtype=torch.int32)
    world.barrier()
    tell[(1,)](world, flags, sums, each, found, RANKS=ranks, GROUP=group)
    world.barrier()
    assert found.tolist() == [rank + 1 for rank in range(ranks)], found
    assert (sums.item(), each.tolist()[me]) == (me, me + 5)
flag, found = world.zeros(2, dtype=torch.int32), world.zeros(N, dtype=torch.int32)
inbox = world.zeros(N, dtype=torch.int32)
world.barrier()
one[(1,)](world, flag, inbox, found, N=N)
assert found.tolist() == [i + (me - 1) % ranks if i < 5 else 0 for i in range(N)], found
assert flag.tolist() == [3, 0], flag
world.barrier()


@triton.jit
def take(world, halves, old, N: tl.constexpr):
    """Every rank wants all places of rank 0; each goes to one of them."""
    ctx = st.DeviceContext(world)
    at = tl.arange(0, N)
    tl.store(old + at, ctx.atomic_cas(halves + at, -1, ctx.rank(), at % 1))


for dtype in (torch.int16, torch.int32):
    halves, old = world.full((N,), -1, dtype=dtype), world.zeros(N, dtype=dtype)
    world.barrier()
    take[(1,)](world, halves, old, N=N)
    world.barrier()
    everyone = torch.empty_like(halves)
    world.get(halves, everyone, 0)
    owners = everyone.cpu().numpy()
    assert ((owners >= 0) & (owners < ranks)).all(), owners
    np.testing.assert_array_equal(old.cpu().numpy() == -1, owners == me)
    world.barrier()
world.close()
