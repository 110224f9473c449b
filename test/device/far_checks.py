"""What far.py checks: a function for each op, `(heap, table, is_near, rounds)`, which returns what is to be told."""

import time

import far_kernels as kernels
import torch
import triton


def around(heap):
    """The rank that this one writes to, and the one that writes to this one."""
    return (heap.rank + 1) % heap.ranks, (heap.rank - 1) % heap.ranks


def numbers(heap, count, dtype, of=None):
    rank = heap.rank if of is None else of
    return (torch.arange(count, device=heap.device) % 50 + 60 * (rank % 2)).to(dtype)


def same(got, wanted):
    assert torch.equal(got, wanted), f"{int((got != wanted).sum())} of {got.numel()}: {got[:8]} not {wanted[:8]}"


FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
DTYPES = (*FLOATS, torch.int8, torch.int64, torch.uint8, torch.int32)


def reach(heap, table, is_near, rounds):
    out = torch.zeros(1, dtype=torch.int32, device=heap.device)
    kernels.reach[(1,)](table, out, around(heap)[0])
    assert bool(out.item()) == is_near


def store(heap, table, is_near, rounds):
    for dtype in DTYPES:
        p = heap.make(torch.zeros(128, dtype=dtype, device=heap.device))
        heap.meet()
        kernels.store[(1,)](table, p, around(heap)[0], 128)
        heap.meet()
        at = torch.arange(128, device=heap.device)
        same(p, torch.where(at < 100, at, 0).to(dtype))


def load(heap, table, is_near, rounds):
    for dtype in DTYPES:
        p = heap.make(numbers(heap, 128, dtype))
        q = torch.zeros(128, dtype=dtype, device=heap.device)
        heap.meet()
        kernels.load[(1,)](table, p, q, around(heap)[0], 128)
        heap.meet()
        wanted = numbers(heap, 128, dtype, around(heap)[0])
        wanted[100:] = 7
        same(q, wanted)


def scalars(heap, table, is_near, rounds):
    for dtype in (torch.int32, torch.float16, torch.int64, torch.uint8):
        p = heap.make(torch.tensor([0, heap.rank + 40], dtype=dtype, device=heap.device))
        q = torch.zeros(1, dtype=dtype, device=heap.device)
        heap.meet()
        kernels.scalars[(1,)](table, p, q, around(heap)[0])
        heap.meet()
        same(q, torch.tensor([around(heap)[0] + 40], dtype=dtype, device=heap.device))
        same(p[:1], torch.tensor([5], dtype=dtype, device=heap.device))


def put(heap, table, is_near, rounds):
    for dtype in DTYPES:
        for count in (128, 16384):
            p, q = (heap.make(values) for values in (numbers(heap, count, dtype), numbers(heap, count, dtype) * 0))
            heap.meet()
            kernels.put[(1,)](table, p, q, around(heap)[0], count)
            heap.meet()
            wanted = numbers(heap, count, dtype, around(heap)[1])
            wanted[100:] = 0
            same(q, wanted)


def put_whole(heap, table, is_near, rounds):
    for step in (1, 3):
        p = heap.make(numbers(heap, 32768, torch.int32))
        q = heap.make(torch.zeros(32768, dtype=torch.int32, device=heap.device))
        heap.meet()
        kernels.put_strided[(1,)](table, p, q, around(heap)[0], step, 8192)
        heap.meet()
        wanted = torch.zeros(32768, dtype=torch.int32, device=heap.device)
        wanted[: 8192 * step : step] = numbers(heap, 32768, torch.int32, around(heap)[1])[: 8192 * step : step]
        same(q, wanted)


def get(heap, table, is_near, rounds):
    for dtype in DTYPES:
        p, q = (heap.make(values) for values in (numbers(heap, 512, dtype), numbers(heap, 512, dtype) * 0))
        heap.meet()
        kernels.get[(1,)](table, p, q, around(heap)[0], 32)
        heap.meet()
        same(q, numbers(heap, 512, dtype, around(heap)[0]))


def copy(heap, table, is_near, rounds):
    p = heap.make(numbers(heap, 128, torch.int32))
    q = heap.make(torch.zeros(128, dtype=torch.int32, device=heap.device))
    heap.meet()
    kernels.copy[(1,)](table, p, q, heap.rank, around(heap)[0], 128)
    heap.meet()
    same(q, numbers(heap, 128, torch.int32, around(heap)[1]))


def signal(heap, table, is_near, rounds):
    for dtype in (torch.int32, torch.int64):
        flag = heap.make(torch.zeros(2, dtype=dtype, device=heap.device))
        heap.meet()
        kernels.signal[(1,)](table, flag, around(heap)[0])
        heap.meet()
        same(flag, torch.tensor([3, 1], dtype=dtype, device=heap.device))


def put_signal(heap, table, is_near, rounds):
    p, q = (heap.make(values) for values in (numbers(heap, 1024, torch.float32), torch.zeros(1024, device=heap.device)))
    flag, seen = heap.make(torch.zeros(1, dtype=torch.int32, device=heap.device)), torch.zeros(1024, device=heap.device)
    heap.meet()
    kernels.put_signal_and_read[(1,)](table, p, q, flag, seen, around(heap)[0], 1024)
    heap.meet()
    same(seen, numbers(heap, 1024, torch.float32, around(heap)[1]))


