"""Remote loads: every rank adds up the vectors of all ranks, read straight from their memory.

    torchrun --nproc-per-node 4 remote_load.py                      # a GPU for each rank
    TRITON_INTERPRET=1 torchrun --nproc-per-node 4 remote_load.py   # no GPU: Triton's interpreter

                 rank 0            rank 1            rank 2            rank 3
    heap    │ ..vector.. │    │ ..vector.. │    │ ..vector.. │    │ ..vector.. │    the same offset on each
                  ▲                 ▲                 ▲                 ▲
                  └─────────────────┴────────┬────────┴─────────────────┘
                                    load(vector + at, peer)                      by every rank: an all-reduce

Nothing is copied first, and a rank that is read from takes no part in it.
"""

import symm
import symm.triton as st
import torch
import triton
import triton.language as tl


# An ordinary Triton kernel. It also takes the World, from which a DeviceContext knows the ranks and their heaps.
@triton.jit
def sum_of_all(world, vector, total, n, BLOCK: tl.constexpr):
    ctx = st.DeviceContext(world)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    result = tl.zeros([BLOCK], tl.float32)
    for i in range(ctx.num_ranks()):
        # Every rank begins with the one after it, so that they do not all ask the same one first.
        peer = (ctx.rank() + 1 + i) % ctx.num_ranks()
        # `vector` is a pointer into this rank's heap; what is read is the same place in the heap of `peer`.
        result += ctx.load(vector + at, peer, mask=inside, other=0.0)
    tl.store(total + at, result, mask=inside)


def main():
    # Joins the ranks that torchrun has started. The heap's size is in bytes, for each rank.
    world = symm.init(heap_size=64 << 20)
    me, ranks = world.get_rank(), world.get_num_ranks()

    # A torch tensor on the heap. All ranks make the same ones in the same order, so each lies at one offset everywhere.
    n = 10_000
    vector = world.arange(n, dtype=torch.float32)
    vector += 1000 * me

    # What only this rank reads and writes may be any tensor of its device.
    total = torch.zeros(n, dtype=torch.float32, device=world.get_device())

    # Nobody reads before everybody has written. This waits on the host, until all GPUs are done; what the GPUs can wait
    # for themselves is in ring_of_slots.py.
    world.barrier()
    sum_of_all[(triton.cdiv(n, 1024),)](world, vector, total, n, BLOCK=1024)

    # And nobody overwrites, or ends, before everybody has read.
    world.barrier()
    found = total.tolist()
    assert found == [sum(i + 1000 * rank for rank in range(ranks)) for i in range(n)], found[:8]
    world.close()
    print(f"rank {me}: the sum over {ranks} ranks is right")


if __name__ == "__main__":
    main()
