"""Columns of a matrix from every rank into one matrix: two-dimensional blocks with masks at both edges."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def gather_columns(world, part, whole, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    """`part` is [rows, columns] on each rank, `whole` [rows, ranks × columns]. Programs: rows, columns, ranks."""
    ctx = st.DeviceContext(world)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    peer = (ctx.rank() + tl.program_id(2)) % ctx.num_ranks()
    inside = (m < rows)[:, None] & (n < columns)[None, :]
    source = part + m[:, None] * columns + n[None, :]
    target = whole + m[:, None] * (columns * ctx.num_ranks()) + (peer * columns + n)[None, :]
    ctx.get(source, target, peer, mask=inside)


def check(world):
    rows, columns, me, ranks = 37, 21, world.get_rank(), world.get_num_ranks()
    part = world.zeros((rows, columns), dtype=torch.float32)
    whole = world.full((rows + 1, ranks * columns), -1.0, dtype=torch.float32)
    values = [np.random.default_rng(rank).random((rows, columns)).astype(np.float32) for rank in range(ranks)]
    part.copy_(torch.from_numpy(values[me]))
    world.barrier()
    grid = triton.cdiv(rows, 16), triton.cdiv(columns, 16), ranks
    gather_columns[grid](world, part, whole, rows, columns, BM=16, BN=16)
    found = whole.cpu().numpy()
    assert np.array_equal(found[:rows], np.concatenate(values, 1)), found
    # What the masks leave out is as it was.
    assert (found[rows] == -1).all(), found[rows]
