"""All-gather and matrix product: fused with symm ops, against torch after NCCL and torch's own fused operator.

Each rank has M / 4 rows of A (bf16) and the whole of its B; it makes A · B for all rows. Everything is in CUDA graphs.
"""

import torch
import torch.distributed as dist
from torch.distributed._symmetric_memory import enable_symm_mem_for_group
from triton.experimental.gluon.language import NVMMASharedLayout
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from gather_fused import gather_multiply
from ranks import QUICK, captured, finish, in_turns, median, say, spread, start

SHAPES = [(4096, 2048, 8192), (8192, 7168, 8192), (1024, 3584, 4096)]
BM, BN, BK, STAGES, BAND = 128, 256, 64, 4, 8
#: Parts of K that are waited for, how many of them are pulled at once, KiB that a program has under way.
WAYS = [(2, 1, 8), (2, 2, 8), (2, 3, 8), (4, 2, 8), (4, 4, 8), (4, 4, 16), (8, 4, 8), (8, 6, 8)]
#: In a graph.
TIMES = 2 if QUICK else 8

world = start(1 << 30)
me, ranks = world.get_rank(), world.get_num_ranks()
table = world.get_device_context()
peers = [(me + other) % ranks for other in range(1, ranks)]
group = dist.group.WORLD.group_name
enable_symm_mem_for_group(group)
figures = []


class Problem:
    """A product; the peers' rows of `a` are gathered in place, next to the own ones."""

    def __init__(self, m, n, k):
        self.m, self.n, self.k, self.rows = m, n, k, m // ranks
        self.a = world.empty(m, k, dtype=torch.bfloat16)
        self.b = torch.randn(n, k, dtype=torch.bfloat16, device="cuda")
        self.c = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
        self.mine = self.a[me * self.rows :][: self.rows]
        self.gathered = torch.zeros_like(self.a)
        layout = NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
        blocks = ((self.a, [BM, BK]), (self.b, [BN, BK]), (self.c, [BM, BN // 2]))
        self.descriptors = [TensorDescriptor.from_tensor(*each, layout) for each in blocks]
        self.streams = [torch.cuda.Stream() for _ in range(2)]

    def plan(self, chunks, programs):
        """The order in which the parts are pulled: by part of the columns, of shards that are begun together."""
        tiles = self.rows // BM * (self.n // BN)
        waves = [[shard for shard in range(1, ranks) if shard * tiles // programs == wave]
                 for wave in range(-(-ranks * tiles // programs))]
        return [shard * chunks + chunk for wave in waves for chunk in range(chunks) for shard in wave]

    def in_one_kernel(self, chunks, groups, under_way):
        programs = world.get_cu_count()
        plan = torch.tensor(self.plan(chunks, programs), dtype=torch.int32, device="cuda")
        flags, ready, done = (world.zeros(size, dtype=torch.int64) for size in (ranks * chunks, ranks, 1))
        epochs = torch.zeros(programs, dtype=torch.int64, device="cuda")

        def action():
            gather_multiply[(programs,)](
                table, self.a, *self.descriptors, flags, ready, done, epochs, plan, len(plan), ROWS=self.rows, N=self.n,
                K=self.k, RANKS=ranks, CHUNKS=chunks, BM=BM, BN=BN, BK=BK, GROUP=BAND, STAGES=STAGES,
                BLOCK=512 * under_way, GROUPS=groups, num_warps=8)

        return action

    def by_copy_engine(self):
        """The copy engine pulls, while torch multiplies the own rows; then the others."""
        own = slice(me * self.rows, (me + 1) * self.rows)
        others = [rows for rows in (slice(0, own.start), slice(own.stop, self.m)) if rows.stop > rows.start]

        def action():
            main, side, second = torch.cuda.current_stream(), *self.streams
            world.device_barrier()
            side.wait_stream(main)
            with torch.cuda.stream(side):
                for peer in peers:
                    there = self.a[peer * self.rows :][: self.rows]
                    there.copy_(world.as_remote(there, peer))
                second.wait_stream(side)
                world.device_barrier()
            torch.mm(self.a[own], self.b.t(), out=self.c[own])
            with torch.cuda.stream(second):
                for rows in others:
                    torch.mm(self.a[rows], self.b.t(), out=self.c[rows])
            main.wait_stream(second)
            main.wait_stream(side)

        return action

    def product(self):
        torch.mm(self.gathered, self.b.t(), out=self.c)

    def with_nccl(self):
        dist.all_gather_into_tensor(self.gathered, self.mine)
        self.product()

    def fused_by_torch(self):
        return torch.ops.symm_mem.fused_all_gather_matmul(self.mine, [self.b.t()], 0, group)[1][0]

    def check(self, name, action):
        """The product is torch's, of rows that change from call to call."""
        for seed in range(3):
            torch.manual_seed(17 * seed + me)
            fresh = torch.randn(self.rows, self.k, dtype=torch.bfloat16, device="cuda")
            self.a.fill_(float("nan"))
            self.mine.copy_(fresh)
            self.c.zero_()
            dist.all_gather_into_tensor(self.gathered, fresh)
            expected = torch.mm(self.gathered, self.b.t())
            world.barrier()
            result = action()
            world.barrier()
            result = self.c if result is None else result
            torch.testing.assert_close(result, expected, rtol=2e-2, atol=1.0, msg=lambda text: f"{name}: {text}")

    def measure(self):
        ways = {
            "NCCL, then torch": self.with_nccl,
            "torch's fused": self.fused_by_torch,
            "symm, copy engine and torch": self.by_copy_engine(),
        }
        for way in WAYS:
            chunks, groups, under_way = way
            ways[f"symm, one kernel: {chunks} parts, {groups} at once, {under_way} KiB"] = self.in_one_kernel(*way)
        for name, action in ways.items():
            self.check(name, action)
        ways["torch, the product alone"] = self.product
        graphs = {name: captured(action, TIMES) for name, action in ways.items()}
        runs = {name: [time / TIMES for time in times] for name, times in in_turns(world, graphs).items()}
        figures.append({"m": self.m, "n": self.n, "k": self.k, "runs": runs})
        say(world, f"{self.m} × {self.n} × {self.k}, µs:")
        for name, times in runs.items():
            say(world, f"  {name:45} {median(times):7.1f} ±{spread(times):.0%}")


with torch.inference_mode():
    for shape in SHAPES:
        Problem(*shape).measure()
finish(world, "gather", figures)