def signal_each(heap, table, is_near, rounds):
    flag = heap.make(torch.zeros(8, dtype=torch.int32, device=heap.device))
    heap.meet()
    kernels.signal_each[(1,)](table, flag, 8)
    heap.meet()
    wanted = (torch.arange(8, device=heap.device) < heap.ranks).to(torch.int32)
    same(flag, wanted)


def atomics(heap, table, is_near, rounds):
    for dtype in (torch.int32, torch.int64):
        p = heap.make(torch.full((32,), 1, dtype=dtype, device=heap.device))
        q = torch.zeros(32, dtype=dtype, device=heap.device)
        heap.meet()
        kernels.atomics[(4,)](table, p, q, around(heap)[0], 32)
        heap.meet()
        wanted = 1 + 4 * torch.arange(32, device=heap.device)
        wanted[0] = 3
        same(p, wanted.to(dtype))


def sums(heap, table, is_near, rounds):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        p = heap.make(torch.zeros(64, dtype=dtype, device=heap.device))
        heap.meet()
        kernels.sums[(4,)](table, p, around(heap)[0], 64)
        heap.meet()
        same(p, (4 * torch.arange(64, device=heap.device)).to(dtype))


def kinds(heap, table, is_near, rounds):
    start = [12, 12, 12, -5, -5, 12, 12]
    p = heap.make(torch.tensor(start, dtype=torch.int32, device=heap.device))
    q = torch.zeros(7, dtype=torch.int32, device=heap.device)
    heap.meet()
    kernels.kinds[(1,)](table, p, q, around(heap)[0])
    heap.meet()
    same(p, torch.tensor([12 & 10, 12 | 10, 12 ^ 10, -5, 10, 10, 2], dtype=torch.int32, device=heap.device))
    same(q, torch.tensor(start, dtype=torch.int32, device=heap.device))


def swap(heap, table, is_near, rounds):
    for dtype in (torch.int32, torch.int64, torch.int16):
        p = heap.make(torch.tensor([1, 9], dtype=dtype, device=heap.device))
        q = torch.zeros(1, dtype=dtype, device=heap.device)
        heap.meet()
        kernels.swap[(1,)](table, p, q, around(heap)[0])
        heap.meet()
        same(torch.cat([p, q]), torch.tensor([2, 9, 1], dtype=dtype, device=heap.device))


def packet(heap, table, is_near, rounds):
    slots = heap.make(torch.zeros(64, dtype=torch.int64, device=heap.device))
    seen = torch.zeros(32, dtype=torch.int32, device=heap.device)
    heap.meet()
    kernels.packet_and_read[(1,)](table, slots, seen, around(heap)[0], 32)
    heap.meet()
    same(seen, torch.arange(32, dtype=torch.int32, device=heap.device) + 7)


def meet(heap, table, is_near, rounds):
    for _ in range(3):
        kernels.meet[(4,)](table)
    heap.meet()


def messages(heap, table, is_near, rounds):
    """A ring of put_signal and wait; every message is looked at."""
    count = rounds if heap.ranks == 1 else min(rounds, 2000)
    p, q = (heap.make(torch.zeros(128, dtype=torch.int32, device=heap.device)) for _ in range(2))
    flag, credit = (heap.make(torch.zeros(1, dtype=torch.int64, device=heap.device)) for _ in range(2))
    wrong = torch.zeros(1, dtype=torch.int32, device=heap.device)
    arguments = (table, p, q, flag, credit, wrong, *around(heap))
    heap.meet()
    kernels.messages[(1,)](*arguments, 0, 10, 128)
    heap.torch.cuda.synchronize()
    start = time.monotonic()
    kernels.messages[(1,)](*arguments, 10, count, 128)
    heap.torch.cuda.synchronize()
    took = time.monotonic() - start
    assert wrong.item() == 0, f"{wrong.item()} wrong values"
    return f"{count} messages, {took / count * 1e6:.2f} us each"


def speed(heap, table, is_near, rounds):
    """Bandwidth of puts, one program."""
    p, q = (heap.make(torch.zeros(2 << 20, dtype=torch.int32, device=heap.device)) for _ in range(2))
    heap.meet()
    told = []
    for programs in (1, 8):
        for again in range(2):
            heap.torch.cuda.synchronize()
            start = time.monotonic()
            kernels.put_blocks[(programs,)](table, p, q, around(heap)[0], 256 // programs, 8192, num_warps=16)
            heap.torch.cuda.synchronize()
            took = time.monotonic() - start
        told.append(f"{programs} programs {(8 << 20) / took / 1e9:.1f} GB/s")
    return ", ".join(told)


CHECKS = [reach, store, load, scalars, put, put_whole, get, copy, signal, put_signal, signal_each, atomics, sums, kinds,
          swap, packet, meet, messages, speed]  # fmt: skip
