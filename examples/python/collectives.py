"""Collectives: a layer whose weights are spread over the ranks, experts on the ranks, and gradients in halves.

    torchrun --nproc-per-node 4 collectives.py                      # a GPU for each rank
    TRITON_INTERPRET=1 torchrun --nproc-per-node 4 collectives.py   # no GPU: Triton's interpreter

Three things that a large model does between its ranks, each with the call that does it:

    1. a layer in two forms   all_reduce; all_gather and reduce_scatter
    2. experts                all_to_all_v there and back: how many rows go where, only the device knows
    3. gradients              sendrecv around a ring, with work of our own in the transfer

No call waits on the host. `comm.check()` and `link.check()` do, and raise an error if a rank did not come: then nothing
would hang, and what was received would not be used.
"""

import symm
import torch
import triton
import triton.language as tl
from symm.comm import Communicator, NodeTransport, sendrecv

ROWS, WIDTH, HIDDEN = 24, 32, 48  # of the batch, of the layer, of what lies between its two products; for each rank


def layer(world, comm):
    """The first product is split by columns, the second by rows, so that they need no exchange between them.

    rank r:   x ──► x @ up[:, r] ──► relu ──► … @ down[r, :] ──► all_reduce ──► y, on all ranks
    """
    me, ranks = world.get_rank(), world.get_num_ranks()
    same = torch.Generator().manual_seed(1)  # the same numbers on all ranks

    def numbers(*size):
        return torch.randint(-3, 4, size, generator=same).float().to(world.device)

    x, up, down = numbers(ROWS * ranks, WIDTH), numbers(WIDTH, HIDDEN * ranks), numbers(HIDDEN * ranks, WIDTH)
    mine = slice(me * HIDDEN, (me + 1) * HIDDEN)
    wanted = torch.relu(x @ up) @ down

    # Each rank has the whole batch and makes a part of the sum.
    y = comm.all_reduce(torch.relu(x @ up[:, mine]) @ down[mine])
    comm.check()
    assert torch.equal(y, wanted)

    # Or each rank keeps its rows of the batch: they are gathered before, and the sum is scattered after. Rows that come
    # out are those that went in, and between two layers a rank holds one n-th.
    rows = slice(me * ROWS, (me + 1) * ROWS)
    batch = comm.all_gather(x[rows]).view(ROWS * ranks, WIDTH)
    own = comm.reduce_scatter(torch.relu(batch @ up[:, mine]) @ down[mine])
    comm.check()
    assert torch.equal(own.view(ROWS, WIDTH), wanted[rows])
    print(f"rank {me}: a layer of {HIDDEN * ranks} hidden columns, {HIDDEN} of them here")


def experts(world, comm):
    """Each rank is an expert. Rows are sorted by their expert, sent there, worked on, sent back, and sorted again."""
    me, ranks = world.get_rank(), world.get_num_ranks()
    own = torch.Generator().manual_seed(10 + me)  # other rows on each rank
    tokens = torch.randint(0, 100, (ROWS, WIDTH), generator=own).float().to(world.device)
    expert = torch.randint(0, ranks, (ROWS,), generator=own).to(world.device)

    order = torch.argsort(expert, stable=True)
    counts = torch.zeros(ranks, dtype=torch.int64, device=world.device)
    counts.index_add_(0, expert, torch.ones_like(expert))
    # The counts stay on the device, so there must be room for the most that can come.
    inbox = torch.zeros(ROWS * ranks, WIDTH, device=world.device)
    came = comm.all_to_all_v(tokens[order], counts, inbox)
    done = inbox * (me + 2)  # what this expert does
    # `came` says how many rows each rank sent, which is how many go back to it.
    back = torch.empty_like(tokens)
    comm.all_to_all_v(done, came, back)
    comm.check()
    result = torch.empty_like(tokens)
    result[order] = back
    assert torch.equal(result, tokens * (expert + 2).float().unsqueeze(1))
    print(f"rank {me}: as an expert it had {int(came.sum())} rows")


@triton.jit
def shrunk(c):
    return tl.load(c.inputs(), c.mask()) * tl.load(c.extra[0])


@triton.jit
def added(c, value):
    grown = value.to(tl.float32) / tl.load(c.extra[0])
    tl.store(c.outputs(), tl.load(c.outputs(), c.mask()) + grown, c.mask())


def gradients(world, link):
    """The rank before sends a gradient; it is added to this rank's own as it comes, and half as many bytes travel."""
    me, ranks = world.get_rank(), world.get_num_ranks()
    gradient = torch.linspace(-1e6, 1e6, 5000, device=world.device) + me
    total, scale = gradient.clone(), torch.full((1,), 1e-6, device=world.device)
    # `produce` runs for each tile on the sender, `consume` on the receiver; `wire` is the type between the two.
    after, before = (me + 1) % ranks, (me - 1) % ranks
    sendrecv(link, gradient, after, total, before, produce=shrunk, consume=added, extra=(scale,), wire=torch.float16)
    link.check()
    wanted = 2 * torch.linspace(-1e6, 1e6, 5000, device=world.device) + me + before
    assert (total - wanted).abs().max() < 600  # float16 has 11 bits: at 1e6, half a step is 244
    print(f"rank {me}: the gradient of rank {before} is added to mine")


def main():
    world = symm.init(heap_size=256 << 20)
    # A rank that does not come ends a call after 30 s, with an error that names it.
    comm = Communicator(world, timeout=30)
    layer(world, comm)
    experts(world, comm)
    gradients(world, NodeTransport(world, timeout=30))
    world.close()


if __name__ == "__main__":
    main()
