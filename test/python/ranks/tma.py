"""Tiles that are stored through a tensor descriptor, then sent with put_signal, read back, and sent again."""

import os

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
ROWS, COLUMNS, PROGRAMS = 64, 64, 4


@triton.jit
def send_tiles(table, mine, theirs, flags, wrong, rounds, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    ctx = st.DeviceContext(table)
    after, before = (ctx.rank() + 1) % ctx.num_ranks(), (ctx.rank() + ctx.num_ranks() - 1) % ctx.num_ranks()
    pid = tl.program_id(0)
    tile = tl.make_tensor_descriptor(
        mine + pid * ROWS * COLUMNS, shape=[ROWS, COLUMNS], strides=[COLUMNS, 1], block_shape=[ROWS, COLUMNS]
    )
    at = pid * ROWS * COLUMNS + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    content = (at % 97).to(tl.float32)
    errors = 0
    for i in range(rounds):
        tile.store([0, 0], content + ctx.rank() * 1000 + i)
        ctx.put_signal(mine + at, theirs + at, flags + pid, i + 1, after)
        ctx.wait(flags + pid, i + 1)
        errors += tl.sum((tl.load(theirs + at) != content + before * 1000 + i).to(tl.int32))
        # From the engine's memory to registers, too.
        tile.store([0, 0], content - i)
        errors += tl.sum((ctx.load(mine + at, ctx.rank()) != content - i).to(tl.int32))
        ctx.barrier()
    tl.store(wrong + pid, errors)


if torch.cuda.is_available():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
rounds = int(os.environ.get("ROUNDS", 10))
mine, theirs = (world.zeros(PROGRAMS * ROWS * COLUMNS, dtype=torch.float32) for _ in range(2))
flags, wrong = (world.zeros(PROGRAMS, dtype=torch.int32) for _ in range(2))
world.barrier()
send_tiles[(PROGRAMS,)](
    world.get_device_context(), mine, theirs, flags, wrong, rounds, ROWS=ROWS, COLUMNS=COLUMNS
)
world.barrier()
assert wrong.tolist() == [0] * PROGRAMS, wrong
world.close()
