"""Every op between ranks, near and far as SYMM_ENGINE and SYMM_DOMAIN say. On the CPU far ranks are simulated."""

import os
import sys
from pathlib import Path

import numpy as np
import symm
import torch
from symm.comm import Communicator

sys.path.insert(0, str(Path(__file__).parents[1]))
import far_kernels as kernels

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
before, after = (me - 1) % ranks, (me + 1) % ranks
domain = int(os.environ.get("SYMM_DOMAIN", ranks))
B = 128
at = np.arange(B)


def same(tensor, wanted):
    np.testing.assert_array_equal(tensor.cpu().numpy(), wanted)


def made(values, dtype=torch.int32):
    tensor = world.zeros(len(values), dtype=dtype)
    tensor.copy_(torch.from_numpy(np.asarray(values, dtype=str(dtype).split(".")[-1])))
    return tensor


def numbers(rank):
    return 1000 * rank + at


# Who is near.
wanted = [rank // domain == me // domain for rank in range(ranks)]
assert [world.is_near(rank) for rank in range(ranks)] == wanted
q = world.zeros(1, dtype=torch.int32)
for rank in range(ranks):
    kernels.reach[(1,)](world, q, rank)
    world.barrier()
    same(q, [wanted[rank]])
    if wanted[rank]:
        assert world.as_remote(q, rank).shape == q.shape
        continue
    try:
        world.as_remote(q, rank)
    except symm.FarRankError as error:
        assert f"rank {rank} is far" in str(error)
    else:
        raise AssertionError("a far rank's tensor")
    if world.device.type == "cpu":
        try:
            kernels.stores_to_a_far_rank[(1,)](world, q, rank)
        except Exception as error:
            found = error.__cause__ or error
            assert isinstance(found, symm.FarRankError) and found.file.endswith("far_kernels.py"), repr(error)
        else:
            raise AssertionError("a far rank's address")

# Data.
for dtype in (torch.int32, torch.float32, torch.int64, torch.float16, torch.int8):
    kind = str(dtype).split(".")[-1]
    p, q = made(numbers(me) % 100, dtype), world.zeros(B, dtype=dtype)
    world.barrier()
    kernels.load[(1,)](world, p, q, after, B)
    same(q, np.where(at < 100, numbers(after) % 100, 7).astype(kind))
    world.barrier()
    kernels.store[(1,)](world, p, after, B)
    world.barrier()
    same(p, np.where(at < 100, at, numbers(me) % 100).astype(kind))
    q.zero_()
    world.barrier()
    kernels.put[(1,)](world, p, q, after, B)
    world.barrier()
    same(q, np.where(at < 100, at, 0).astype(kind))
p, q = made(numbers(me)), world.zeros(B, dtype=torch.int32)
world.barrier()
kernels.copy[(1,)](world, p, q, after, before, B)
world.barrier()
same(q, numbers((me + 2) % ranks))
table, got = made(np.arange(512) + me), world.zeros(512, dtype=torch.int32)
world.barrier()
kernels.get[(1,)](world, table, got, after, 32)
same(got, np.arange(512) + after)

# Order.
for turn in range(1, 4):
    p, q, seen = made(numbers(me) + turn), world.zeros(B, dtype=torch.int32), world.zeros(B, dtype=torch.int32)
    flag = world.zeros(1, dtype=torch.int32)
    world.barrier()
    kernels.put_signal_and_read[(1,)](world, p, q, flag, seen, after, B)
    world.barrier()
    same(seen, numbers(before) + turn)
flags = world.zeros(8, dtype=torch.int32)
world.barrier()
kernels.signal_each[(1,)](world, flags, 8)
world.barrier()
same(flags, np.arange(8) < ranks)
slots, seen = world.zeros(2 * B, dtype=torch.int64), world.zeros(B, dtype=torch.int32)
world.barrier()
kernels.packet_and_read[(1,)](world, slots, seen, after, B)
world.barrier()
same(seen, at + 7)

# Atomics.
for dtype in (torch.int32, torch.int64, torch.float32):
    p = world.zeros(64, dtype=dtype)
    world.barrier()
    kernels.sums[(2,)](world, p, 0, 64)
    world.barrier()
    if me == 0:
        same(p, 2 * ranks * np.arange(64).astype(str(dtype).split(".")[-1]))
p, q = made([1]), world.zeros(1, dtype=torch.int32)
world.barrier()
kernels.swap[(1,)](world, p, q, after)
world.barrier()
same(p, [2])
same(q, [1])

# Barriers in kernels: a program of the grid on the interpreter waits for the same one of the others.
for _ in range(3):
    kernels.meet[(2,)](world)
world.barrier()

# The host.
p, q = made(numbers(me)), world.zeros(B, dtype=torch.int32)
flag = world.zeros(1, dtype=torch.int64)
world.barrier()
world.put(p, q, after)
world.signal(flag, 5, after)
world.wait(flag, 5)
same(q, numbers(before))
world.barrier()
q.zero_()
world.get(p, q, after)
same(q, numbers(after))
for _ in range(3):
    world.device_barrier()
world.barrier()

# Collectives: the ranks that are near each other are a domain, as far as that is so everywhere.
comm = Communicator(world, blocks=1, staging=1 << 20)
is_staged = domain > 1 and ranks % domain == 0 and domain < ranks
assert (comm._hierarchy is not None) == is_staged and comm._calls.choose.keywords["far"] == (domain < ranks)
for numel in (5, 30_000):
    given = torch.arange(numel, device=world.device, dtype=torch.float32)
    same(comm.all_reduce(given * (me + 1)), np.arange(numel, dtype="float32") * (ranks * (ranks + 1) // 2))
halves = comm.split(me % 2)
assert halves._hierarchy is None
members = len(range(me % 2, ranks, 2))
same(halves.all_reduce(torch.ones(7, device=world.device)), np.full(7, members, dtype="float32"))
print("right")
world.close()
