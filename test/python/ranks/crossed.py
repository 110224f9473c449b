"""Runs that each rank closes in an order of its own, while others of them are in use."""

import symm
import torch

ONE = 4 << 20
runs = [symm.init(heap_size=ONE) for _ in range(4)]
me, ranks = runs[0].get_rank(), runs[0].get_num_ranks()
tensors = [run.full((3,), me, dtype=torch.int32) for run in runs]
there = [run.as_remote(tensor, (me + 1) % ranks) for run, tensor in zip(runs, tensors, strict=True)]
runs[0].barrier()

# Rank 0 closes the first one while the others wait for it in the last one.
if me == 0:
    runs[0].close()
    runs[3].barrier()
    more = runs[3].ones(2)
else:
    runs[3].barrier()
    more = runs[3].ones(2)
    runs[0].close()
assert more.tolist() == [1, 1]

# The others: each rank begins with another one, and leaves one to the end of the process.
for run in (runs[1:] * 2)[me % 3 : me % 3 + 2]:
    run.close()
    run.close()

# Tensors stay what they are.
for tensor, remote in zip(tensors, there, strict=True):
    assert (tensor.tolist(), remote.tolist()) == ([me] * 3, [(me + 1) % ranks] * 3)
