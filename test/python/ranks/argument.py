"""The World as an argument of kernels, without a table of its own and with one."""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()


@triton.jit
def pass_on(world, p, flag, NAMES: tl.constexpr):
    after = (st.rank(world) + 1) % st.num_ranks(world)
    st.store(world, p, 7 + st.rank(world), after)
    st.signal(world, flag, 1, after, op="add")
    st.wait(world, flag, 1)
    ctx = st.DeviceContext(world)
    ctx.barrier()
    NAMES.append(repr(ctx))


@triton.jit
def read(p, peer, world):
    tl.store(p + 1, st.load(world, p, peer))


p, flag, names = world.zeros(2, dtype=torch.int32), world.zeros(1, dtype=torch.int64), []
pass_on[(1,)](world, p, flag, NAMES=names)
assert names == [f"DeviceContext(rank={me}, num_ranks={ranks})"], names
read[(1,)](p, (me + 1) % ranks, world=world)
assert p.tolist() == [7 + (me - 1) % ranks, 7 + me], p.tolist()

# Two of them.
second = symm.init(heap_size=8 << 20)
q = second.tensor([10 * me, 0], dtype=torch.int32)
second.barrier()
read[(1,)](q, (me + 1) % ranks, second)
assert q.tolist()[1] == 10 * ((me + 1) % ranks)
second.close()
assert repr(second) == f"World(closed, heap_size={8 << 20}, device='cpu')", second
try:
    read[(1,)](q, 0, second)
except symm.ClosedError as error:
    assert "this rank has left the run" in str(error), error
else:
    raise AssertionError("a World that is closed is no argument")
world.close()
