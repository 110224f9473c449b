"""Floats that show by themselves that they have come, on every rank: all types, scalars, blocks, masks, and any bits,
among them those that clear a line; two buffers in turn, and lines of one buffer in different types.

Ranks exchange with their mirror image, the middle one with itself: two buffers are enough only for who receives from
whom it sends to.
"""

import numpy as np
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
other = ranks - 1 - me
context = world.get_device_context()
N = 64
torch.set_default_device(world.device)


@triton.jit
def exchange(table, p, o, slots, n, BYTES: tl.constexpr, N: tl.constexpr, MASKED: tl.constexpr):
    ctx = st.DeviceContext(table)
    T: tl.constexpr = p.dtype.element_ty
    at = tl.arange(0, N)
    on = at < (n if MASKED else N)
    ctx.put_floats(slots, tl.load(p + at), ctx.num_ranks() - 1 - ctx.rank(), mask=on)
    tl.store(o + at, ctx.wait_floats(slots, N, T, mask=on))
    ctx.clear_floats(slots, N, T, mask=on)


@triton.jit
def words(table, p, o, slots, N: tl.constexpr, T: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.arange(0, N)
    ctx.put_floats(slots, tl.load(p + at), ctx.num_ranks() - 1 - ctx.rank(), dtype=T)
    # Triton 3.6 compiles no loop that carries several blocks: this one carries a scalar.
    there = 0
    while there == 0:
        _, valid = ctx.try_floats(slots, N, T, words=True)
        there = tl.min(valid.to(tl.int32), 0)
    tl.store(o + at, ctx.wait_floats(slots, N, T, words=True))
    ctx.clear_floats(slots, N, T, words=True)


@triton.jit
def scattered(table, p, o, slots, N: tl.constexpr):
    """A scalar, and an element for each line."""
    ctx = st.DeviceContext(table)
    at, peer = tl.arange(0, N), ctx.num_ranks() - 1 - ctx.rank()
    lines = slots + 4 * at
    ctx.put_floats(lines, tl.load(p + at), peer)
    ctx.put_floats(slots + 4 * N, tl.load(p), peer)
    tl.store(o + at, ctx.wait_floats(lines, dtype=p.dtype.element_ty))
    tl.store(o + N, ctx.wait_floats(slots + 4 * N, dtype=p.dtype.element_ty))
    ctx.clear_floats(lines, dtype=p.dtype.element_ty)
    ctx.clear_floats(slots + 4 * N, dtype=p.dtype.element_ty)


def bits_of(rank, turn, width):
    """Any bits: NaNs, infinities and denormals among them; whole lines of ones, some elsewhere, and -0.0."""
    kind = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[width]
    random = np.random.default_rng((rank, turn, width))
    found = random.integers(0, 1 << 8 * width, N, kind, endpoint=False) if width < 8 else random.integers(
        0, 2**64 - 1, N, kind)  # fmt: skip
    ones = kind((1 << 8 * width) - 1)
    found[:16] = ones
    found[20], found[21], found[30], found[31] = ones, ones - kind(1), kind(1 << (8 * width - 1)), 0
    return found


def as_sent(bits):
    kind = np.uint64 if bits.itemsize == 8 else np.uint32
    words = bits.view(kind)
    return np.where(words == ~kind(0), words >> kind(1), words).view(bits.dtype)


def cleared(slots):
    slots.fill_(-1)
    world.barrier()


buffers = [world.empty(8 * N, dtype=torch.int32) for _ in range(2)]
for buffer in buffers:
    cleared(buffer)
turn = 0
signed = {1: torch.int8, 2: torch.int16, 4: torch.int32}
for kind in ("float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn") * 3:
    # One after the other in the same lines, with no barrier in between.
    dtype = getattr(torch, kind)
    width = dtype.itemsize
    p, o = (torch.zeros(N, dtype=dtype) for _ in range(2))
    for masked in (False, True):
        turn += 1
        p.view(signed[width]).copy_(torch.from_numpy(bits_of(me, turn, width).view(f"i{width}")))
        # A poisoned output.
        o.view(torch.uint8).fill_(0xA5)
        exchange[(1,)](context, p, o, buffers[turn % 2], 27, BYTES=width, N=N, MASKED=masked)
        wanted = as_sent(bits_of(other, turn, width))
        wanted = np.where(np.arange(N) < 27, wanted, 0) if masked else wanted
        np.testing.assert_array_equal(o.view(signed[width]).cpu().numpy().view(f"u{width}"), wanted, f"{kind} {turn}")
world.barrier()
for buffer in buffers:
    assert buffer.eq(-1).all(), "what has been received is cleared"

wide = world.empty(2 * 8 * N, dtype=torch.int32)
wide.fill_(-1)
world.barrier()
p, o = (torch.zeros(N, dtype=torch.int64) for _ in range(2))
for turn in range(1, 5):
    p.copy_(torch.from_numpy(bits_of(me, turn, 8).view(np.int64)))
    part = wide[turn % 2 * 4 * N :][: 4 * N]
    exchange[(1,)](context, p.view(torch.float64), o.view(torch.float64), part, 0, BYTES=8, N=N, MASKED=False)
    np.testing.assert_array_equal(o.cpu().numpy().view(np.uint64), as_sent(bits_of(other, turn, 8)))
cleared(buffers[0])
cleared(buffers[1])
for turn in range(1, 5):
    p.copy_(torch.from_numpy(bits_of(me, turn, 8).view(np.int64)))
    words[(1,)](context, p, o, buffers[turn % 2], N=N, T=tl.float32)
    wanted = as_sent(bits_of(other, turn, 8).view(np.uint32))
    np.testing.assert_array_equal(o.cpu().numpy().view(np.uint32), wanted)

lines = world.empty(4 * (N + 1), dtype=torch.int32)
cleared(lines)
p, o = torch.arange(N, dtype=torch.float32) + 100 * me, torch.zeros(N + 1)
scattered[(1,)](context, p, o, lines, N=N)
np.testing.assert_array_equal(o.cpu().numpy(), np.append(np.arange(N) + 100.0 * other, 100.0 * other))
world.barrier()
if me == 0:
    print(f"OK on {ranks} ranks")
world.close()
