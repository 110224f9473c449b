"""All-gather and matrix product in one kernel: tiles are multiplied as soon as their rows have come from a peer.

    torchrun --nproc-per-node 4 all_gather_matmul.py                      # a GPU for each rank
    TRITON_INTERPRET=1 torchrun --nproc-per-node 4 all_gather_matmul.py   # no GPU: Triton's interpreter

C = A · B, where every rank has a shard of A's rows, and all of its own B: what a layer does whose weights are cut by
columns. Each rank needs all of A. Gathering first and multiplying then leaves the link idle half of the time, and the
multipliers the other half. Here a few programs of the kernel begin by pulling rows, chunk by chunk, while all others
multiply:

    rank 1           time ─►
    a few programs   │ pull from rank 2 ▪ ▪ ▪ │ pull from rank 3 ▪ ▪ ▪ │ pull from rank 0 ▪ ▪ ▪ │ multiply, too │
                                        │ a signal for each chunk
    the others       │ own rows, at once  ▼ rows of rank 2     │ rows of rank 3     │ rows of rank 0           │

- Every rank begins with its own rows, which need no link, and goes on with the ranks after it: at any time each rank
  pulls from another one, and no link is busy twice.
- Pulling programs have the lowest numbers. A GPU starts programs in their order, so those that others wait for run.
- Each program takes the next tile when it is done with one, so that nobody counts beforehand how long pulling takes.
- Nothing is reset between steps: the flags of chunks hold the number of the step, which grows, and so do tickets.
"""

import argparse

import numpy as np
import symm
import symm.triton as st
import torch
import triton
import triton.language as tl


@triton.jit
def pull_rows(ctx, a, arrived, step, M, K, PULLING: tl.constexpr, BM: tl.constexpr, PIECE: tl.constexpr):
    """Gets the other ranks' chunks of BM rows, in the order in which they are multiplied."""
    chunks = M // BM
    mine = chunks // ctx.num_ranks()
    for i in range(tl.program_id(0), chunks - mine, PULLING):
        chunk = ((ctx.rank() + 1) * mine + i) % chunks
        owner = chunk // mine
        # The owner's rows lie at the same offset in its heap as their copy here: source and destination are one
        # pointer.
        rows = a + chunk.to(tl.int64) * BM * K
        # Loops of remote loads are given stages, so that enough is under way; but not where the compiler has to think
        # that one iteration reads what another has written. Here none does, so they are given by hand.
        for start in tl.range(0, BM * K, PIECE, num_stages=8):
            at = start + tl.arange(0, PIECE)
            ctx.get(rows + at, rows + at, owner)
        # To other programs of this rank: all that this one has copied is there.
        ctx.signal(arrived + chunk, step, ctx.rank())


