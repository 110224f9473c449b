"""Remote loads and stores against the same kernel on a direct pointer to the peer's memory, both directions at once."""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

BYTES, RUNS = 64 << 20, 7
world = symm.init(heap_size=3 * BYTES)
me, ranks = world.get_rank(), world.get_num_ranks()
table, peer = world.get_device_context(), (me + 1) % ranks


@triton.jit
def pull(table, p, q, n, peer, DIRECT: tl.constexpr, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        tl.store(q + at, tl.load(p + at) if DIRECT else ctx.load(p + at, peer))


@triton.jit
def push(table, p, q, n, peer, DIRECT: tl.constexpr, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    for start in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = start + tl.arange(0, B)
        if DIRECT:
            tl.store(q + at, tl.load(p + at))
        else:
            ctx.store(q + at, tl.load(p + at), peer)


def rate(kernel, p, q, programs, direct):
    """GB/s, the median of some runs."""
    times = []
    for _ in range(RUNS + 2):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        world.device_barrier()
        events[0].record()
        kernel[(programs,)](table, p, q, p.numel(), peer, DIRECT=direct, B=16384 // p.element_size(), num_warps=8)
        events[1].record()
        torch.cuda.synchronize()
        times.append(events[0].elapsed_time(events[1]))
    return BYTES / sorted(times[2:])[RUNS // 2] / 1e6


for kind in ("float16", "float32", "int8"):
    dtype = getattr(torch, kind)
    count = BYTES // torch.empty((), dtype=dtype).element_size()
    p, q = world.zeros(count, dtype=dtype), world.zeros(count, dtype=dtype)
    for kernel, sides in ((pull, (world.as_remote(p, peer), q)), (push, (p, world.as_remote(q, peer)))):
        for programs in (4, 8, 16, 32, 132):
            # In turn, so that both see the same clocks.
            direct, ours = rate(kernel, *sides, programs, True), rate(kernel, p, q, programs, False)
            if me == 0:
                name = kernel.fn.__name__
                print(f"{kind:8} {name} {programs:4} direct {direct:6.1f} symm {ours:6.1f} GB/s {ours / direct:.3f}")
    del p, q, sides
world.close()
