"""A kernel for each op that names a rank, for peers that an engine reaches."""

import symm.triton as st
import triton
import triton.language as tl


@triton.jit
def store(table, p, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.store(table, p + at, at.to(p.dtype.element_ty), r, mask=at < 100)


@triton.jit
def load(table, p, q, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(q + at, st.load(table, p + at, r, mask=at < 100, other=7))


@triton.jit
def scalars(table, p, q, r):
    st.store(table, p, 5, r)
    tl.store(q, st.load(table, p + 1, r))


@triton.jit
def put(table, p, q, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.put(table, p + at, q + at, r, mask=at < 100)


@triton.jit
def get(table, p, q, r, BLOCK: tl.constexpr):
    rows = tl.arange(0, 16)[:, None] * 32 + tl.arange(0, BLOCK)[None, :]
    st.get(table, p + rows, q + rows, r)


@triton.jit
def copy(table, p, q, r, to, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.copy(table, p + at, q + at, r, to)


@triton.jit
def signal(table, flag, r):
    st.signal(table, flag, 3, r)
    st.signal(table, flag + 1, 1, r, op="add")
    st.wait(table, flag, 3)


@triton.jit
def put_signal(table, p, q, flag, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.put_signal(table, p + at, q + at, flag, 1, r)


@triton.jit
def each(table, p, q, BLOCK: tl.constexpr):
    """A rank for each element."""
    at, columns = tl.arange(0, BLOCK), tl.arange(0, 4)[None, :]
    to = at % st.num_ranks(table)
    block = at[:, None] * 4 + columns
    st.store(table, p + block, block, to[:, None], mask=(at < 5)[:, None])
    tl.store(q + block, st.load(table, p + block, to[:, None], mask=(at < 5)[:, None]))
    tl.store(q + at, st.atomic_add(table, p + at, 1, to, mask=at < 5))


@triton.jit
def signal_each(table, flag, BLOCK: tl.constexpr):
    st.signal(table, flag + st.rank(table), 1, tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < st.num_ranks(table))


@triton.jit
def atomics(table, p, q, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(q + at, st.atomic_add(table, p + at, at.to(p.dtype.element_ty), r))
    tl.store(q, st.atomic_max(table, p, 3, r))


@triton.jit
def swap(table, p, q, r):
    tl.store(q, st.atomic_cas(table, p, 1, 2, r))


@triton.jit
def packet(table, slots, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.put_packet(table, slots + 2 * at, at, 1, r)


@triton.jit
def meet(table):
    st.barrier(table)


@triton.jit
def reach(table, q, r):
    tl.store(q, st.is_near(table, r).to(tl.int32))


@triton.jit
def put_strided(table, p, q, r, step, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK) * step
    st.put(table, p + at, q + at, r)


@triton.jit
def put_signal_and_read(table, p, q, flag, seen, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.put_signal(table, p + at, q + at, flag, 1, r)
    st.wait(table, flag, 1)
    tl.store(seen + at, tl.load(q + at))


@triton.jit
def sums(table, p, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.atomic_add(table, p + at, at.to(p.dtype.element_ty), r)


@triton.jit
def kinds(table, p, q, r):
    tl.store(q, st.atomic_and(table, p, 10, r))
    tl.store(q + 1, st.atomic_or(table, p + 1, 10, r))
    tl.store(q + 2, st.atomic_xor(table, p + 2, 10, r))
    tl.store(q + 3, st.atomic_min(table, p + 3, 10, r))
    tl.store(q + 4, st.atomic_max(table, p + 4, 10, r))
    tl.store(q + 5, st.atomic_xchg(table, p + 5, 10, r))
    tl.store(q + 6, st.atomic_sub(table, p + 6, 10, r))


@triton.jit
def packet_and_read(table, slots, seen, r, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    st.put_packet(table, slots + 2 * at, at + 7, 1, r)
    tl.store(seen + at, st.wait_packet(table, slots + 2 * at, 1, dtype=tl.int32))


@triton.jit
def messages(table, p, q, flag, credit, wrong, r, sender, first, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for number in range(first, first + count):
        st.wait(table, credit, number)
        tl.store(p + at, at + number)
        st.put_signal(table, p + at, q + at, flag, number + 1, r)
        st.wait(table, flag, number + 1)
        found = tl.load(q + at, volatile=True)
        tl.atomic_add(wrong, tl.sum((found != at + number).to(tl.int32)))
        st.signal(table, credit, number + 1, sender)


@triton.jit
def put_blocks(table, p, q, r, blocks, BLOCK: tl.constexpr):
    for block in range(blocks):
        at = (tl.program_id(0) * blocks + block) * BLOCK + tl.arange(0, BLOCK)
        st.put(table, p + at, q + at, r)


@triton.jit
def loads_from_a_far_rank(table, p, q, r):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, 32)
    theirs = ctx.as_remote(p + at, r)
    if ctx.is_near(r):
        values = tl.load(theirs)
    else:
        values = tl.load(theirs, mask=at < 20)
    tl.store(q + at, values)


@triton.jit
def adds_to_a_far_rank(table, p, r):
    near = st.is_near(table, r)
    if not near:
        tl.atomic_add(st.as_remote(table, p, r), 1)


@triton.jit
def stores_to_a_far_rank(table, p, r):
    if st.is_near(table, r):
        return
    tl.store(st.as_remote(table, p, r), 1)


@triton.jit
def asks_before(table, p, q, r):
    """Loads from near ranks directly."""
    at = tl.arange(0, 32)
    theirs = st.as_remote(table, p + at, r)
    if st.is_near(table, r):
        values = tl.load(theirs)
    else:
        values = st.load(table, p + at, r)
    tl.store(q + at, values)


@triton.jit
def to_each(table, p, q, counts, BLOCK: tl.constexpr):
    """Element i goes to rank i, of those that there are, and comes back."""
    ctx = st.DeviceContext(table)
    at = tl.arange(0, BLOCK)
    to, mine = at % ctx.num_ranks(), ctx.rank() * BLOCK + at
    ctx.store(p + mine, at + 100 * ctx.rank(), to)
    tl.store(q + at, ctx.load(p + mine, to))
    ctx.atomic_add(counts + at, 1, to)
    ctx.signal(counts + 16 + ctx.rank(), ctx.rank() + 1, to, mask=at < ctx.num_ranks())
    ctx.barrier()
