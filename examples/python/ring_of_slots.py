"""Producer and consumer: batches flow through the ranks, each of which does its part of the work, as in a pipeline.

    torchrun --nproc-per-node 4 ring_of_slots.py                      # a GPU for each rank
    TRITON_INTERPRET=1 torchrun --nproc-per-node 4 ring_of_slots.py   # no GPU: Triton's interpreter

    rank 0              rank 1                          rank 2
    make batch ───────► slots ─► work on it ──────────► slots ─► work more ─► …
                        [0][1][2][3]                    [0][1][2][3]

A sender does not wait for each batch to be used: the receiver has four slots, used in turn. Two counters keep the two
in step, each on the heap of the one that waits for it:

    arrived   on the receiver: how many batches are in its slots, ever; the sender raises it after each batch
    taken     on the sender: how many slots the receiver has emptied, ever

    time ─►
    sender     write 0  write 1  write 2  write 3  wait taken ≥ 1 ······ write 4  wait taken ≥ 2 ··
                  │ arrived = 1   …                        ▲ taken = 1      │ arrived = 5
    receiver      ▼ wait arrived ≥ 1 · read 0 · compute ───┘ wait arrived ≥ 2 · read 1 …

Without `taken`, a fast sender writes batch 4 over batch 0 before that has been read: it works in every test with a fast
receiver, and fails under load. So here later ranks have more work than earlier ones.
"""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl

SLOTS = 4


@triton.jit
def stage(world, slots, arrived, taken, results, batches, SLOTS: tl.constexpr, BLOCK: tl.constexpr):
    ctx = st.DeviceContext(world)
    me, last = ctx.rank(), ctx.num_ranks() - 1
    # Each program is a pipeline of its own, with its own slots and counters.
    lane = tl.program_id(0)
    arrived += lane
    taken += lane
    slots += lane * SLOTS * BLOCK
    at = tl.arange(0, BLOCK)

    for i in range(batches):
        slot = slots + i % SLOTS * BLOCK + at
        if me == 0:
            batch = 1000 * lane + i + at
        else:
            # Batch i is there when i + 1 have arrived. What was stored before the signal is seen after the wait.
            ctx.wait(arrived, i + 1)
            batch = tl.load(slot)
            # The slot is free when it has been read, not when the batch has been worked on.
            ctx.signal(taken, i + 1, me - 1)

        for _ in range(10 * me):
            batch = (3 * batch + me) % 1009

        if me == last:
            tl.store(results + (lane * batches + i) * BLOCK + at, batch)
        else:
            # Batch i goes where i - SLOTS was: i - SLOTS + 1 have to be taken. At first that is below zero, and true.
            ctx.wait(taken, i - SLOTS + 1)
            ctx.store(slot, batch, me + 1)
            # The order is the op's business: by default a signal releases, and a wait acquires, at system scope.
            ctx.signal(arrived, i + 1, me + 1)


def main():
    world = symm.init(heap_size=64 << 20)
    me, ranks = world.get_rank(), world.get_num_ranks()
    lanes, batches, block = 2, 25, 128
    slots = world.zeros((lanes, SLOTS, block), dtype=torch.int32)
    # Counters only ever grow, and start at zero.
    arrived, taken = (world.zeros(lanes, dtype=torch.int32) for _ in range(2))
    results = torch.zeros((lanes, batches, block), dtype=torch.int32, device=world.get_device())

    # The counters are zero everywhere before anybody signals.
    world.barrier()
    stage[(lanes,)](world, slots, arrived, taken, results, batches, SLOTS=SLOTS, BLOCK=block)
    world.barrier()

    if me == ranks - 1:
        for lane, rows in enumerate(results.tolist()):
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    wanted = 1000 * lane + i + j
                    for rank in range(ranks):
                        for _ in range(10 * rank):
                            wanted = (3 * wanted + rank) % 1009
                    assert value == wanted, (lane, i, j, value, wanted)
        print(f"rank {me}: {lanes * batches} batches came through {ranks} ranks, all of them right")
    world.close()


if __name__ == "__main__":
    main()
