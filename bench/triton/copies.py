"""Copies between two GPUs, both ways at once: loops of loads and stores, `get` and `put`, the engines, NCCL."""

from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric

from copy_kernels import direct, iris_load, iris_store, symm_get, symm_load, symm_put, symm_store
from ranks import QUICK, captured, finish, in_turns, median, say, spread, start

MOST = 256 << 20
TYPES = ["float16"] if QUICK else ["float16", "bfloat16", "float32", "int8", "float8_e4m3fn", "float8_e5m2"]
PROGRAMS = [4, 132] if QUICK else [1, 4, 8, 16, 32, 132]
FEW = [1, 2, 4, 8]
#: Bytes of a block in the loops; elements and warps of a block that `get` or `put` moves.
BLOCK, WARPS = 16384, 8
BLOCKS = [(8192, 8), (16384, 16), (65536, 32)]
SIZES = [64 << 10, 4 << 20, 32 << 20, MOST]

world = start(2 * MOST + (64 << 20))
me, ranks = world.get_rank(), world.get_num_ranks()
peer = (me + 1) % ranks
table = world.get_device_context()
bases = world.get_heap_bases().view(torch.uint64).to(world.get_device())
source, target = world.empty(MOST, dtype=torch.uint8), world.empty(MOST, dtype=torch.uint8)
figures = {"loops": [], "blocks": [], "engines": []}


def pattern(rank):
    generator = torch.Generator(world.get_device()).manual_seed(rank)
    return torch.randint(256, (MOST,), generator=generator, device=world.get_device(), dtype=torch.uint8)


def launch(kernel, p, q, programs, block, warps, **more):
    return lambda: kernel[(programs,)](table, bases, p, q, p.numel(), me, peer, B=block, num_warps=warps, **more)


def check(name, action, received):
    """Every kernel copies what it should."""
    target.zero_()
    world.barrier()
    action()
    world.barrier()
    if not torch.equal(target[:received], expected[:received]):
        raise SystemExit(f"{name} copies wrongly")


def rates(times, size):
    return {name: [size / microseconds / 1e3 for microseconds in values] for name, values in times.items()}


def loops():
    """Loads and stores: the same loop with symm ops, on a direct pointer and translated as Iris does."""
    for kind in TYPES:
        p, q = (tensor.view(getattr(torch, kind)) for tensor in (source, target))
        block = BLOCK // p.element_size()
        for op, ours, theirs in (("load", symm_load, iris_load), ("store", symm_store, iris_store)):
            for programs in reversed(PROGRAMS):
                size = min(MOST, programs * (8 << 20))
                count = size // p.element_size()
                mine = (p[:count], q[:count])
                pair = (world.as_remote(mine[0], peer), mine[1]) if op == "load" else (
                    mine[0], world.as_remote(mine[1], peer))
                actions = {
                    "symm": launch(ours, *mine, programs, block, WARPS),
                    "direct pointer": launch(direct, *pair, programs, block, WARPS),
                    "direct pointer, 6 stages": launch(direct, *pair, programs, block, WARPS, STAGES=6),
                    "Iris's way": launch(theirs, *mine, programs, block, WARPS),
                }
                if programs == PROGRAMS[-1]:
                    for name, action in actions.items():
                        check(f"{op} of {kind}, {name}", action, size)
                runs = rates(in_turns(world, actions), size)
                figures["loops"].append({"type": kind, "op": op, "programs": programs, "runs": runs})
                best, plain, staged, iris = (median(values) for values in runs.values())
                say(world, f"{kind:13} {op:5} {programs:3}: symm {best:5.1f} ±{spread(runs['symm']):.0%} direct "
                    f"{plain:5.1f} staged {staged:5.1f} iris {iris:5.1f} GB/s; {best / plain:.3f} of direct, "
                    f"{best / staged:.3f} of staged, {best / iris:.2f} of iris")


