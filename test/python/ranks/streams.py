"""Copies, signals and waits of the host in the order of a stream; on GPUs in a graph, too."""

import time

import numpy as np
import pytest
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=32 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
after, before = (me + 1) % ranks, (me - 1) % ranks
mail = world.zeros(4, 8, dtype=torch.float32)
flag, wide = world.zeros(1, dtype=torch.int32), world.zeros(1, dtype=torch.int64)
mine = world.full((4, 8), float(me))
out = world.zeros(4, 8, dtype=torch.float32)
world.barrier()


@triton.jit
def answer(world, flag, wide, before):
    st.wait(world, flag, 2)
    st.signal(world, wide, 7, before)


def round_trip(where, to, back, step):
    where.put(mine, mail, to)
    where.signal(flag, step, to)
    where.wait(flag, step)
    where.get(mail, out, where.get_rank())
    where.signal(wide, 1, back, op="add")
    where.wait(wide, step, "eq")


# One rank takes its time, and the others wait for it.
time.sleep(0.5 if me == ranks - 1 else 0)
round_trip(world, after, before, 1)
world.synchronize()
assert out.tolist() == [[float(before)] * 8] * 4 == mail.tolist()
world.barrier()
# A kernel waits for the host's signal, and the host's stream for the kernel's.
world.signal(flag, 2, after)
answer[(1,)](world, flag, wide, before)
world.wait(wide, 7)
world.get(mine, out, after)
world.synchronize()
assert out.tolist() == [[float(after)] * 8] * 4
world.barrier()
wide.fill_(0)
flag.fill_(0)
mail.fill_(0)
world.barrier()
team = world.team(range(ranks - 1, -1, -1))
number = team.get_rank()
round_trip(team, (number + 1) % ranks, (number - 1) % ranks, 1)
team.barrier()
assert mail.tolist() == [[float(team.get_members()[(number - 1) % ranks])] * 8] * 4
if world.device.type != "cpu":
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    wide.fill_(0)
    world.barrier()
    with torch.cuda.graph(graph, stream=stream):
        world.put(mine, mail, after)
        world.signal(wide, 1, after, op="add")
    for step in (1, 2, 3):
        graph.replay()
        world.wait(wide, step)
        world.synchronize()
        assert mail.tolist() == [[float(before)] * 8] * 4
world.barrier()

for wrong, what in (
    (lambda: world.put(mine, mail[:2], after), "put: src is .* and dst is .*: they must be the same"),
    (lambda: world.get(wide, out, after), "get: src is .* and dst is .*: they must be the same"),
    (
        lambda: world.put(mine, torch.zeros(4, 8), after),
        "put: dst must be a tensor on this World's symmetric heap, not a tensor of torch.float32, ",
    ),
    (lambda: world.get(None, out, after), "get: src must be a tensor on this World's symmetric heap, not None"),
    (lambda: team.put(mine, torch.zeros(4, 8), 0), "put: dst must be a tensor on this World's symmetric heap"),
    (lambda: world.put(mine, mail, ranks), "out of range"),
    (lambda: world.put(3, mail, after), "put: src must be a tensor, not 3"),
    (lambda: world.signal(mail, 1, after), "signal: flag must be one int32 or int64, not "),
    (lambda: world.signal(torch.zeros(1, dtype=torch.int32), 1, after), "signal: flag must be a tensor on this World"),
    (lambda: world.wait([1], 1), "wait: flag must be a tensor on this World's symmetric heap"),
    (lambda: world.signal(flag, 2**31, after), "signal: value must be an integer of 32 bits, not 2147483648"),
    (lambda: world.signal(flag, 1.0, after), "signal: value must be an integer of 32 bits, not 1.0"),
    (lambda: world.signal(flag, 1, after, op="or"), "signal: op must be 'set' or 'add', not 'or'"),
    (lambda: world.signal(flag, 1, -1), "out of range"),
    (lambda: world.wait(flag, 1, "geq"), "wait: compare must be one of eq, .*, not 'geq'"),
    (lambda: world.wait(flag, True), "wait: value must be an integer of 32 bits, not True"),
    (lambda: world.put(mine, mail, after, stream=3), "stream must be a torch stream, not 3"),
    (lambda: world.get(mine, out, after, stream="x"), "stream must be a torch stream, not 'x'"),
    (lambda: world.signal(flag, 1, after, stream="x"), "stream must be a torch stream, not 'x'"),
    (lambda: world.wait(flag, 0, stream="x"), "stream must be a torch stream, not 'x'"),
    (lambda: team.barrier(stream="x"), "stream must be a torch stream, not 'x'"),
    (lambda: team.device_barrier(stream="x"), "stream must be a torch stream, not 'x'"),
):
    with pytest.raises((symm.ArgumentError, symm.NotSymmetricError, symm.RankRangeError), match=what):
        wrong()
# An integer of numpy is one, too.
world.signal(wide, np.int32(40), np.int64(after))
world.wait(wide, np.int64(40))
world.barrier()
world.close()
for late in (world, team):
    with pytest.raises(symm.ClosedError, match="has left the run"):
        late.timeout(1)
