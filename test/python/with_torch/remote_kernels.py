"""A module that workers have: a kernel and a function."""

import os

import symm.triton as st
import torch
import triton
import triton.language as tl
from symm import remote


@triton.jit
def greet(table, mail, arrived, BLOCK: tl.constexpr):
    ctx = st.DeviceContext(table)
    after = (ctx.rank() + 1) % ctx.num_ranks()
    at = tl.arange(0, BLOCK)
    ctx.store(mail + at, ctx.rank() * 100 + at, after)
    ctx.signal(arrived, 1, after)
    ctx.wait(arrived, 1)


@remote.function
def doubled(x, times=1):
    return [x * 2 for _ in range(times)]


@remote.function
def thousand():
    return torch.full((2,), 1000)


@remote.function
def visible_gpus():
    return os.environ["CUDA_VISIBLE_DEVICES"]
