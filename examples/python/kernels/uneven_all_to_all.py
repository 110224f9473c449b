"""All-to-all of different numbers of rows, known only on the device: each rank tells its counts, then puts its rows."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def uneven_all_to_all(world, counts, rows, received, arrived, step, COLUMNS: tl.constexpr):
    """`counts[i, j]` is how many rows rank i sends to rank j. One program a peer; `rows` are sorted by receiver."""
    ctx = st.DeviceContext(world)
    me, to, mine, column = ctx.rank(), tl.program_id(0), counts + ctx.rank() * ctx.num_ranks(), tl.arange(0, COLUMNS)
    for j in range(ctx.num_ranks()):  # Here other programs read my row of the counts.
        ctx.store(mine + j, tl.load(mine + j), to, mask=to != me)
    ctx.signal(arrived + me, 2 * step - 1, to)
    first, place = 0, 0  # Of my rows here, and there.
    for j in range(to):
        first += tl.load(mine + j)
    for i in range(me):  # My rows come after those of the ranks before me.
        ctx.wait(arrived + i, 2 * step - 1)
        place += tl.load(counts + i * ctx.num_ranks() + to)
    for i in range(tl.load(mine + to)):
        ctx.put(rows + (first + i) * COLUMNS + column, received + (place + i) * COLUMNS + column, to)
    ctx.signal(arrived + me, 2 * step, to)
    ctx.wait(arrived + to, 2 * step)


def check(world, columns=32):
    me, ranks = world.get_rank(), world.get_num_ranks()
    sent = np.array([[(3 * i + 5 * j) % 8 for j in range(ranks)] for i in range(ranks)], dtype=np.int32)
    values = [np.repeat(np.arange(56 * i, 56 * i + 8 * ranks)[:, None], columns, 1) for i in range(ranks)]
    counts, arrived = (world.zeros(size, dtype=torch.int32) for size in ((ranks, ranks), ranks))
    rows, received = world.tensor(values[me], dtype=torch.int32), world.zeros(8 * ranks, columns, dtype=torch.int32)
    counts[me].copy_(torch.from_numpy(sent[me]))
    uneven_all_to_all[(ranks,)](world, counts, rows, received, arrived, 1, columns)
    wanted = np.concatenate([np.split(values[i], np.cumsum(sent[i]))[me] for i in range(ranks)])
    assert np.array_equal(received.cpu().numpy()[: len(wanted)], wanted), received