@triton.jit
def multiply(
    ctx, a, b, c, arrived, tickets, step, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Multiplies tiles of BM rows and BN columns, those of the own rows first."""
    chunks, columns = M // BM, N // BN
    # In a step, every tile is a ticket, and so is what tells each program that there are no more.
    none = chunks * columns
    taken = (step - 1) * (none + tl.num_programs(0))
    mine = chunks // ctx.num_ranks()
    first = ctx.rank() * mine
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    tile = tl.atomic_add(tickets, 1) - taken
    while tile < none:
        # GROUP chunks of rows for each column: tiles that are multiplied at one time share what the cache holds.
        group, inside = tile // (GROUP * columns), tile % (GROUP * columns)
        chunk = (first + group * GROUP + inside % GROUP) % chunks
        column = inside // GROUP
        if chunk // mine != ctx.rank():
            ctx.wait(arrived + chunk, step)
        at_a = a + (chunk * BM + m)[:, None].to(tl.int64) * K + k[None, :]
        at_b = b + k[:, None] * N + (column * BN + n)[None, :]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(0, K, BK):
            total = tl.dot(tl.load(at_a), tl.load(at_b), total)
            at_a += BK
            at_b += BK * N
        at_c = c + (chunk * BM + m)[:, None].to(tl.int64) * N + (column * BN + n)[None, :]
        tl.store(at_c, total.to(c.dtype.element_ty))
        tile = tl.atomic_add(tickets, 1) - taken


# Triton compiles a kernel again for numbers that are 1 or multiples of 16; the step is any number.
@triton.jit(do_not_specialize=["step"])
def all_gather_matmul(
    world, a, b, c, arrived, tickets, step, M, N, K,
    PULLING: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    PIECE: tl.constexpr,
):  # fmt: skip
    ctx = st.DeviceContext(world)
    if tl.program_id(0) < PULLING:
        pull_rows(ctx, a, arrived, step, M, K, PULLING, BM, PIECE)
    multiply(ctx, a, b, c, arrived, tickets, step, M, N, K, BM, BN, BK, GROUP)


class AllGatherMatmul:
    """C = A · B on every rank, A's shards gathered on the way.

    `a` is [M, K] on the heap, with this rank's rows in place; `b` is [K, N]. M is a multiple of BM for each rank, N of
    BN, K of BK, and BM × K of PIECE.
    """

    def __init__(self, world, a, b, programs, **tile):
        self.world, self.a, self.b, self.programs, self.tile = world, a, b, programs, tile
        (M, K), N = a.shape, b.shape[1]
        assert b.shape[0] == K and M % (world.get_num_ranks() * tile["BM"]) == 0, (a.shape, b.shape)
        assert N % tile["BN"] == 0 and K % tile["BK"] == 0 and tile["BM"] * K % tile["PIECE"] == 0, (a.shape, b.shape)
        # As many chunks for each column as divide a shard: a group has the rows of one rank.
        shard = M // world.get_num_ranks() // tile["BM"]
        tile["GROUP"] = next(size for size in (8, 4, 2, 1) if shard % size == 0)
        self.sizes = M, N, K
        self.c = torch.empty((M, N), dtype=a.dtype, device=world.get_device())
        self.arrived = world.zeros(M // tile["BM"], dtype=torch.int32)
        self.tickets = torch.zeros(1, dtype=torch.int32, device=world.get_device())
        self.step = 0
        world.barrier()

    def __call__(self):
        self.step += 1
        # Every rank's rows are in place; the ranks' streams wait for each other, not the hosts.
        self.world.device_barrier()
        all_gather_matmul[(self.programs,)](
            self.world, self.a, self.b, self.c, self.arrived, self.tickets, self.step, *self.sizes, **self.tile
        )
        # Every rank has pulled: from here on A may be written again.
        self.world.device_barrier()
        return self.c


def shard_of(rank, rows, columns):
    """The rows of a rank; what is random is the same wherever it is asked for."""
    return np.random.default_rng(rank).standard_normal((rows, columns)).astype(np.float16)


def check(world, product):
    """Two steps with other rows, compared with torch's product of the gathered shards."""
    me, ranks = world.get_rank(), world.get_num_ranks()
    M, _, K = product.sizes
    rows = M // ranks
    for step in range(2):
        shards = [torch.from_numpy(shard_of(100 * step + rank, rows, K)) for rank in range(ranks)]
        product.a[me * rows : (me + 1) * rows].copy_(shards[me])
        found = product()
        for rank, shard in enumerate(shards):
            wanted = torch.matmul(shard.to(product.a.device).to(product.a.dtype), product.b)
            got = found[rank * rows : (rank + 1) * rows]
            worst = (got.float() - wanted.float()).abs().max().item()
            # Both round sums of K products to the type of C.
            assert worst < 0.05 * K**0.5, f"step {step}, rows of rank {rank}: off by {worst}"


def microseconds(world, function, runs=20):
    """The time of a call, of many that follow each other on the device."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for run in range(runs + 3):
        if run == 3:
            world.barrier()
            begin.record()
        function()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / runs * 1000


def compare(world, product):
    """Prints what the kernel takes, and the same done one after the other: peers' rows copied, then multiplied."""
    me, ranks = world.get_rank(), world.get_num_ranks()
    M, N, K = product.sizes
    rows = M // ranks
    theirs = {rank: world.as_remote(product.a, rank)[rank * rows : (rank + 1) * rows] for rank in range(ranks)}

    def one_after_the_other():
        world.device_barrier()
        for i in range(1, ranks):
            rank = (me + i) % ranks
            product.a[rank * rows : (rank + 1) * rows].copy_(theirs[rank])
        torch.matmul(product.a, product.b, out=product.c)
        world.device_barrier()

    fused, serial = microseconds(world, product), microseconds(world, one_after_the_other)
    alone = microseconds(world, lambda: torch.matmul(product.a, product.b, out=product.c))
    if me == 0:
        print(f"({M}, {N}, {K}): fused {fused:.0f} µs, copies then matmul {serial:.0f} µs, matmul alone {alone:.0f} µs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs=3, metavar=("M", "N", "K"), help="of the product")
    options = parser.parse_args()
    world = symm.init(heap_size=1 << 28 if options.sizes is None else 1 << 30)
    on_gpu = world.get_device().type == "cuda"
    if on_gpu:
        dtype, programs = torch.bfloat16, world.get_cu_count()
        M, N, K = options.sizes or (4096, 2048, 8192)
        tile = {"PULLING": 16, "BM": 128, "BN": 256, "BK": 64, "PIECE": 8192, "num_warps": 8, "num_stages": 4}
    else:
        # Small: Triton's interpreter is NumPy. One program pulls: they run one after the other, and it multiplies, too.
        dtype, programs = torch.float16, 2
        M, N, K = options.sizes or (64 * world.get_num_ranks(), 64, 128)
        tile = {"PULLING": 1, "BM": 16, "BN": 32, "BK": 32, "PIECE": 1024}

    a = world.zeros((M, K), dtype=dtype)
    weights = np.random.default_rng(1000 + world.get_rank()).standard_normal((K, N)).astype(np.float16)
    b = torch.from_numpy(weights).to(world.get_device()).to(dtype)
    product = AllGatherMatmul(world, a, b, programs, **tile)
    check(world, product)
    print(f"rank {world.get_rank()}: the product of {world.get_num_ranks()} shards is right")
    if on_gpu:
        compare(world, product)
    world.close()


if __name__ == "__main__":
    main()
