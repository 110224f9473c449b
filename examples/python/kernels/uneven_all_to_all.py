"""All-to-all of different numbers of rows, known only on the device: each rank tells its counts, then puts its rows."""

import numpy as np
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def uneven_all_to_all(table, counts, rows, received, arrived, step, COLUMNS: tl.constexpr):
    """`counts[i, j]` is how many rows rank i sends to rank j. One program a peer; `rows` are sorted by receiver."""
    ctx = st.DeviceContext(table)
    me, ranks, to = ctx.rank(), ctx.num_ranks(), tl.program_id(0)
    column = tl.arange(0, COLUMNS)
    # My row of the counts, to the peer; its program for me does the same here. On this rank other programs read it.
    if to != me:
        for j in range(ranks):
            ctx.store(counts + me * ranks + j, tl.load(counts + me * ranks + j), to)
    ctx.signal(arrived + me, 2 * step - 1, to)
    first, place = 0, 0
    for j in range(to):
        first += tl.load(counts + me * ranks + j)
    for i in range(me):
        # Where my rows go there depends on what the ranks before me send to it.
        ctx.wait(arrived + i, 2 * step - 1)
        place += tl.load(counts + i * ranks + to)
    for i in range(tl.load(counts + me * ranks + to)):
        ctx.put(rows + (first + i) * COLUMNS + column, received + (place + i) * COLUMNS + column, to)
    ctx.signal(arrived + me, 2 * step, to)
    ctx.wait(arrived + to, 2 * step)


def check(world):
    columns, me, ranks = 32, world.get_rank(), world.get_num_ranks()
    counts = world.zeros((ranks, ranks), dtype=torch.int32)
    rows, received = (world.zeros((8 * ranks, columns), dtype=torch.int32) for _ in range(2))
    arrived = world.zeros(ranks, dtype=torch.int32)
    sent = np.array([[(3 * i + 5 * j) % 8 for j in range(ranks)] for i in range(ranks)], dtype=np.int32)
    counts[me].copy_(torch.from_numpy(sent[me]))
    values = [np.arange(sent[i].sum(), dtype=np.int32) + 1000 * i for i in range(ranks)]
    mine = np.zeros((8 * ranks, columns), dtype=np.int32)
    mine[: len(values[me])] = values[me][:, None]
    rows.copy_(torch.from_numpy(mine))
    world.barrier()
    uneven_all_to_all[(ranks,)](world.get_device_context(), counts, rows, received, arrived, 1, COLUMNS=columns)
    starts = [np.concatenate([[0], np.cumsum(sent[i])]) for i in range(ranks)]
    wanted = np.concatenate([values[i][starts[i][me] : starts[i][me + 1]] for i in range(ranks)])
    assert np.array_equal(received.cpu().numpy()[: len(wanted)], np.repeat(wanted[:, None], columns, 1)), received
    world.barrier()