def by_hand():
    """The kernels of bench/device/by_hand.cu: name → (threads, bytes of shared memory)."""
    try:
        import cupy
    except ImportError:
        say(world, "no CuPy: nothing by hand")
        return {}
    code = (Path(__file__).parent.parent / "device" / "by_hand.cu").read_text(encoding="utf-8")
    module = cupy.RawModule(code=code, options=("--std=c++17",), backend="nvrtc")

    def action(name, threads, shared):
        function = module.get_function(name)
        function.max_dynamic_shared_size_bytes = shared

        def launch(p, q, blocks):
            units = p.numel() * p.element_size() // 16
            each = -(-units // blocks)
            stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
            with stream:
                arguments = (q.data_ptr(), p.data_ptr(), cupy.uint64(units), cupy.uint64(each))
                function((blocks,), (threads,), arguments, shared_mem=shared)

        return launch

    stages = 12 * 16384 + 128
    kinds = {"16 B × 8, 512 threads": ("copy8", 512, 0), "16 B × 8, 1024 threads": ("copy8", 1024, 0),
             "cp.async.bulk": ("engine", 32, stages)}
    return {name: action(*kind) for name, kind in kinds.items()}


def blocks():
    """`get` and `put` of whole blocks by few programs, against CUDA by hand."""
    hand = by_hand()
    for op, kernel in (("get", symm_get), ("put", symm_put)):
        for programs in FEW:
            size = programs * (32 << 20)
            p, q = source[:size].view(torch.float16), target[:size].view(torch.float16)
            pair = (world.as_remote(p, peer), q) if op == "get" else (p, world.as_remote(q, peer))
            actions = {
                f"symm, {block} elements, {warps} warps": launch(kernel, p, q, programs, block, warps)
                for block, warps in BLOCKS
            }
            actions |= {name: (lambda copy=copy: copy(*pair, programs)) for name, copy in hand.items()}
            if programs == FEW[0]:
                for name, action in actions.items():
                    check(f"{op}, {name}", action, size)
            runs = rates(in_turns(world, actions), size)
            figures["blocks"].append({"op": op, "programs": programs, "runs": runs})
            best = {ours: max((median(values) for name, values in runs.items() if name.startswith("symm") == ours),
                              default=float("nan")) for ours in (True, False)}
            each = " ".join(f"{median(values):.0f}" for values in runs.values())
            say(world, f"{op} {programs}: symm {best[True]:.1f} by hand {best[False]:.1f} GB/s, "
                f"{best[True] / best[False]:.3f} ({each})")


def engines():
    """The copy engine through symm's heap and through torch's symmetric memory, and NCCL; in CUDA graphs."""
    buffer = symmetric.empty(MOST, dtype=torch.uint8, device=world.get_device())
    theirs = symmetric.rendezvous(buffer, dist.group.WORLD).get_buffer(peer, (MOST,), torch.uint8)
    remote = world.as_remote(source, peer)

    def exchange(size):
        works = dist.batch_isend_irecv([
            dist.P2POp(dist.isend, source[:size], peer), dist.P2POp(dist.irecv, target[:size], peer)])
        for work in works:
            work.wait()

    for size in SIZES:
        actions = {
            "symm heap, copy_": lambda: target[:size].copy_(remote[:size]),
            "torch symmetric memory, copy_": lambda: target[:size].copy_(theirs[:size]),
            "NCCL send and receive": lambda: exchange(size),
        }
        times = max(1, min(50, (64 << 20) // size))
        graphs = {name: captured(action, times) for name, action in actions.items()}
        runs = rates(in_turns(world, graphs), times * size)
        figures["engines"].append({"bytes": size, "runs": runs})
        say(world, f"{size >> 10} KiB: " + ", ".join(f"{name} {median(values):.1f}" for name, values in runs.items()))


source.copy_(pattern(me))
expected = pattern(peer)
world.barrier()
loops()
blocks()
engines()
finish(world, "copies", figures)
