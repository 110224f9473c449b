"""What Iris' functions refuse, by errors with the names that Iris has; and what its objects are in print."""

import pytest
import symm
import symm.iris as iris
import torch
import triton
import triton.language as tl
from symm.iris.gluon import IrisDeviceCtx

for size in ("x", None, -1, 0, 1.5, True, [1]):
    with pytest.raises(symm.ArgumentError, match="iris: heap_size must be a number of bytes, not "):
        iris.iris(size)
shmem = iris.iris(1 << 24)
me, ranks = shmem.get_rank(), shmem.get_num_ranks()
there = shmem.zeros(8, dtype=torch.int32)
assert repr(shmem) == f"Iris(cur_rank={me}, num_ranks={ranks}, heap_size={1 << 24}, device='cpu')"
assert repr(shmem.ccl) == f"CCL(rank={me}, num_ranks={ranks})"

at = there.data_ptr()
HOST = (
    (lambda: shmem.zeros(-1), "Iris.zeros: "),
    (lambda: shmem.uniform((2,), 1, 0), "Iris.uniform draws floats from low to high"),
    (lambda: shmem.zeros(4, out=3), "Iris.zeros: out must be a tensor on the symmetric heap, not 3"),
    (lambda: shmem.zeros(4, device="x"), "Iris.zeros: the symmetric heap is on cpu, not on "),
    (lambda: shmem.as_symmetric(3), "Iris.as_symmetric: external_tensor must be a tensor, not 3"),
    (lambda: shmem.allocate_symmetric("x"), "Iris.allocate_symmetric: "),
    (lambda: shmem.as_remote(there, "x"), "rank must be an integer, not 'x'"),
    (lambda: shmem.broadcast(1, "x"), "Iris.broadcast: src must be an integer, not 'x'"),
    (lambda: shmem.broadcast(1, src_rank="x"), "Iris.broadcast: src_rank must be an integer, not 'x'"),
    (lambda: shmem.broadcast(1, source_rank=ranks), f"Iris.broadcast: rank {ranks} out of range"),
    (lambda: shmem.barrier(group=3), "group must be one of torch.distributed's"),
    (lambda: iris.set_logger_level("x"), "set_logger_level: level must be iris.DEBUG, INFO, WARNING or ERROR, not 'x'"),
    (lambda: iris.get_device_id_for_rank(-1), "local_rank must be the number of a rank, not -1"),
    (lambda: iris.tensor_from_ptr("x", 4), "tensor_from_ptr: ptr must be an integer from 0, not 'x'"),
    (lambda: iris.tensor_from_ptr(0, 4), "tensor_from_ptr: ptr must be the address of memory, not 0"),
    (lambda: iris.tensor_from_ptr(at, -4), "tensor_from_ptr: size_bytes must be an integer from 0, not -4"),
    (lambda: iris.tensor_from_ptr(at, 4, shape="x"), "tensor_from_ptr: shape must be sizes from 0, not 'x'"),
    (lambda: iris.tensor_from_ptr(at, 4, shape=(-1,)), "tensor_from_ptr: shape must be sizes from 0, not"),
    (lambda: iris.do_bench(3), "do_bench: fn must be a function without arguments, not 3"),
    (lambda: iris.do_bench(print, n_repeat=0), "do_bench: n_repeat must be an integer from 1, not 0"),
    (lambda: iris.do_bench(print, quantiles=[2]), "do_bench: quantiles must be a list of numbers from 0 to 1"),
    (lambda: iris.do_bench(print, return_mode="x"), "do_bench: return_mode must be one of mean"),
    (lambda: shmem.ccl.all_reduce(3, there), "ccl: output_tensor must be a tensor, not 3"),
    (lambda: shmem.ccl.all_gather(there, None), "ccl: input_tensor must be a tensor, not None"),
    (lambda: shmem.ccl.all_reduce(there, there, group="x"), "ccl: group must be one of torch.distributed's, not 'x'"),
    (lambda: shmem.ccl.all_reduce(there, there, op="nope"), "ccl: op must be one of SUM, PRODUCT, MIN, MAX, not"),
    # On the host what is for kernels has its public name.
    (lambda: iris.DeviceContext.initialize(there, 0, 1), "symm DeviceContext.initialize is an op for kernels: call it"),
    (lambda: IrisDeviceCtx.initialize(there), "symm IrisDeviceCtx.initialize is an op for kernels: call it"),
    (lambda: iris.load(there, 0, 0, there), "symm load is an op for kernels: call it"),
)
if hasattr(torch, "sparse_coo"):
    sparse, many = torch.eye(3).to_sparse(), torch.zeros(2000)
    what = "a tensor of torch.float32, (2000,), on cpu"
    HOST += (
        (lambda: shmem.allocate_symmetric(2, dtype="float"), "Iris.allocate_symmetric: dtype must be a dtype of torch"),
        (lambda: shmem.allocate_symmetric("x"), "Iris.allocate_symmetric: torch.empty does not take ('x')"),
        (lambda: shmem.as_symmetric(sparse), "Iris.as_symmetric: external_tensor is torch.sparse_coo, and tensors on "),
        (lambda: shmem.zeros(4, out=many), "Iris.zeros: out has 2000 elements, but 4 are needed"),
        (lambda: shmem.zeros(4, device=many), f"Iris.zeros: the symmetric heap is on cpu, not on {what}: leave out"),
        (lambda: shmem.barrier(group=many), f"or a Team of this World, not {what}"),
        (lambda: iris.iris(many), f"iris: heap_size must be a number of bytes, not {what}"),
        (lambda: iris.do_bench(many), f"do_bench: fn must be a function without arguments, not {what}"),
        (lambda: iris.tensor_from_ptr(many, 4), f"tensor_from_ptr: ptr must be an integer from 0, not {what}"),
    )
