"""Iris' tiles on every rank: what its context does with them, on a matrix that tiles do not divide."""

import sys
from pathlib import Path

import numpy as np
import pytest
import symm.iris as iris
import torch
import triton

sys.path.insert(0, str(Path(__file__).parents[1]))
from tile_kernels import OPS, tiles

shmem = iris.iris(heap_size=16 << 20)
me, ranks = shmem.get_rank(), shmem.get_num_ranks()
M, N, BLOCK_M, BLOCK_N = 24, 20, 16, 8
COUNT = triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)


def matrix(rank):
    return np.arange(M * N).reshape(M, N) % 50 + 10 * rank


def tile_numbers():
    """The number of the tile that each element is in."""
    rows, columns = np.indices((M, N))
    return rows // BLOCK_M * triton.cdiv(N, BLOCK_N) + columns // BLOCK_N


every = [matrix(rank) for rank in range(ranks)]
total, numbers, each = sum(every), tile_numbers(), COUNT // ranks
mine = (numbers >= me * each) & ((numbers < (me + 1) * each) | (me == ranks - 1))
wanted = {
    "gather": every[(me + 1) % ranks],
    "all_gather_rows": np.concatenate(every, 0),
    "all_gather_columns": np.concatenate(every, 1),
    "all_reduce_atomic": total,
    "all_reduce_one_shot": total,
    "all_reduce_two_shot": total,
    "reduce_scatter": np.where(mine, total, 0),
}


def launch(op, dtype, block_m=BLOCK_M):
    source, target = shmem.zeros(M, N, dtype=dtype), shmem.zeros(*wanted[op].shape, dtype=dtype)
    source.copy_(torch.from_numpy(matrix(me).astype(str(dtype).removeprefix("torch."))))
    locks = shmem.zeros(COUNT, dtype=torch.int32)
    shmem.barrier()
    places = shmem.get_device_context(), source, target, locks, M, N, target.shape[1]
    tiles[(COUNT,)](*places, me, ranks, op, block_m, BLOCK_N)
    shmem.barrier()
    return target


for op in OPS:
    for dtype in (torch.float32, torch.float16):
        np.testing.assert_array_equal(launch(op, dtype).cpu().numpy(), wanted[op], f"{op} {dtype}")
        shmem.barrier()


if shmem.world.device.type == "cpu":
    with pytest.raises(triton.runtime.errors.InterpreterError) as raised:
        launch("gather", torch.float32, block_m=16.5)
    assert "TileView: block_m must be a tl.constexpr" in str(raised.value.__cause__), raised.value.__cause__
    with pytest.raises(TypeError, match="TensorView takes ptr, M, N, stride_m, stride_n"):
        iris.TensorView(1, 2)
