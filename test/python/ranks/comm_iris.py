"""Iris' collectives."""

import symm.iris as iris
import torch
from symm.comm import Communicator
from symm.errors import StagingError, UnsupportedError
from symm.iris.ccl import Config, ReduceOp

shmem = iris.iris(heap_size=64 << 20)
me, ranks = shmem.get_rank(), shmem.get_num_ranks()
torch.set_default_device(shmem.get_device())


def given(rows, columns):
    return [torch.arange(rows * columns).view(rows, columns) % 7 + 10.0 * rank for rank in range(ranks)]


inputs = given(4 * ranks, 6)
mine, out = shmem.zeros(4 * ranks, 6), shmem.zeros(4 * ranks, 6)
mine.copy_(inputs[me])
assert shmem.ccl.all_reduce_preamble(out, mine) is None
shmem.ccl.all_reduce(out, mine, config=Config(block_size_m=32, all_reduce_variant="ring"))
assert torch.equal(out, sum(inputs))
shmem.ccl.all_reduce(out, mine, op=ReduceOp.MAX, async_op=True)
assert torch.equal(out, inputs[-1])
shmem.ccl.reduce_scatter(out, mine)
assert torch.equal(out, sum(inputs))
part = torch.zeros(4, 6)
shmem.ccl.reduce_scatter(part, mine, op=ReduceOp.SUM)
assert torch.equal(part, sum(inputs)[4 * me : 4 * me + 4])
everybody = torch.zeros(4 * ranks * ranks, 6)
shmem.ccl.all_gather(everybody, mine)
assert torch.equal(everybody, torch.cat(inputs))
inputs = given(5, 3 * ranks)
came = torch.zeros(5, 3 * ranks)
shmem.ccl.all_to_all(came, inputs[me])
assert torch.equal(came, torch.cat([each[:, 3 * me : 3 * me + 3] for each in inputs], dim=1))
for wrong in (lambda: shmem.ccl.all_to_all(came, came[0]), lambda: shmem.ccl.all_reduce(out, mine, op="mean")):
    try:
        wrong()
    except UnsupportedError:
        continue
    raise AssertionError("that is unsupported")
shmem.barrier()
# A heap that is too small, and the one that the error says.
small = iris.iris(heap_size=1 << 20)
for _ in range(2):
    said = ""
    try:
        small.ccl.all_reduce(small.zeros(4), small.ones(4))
    except StagingError as error:
        said = str(error)
wanted = f"ccl: a heap of {small.world.heap_size} bytes is too small for collectives of {ranks} ranks: give iris.iris("
assert said.startswith(wanted), said
right = iris.iris(heap_size=int(said.split("iris.iris(heap_size=…) ")[1].split()[0]))
out = right.zeros(4)
right.ccl.all_reduce(out, right.ones(4))
assert out.tolist() == [ranks] * 4
try:
    Communicator(small.world)
except StagingError as error:
    assert "bytes or more, or Communicator staging=" in str(error) and "give symm.init a heap_size of " in str(error)
else:
    raise AssertionError("it is too small")
shmem.barrier()