for call, said in HOST:
    with pytest.raises(symm.SymmError) as raised:
        call()
    assert said in str(raised.value), (said, str(raised.value))


@triton.jit
def wrong(table, p, bases, CASE: tl.constexpr, ME: tl.constexpr, RANKS: tl.constexpr):
    ctx = iris.DeviceContext.initialize(table, ME, RANKS)
    if CASE == "from_rank must be an integer, not 'x'":
        ctx.load(p, "x")
    elif CASE == "load() missing 1 required positional argument: 'from_rank'":
        ctx.load(p)
    elif CASE == "to_ptr must be a pointer or a block of pointers, not 3":
        ctx.put(p, 3, 0)
    elif CASE == "pointer must be a pointer or a block of pointers, not 3":
        iris.load(3, ME, 0, bases)
    elif CASE == "to_rank must be an integer, not 'mine'":
        iris.load(p, "mine", 0, bases)
    elif CASE == "cur_rank must be an integer, not 0.5":
        iris.copy(p, p, 0, 0, 0.5, bases)
    elif CASE == "src_ptr must be a pointer or a block of pointers, not 'x'":
        iris.copy("x", p, 0, 0, ME, bases)
    elif CASE == "val must be a number or a block, not 'x'":
        ctx.atomic_add(p, "x", 0)
    elif CASE == "cmp must be a number or a block, not 'x'":
        ctx.atomic_cas(p, "x", 1, 0)
    elif CASE == "DeviceContext.initialize: context_tensor must be what get_device_context returns":
        iris.DeviceContext.initialize(p, ME, RANKS)
    elif CASE == "IrisDeviceCtx.initialize: context_tensor must be what get_device_context returns":
        IrisDeviceCtx.initialize(3)
    elif CASE == "DeviceContext.initialize() missing 2 required positional arguments":
        iris.DeviceContext.initialize(table)
    elif CASE == "Context is made by Context.initialize, not by Context(…)":
        iris.DeviceContext(3)
    elif CASE == "symm DeviceContext.initialize: rank is 5, but this rank is ":
        iris.DeviceContext.initialize(table, 5, RANKS)
    elif CASE == "symm DeviceContext.initialize: world_size is 5, but there are ":
        iris.DeviceContext.initialize(table, ME, 5)
    elif CASE == "load: pointer is not on the symmetric heap of rank 0, which is to_rank: it is on that of":
        iris.load(p, 0, 1, bases)
    elif CASE == "store: pointer is not on the symmetric heap of rank 0, which is from_rank: it is on that of":
        iris.store(p, 1, 0, 1, bases)
    elif CASE == "copy: dst_ptr is not on the symmetric heap of rank 0, which is cur_rank: it is on that of":
        iris.copy(p, p, 0, 1, 0, bases)
    elif CASE == "atomic_add: pointer is not on the symmetric heap of rank 0, which is from_rank: it is on that of":
        iris.atomic_add(p, 1, 0, 1, bases)
    elif CASE == "symm load: rank 127 out of range [0, ":
        iris.load(p, 127, 0, bases)
    elif CASE == "TileView: block_m must be a tl.constexpr, as Iris demands, not 'x'":
        iris.TileView(0, 0, "x", 4)
    elif CASE == "TileView takes pid_m, pid_n, block_m, block_n":
        iris.TileView(0)
    elif CASE == "Tile: data must be a value of the kernel, not 'x'":
        iris.Tile(0, 0, 4, 4, "x")
    elif CASE == "TileView: block_n must be a power of two, not 3":
        iris.TileView(0, 0, 2, 3)
    elif CASE == "TileView: pid_m must be an integer, not pointer<int32>":
        iris.TileView(p, 0, 2, 4)
    elif CASE == "TensorView: ptr must be a pointer, not int32":
        iris.make_tensor_view(3, 2, 4, 4, 1)
    elif CASE == "TensorView: M must be an integer, not fp32":
        iris.make_tensor_view(p, tl.program_id(0) * 0.5, 4, 4, 1)
    elif CASE == "Tile: data must be a block of shape [2, 4], (block_m, block_n), not a block of int32 of shape [8]":
        iris.Tile(0, 0, 2, 4, tl.arange(0, 8))
    elif CASE == "Tile: data must be a block of shape [2, 4], (block_m, block_n), not pointer<int32>":
        iris.Tile(0, 0, 2, 4, p)
    elif CASE == "symm gather: src_view must be a TensorView, which make_tensor_view makes, not 3":
        ctx.gather(iris.TileView(0, 0, 2, 4), 3, 0)
    elif CASE == "symm gather: source_rank must be an integer, not 'x'":
        ctx.gather(iris.TileView(0, 0, 2, 4), iris.make_tensor_view(p, 2, 4, 4, 1), "x")
    elif CASE == "symm all_gather: tile must be a Tile, not a TileView":
        ctx.all_gather(iris.TileView(0, 0, 2, 4), iris.make_tensor_view(p, 2, 4, 4, 1), 0)
    elif CASE == "symm all_gather: dim must be 0 or 1, not 2":
        ctx.all_gather(iris.Tile(0, 0, 2, 4, 1), iris.make_tensor_view(p, 2, 4, 4, 1), dim=2)
    elif CASE == "symm all_reduce_atomic: dst_view must be a TensorView, which make_tensor_view makes, not int32":
        ctx.all_reduce_atomic(iris.Tile(0, 0, 2, 4, 1), tl.program_id(0))
    elif CASE == "symm reduce_scatter: locks must be a pointer or a block of pointers, not None":
        view = iris.make_tensor_view(p, 2, 4, 4, 1)
        ctx.reduce_scatter(iris.Tile(0, 0, 2, 4, 1), view, view, None)
    elif CASE == "symm reduce_scatter: locks must point to int32, uint32, int64 or uint64, not to fp32":
        view, locks = iris.make_tensor_view(p, 2, 4, 4, 1), p.to(tl.pointer_type(tl.float32), bitcast=True)
        ctx.reduce_scatter(iris.Tile(0, 0, 2, 4, 1), view, view, locks)
    elif CASE == "symm all_reduce_two_shot: generation 1099511627776 does not fit in a flag of int32":
        view = iris.make_tensor_view(p, 2, 4, 4, 1)
        ctx.all_reduce_two_shot(iris.Tile(0, 0, 2, 4, 1), view, view, p, 1 << 40)
    elif CASE == "symm load: heap_bases must be what get_heap_bases() returns":
        iris.load(p, ME, 0, table)
    elif CASE == "symm all_reduce_one_shot: generation must be an integer, not 0.5":
        view = iris.make_tensor_view(p, 2, 4, 4, 1)
        ctx.all_reduce_one_shot(iris.Tile(0, 0, 2, 4, 1), view, view, p, 0.5)


