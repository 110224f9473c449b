"""A CUDA graph of kernels and device barriers, replayed: what each replay reads is what the last kernel wrote."""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

REPLAYS, SIZE, B = 1000, 1 << 16, 4096
world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()


@triton.jit
def send(table, turn, mail, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.program_id(0) * B + tl.arange(0, B)
    ctx.store(mail + at, tl.load(turn) * 16 + ctx.rank() + at, (ctx.rank() + 1) % ctx.num_ranks())


@triton.jit
def check(table, turn, mail, wrong, B: tl.constexpr):
    ctx = st.DeviceContext(table)
    at = tl.program_id(0) * B + tl.arange(0, B)
    before = (ctx.rank() + ctx.num_ranks() - 1) % ctx.num_ranks()
    different = tl.load(mail + at) != tl.load(turn) * 16 + before + at
    tl.atomic_add(wrong, tl.sum(different.to(tl.int32)))


table, mail = world.get_device_context(), world.zeros(SIZE, dtype=torch.int32)
turn, wrong = (torch.zeros(1, dtype=torch.int32, device=world.device) for _ in range(2))


def step():
    turn.add_(1)
    send[(SIZE // B,)](table, turn, mail, B=B)
    world.device_barrier()
    check[(SIZE // B,)](table, turn, mail, wrong, B=B)
    world.device_barrier()


step()
world.barrier()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
world.barrier()
for _ in range(REPLAYS):
    graph.replay()
world.barrier()
assert (turn.item(), wrong.item()) == (REPLAYS + 1, 0), (turn, wrong)
world.close()