file = open(__file__).read().splitlines()
cases = [line.split('CASE == "')[1][:-2] for line in file if "if CASE ==" in line and line.startswith("    ")]
assert len(cases) > 12
for case in cases:
    if "it is on that of" in case and me != 1:
        continue
    with pytest.raises(triton.runtime.errors.InterpreterError) as raised:
        wrong[(1,)](shmem.get_device_context(), there, shmem.get_heap_bases(), case, me, ranks)
    error, kind = raised.value.__cause__, symm.CompileError
    if "it is on that of" in case or "out of range" in case:
        kind = symm.NotSymmetricError if "it is on that of" in case else symm.RankRangeError
    assert isinstance(error, kind) and case in str(error) and error.file == __file__, (case, str(error))
    assert "_initialize" not in str(error) and "Methods" not in str(error), error


@triton.jit
def shown(table, p, ME: tl.constexpr, RANKS: tl.constexpr):
    ctx = iris.DeviceContext.initialize(table, ME, RANKS)
    tile = iris.TileView(tl.program_id(0), 1, 2, 4)
    print(ctx, IrisDeviceCtx.initialize(table), tile, iris.make_tensor_view(p, 2, 4, 4, 1), sep="\n")


shown[(1,)](shmem.get_device_context(), there, me, ranks)
shmem.barrier()
