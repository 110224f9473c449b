"""The host API of `symm.iris`, on every rank."""

import gc
import io
import logging
import os
import types

import numpy as np
import symm
import symm.iris as iris
import symm.iris.experimental.iris_gluon as iris_gl
import torch
from symm import _torch_ranks
from symm._torch_ranks import as_torch_has_joined


def raised(kind, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def numbers(tensor):
    return tensor.cpu().numpy()


shmem = iris.iris(1 << 20)
rank, ranks = shmem.get_rank(), shmem.get_num_ranks()
assert (shmem.cur_rank, shmem.num_ranks, shmem.heap_size) == (rank, ranks, 1 << 20)
assert shmem.device == str(shmem.get_device())
assert shmem.get_device_id() == shmem.gpu_id == (shmem.get_device().index or 0)
assert shmem.get_cu_count() > 0

# The heap bases are a part of the context, for kernels.
bases, context = shmem.get_heap_bases(), shmem.get_device_context()
assert (bases.dtype, context.dtype) == (torch.uint64, torch.int64)
assert tuple(bases.shape) == (ranks,)
assert context.tolist() == [rank, ranks, *bases.tolist()]
assert bases.data_ptr() == context.data_ptr() + 16
assert shmem.heap.heap_bases.tolist() == bases.tolist()

# A tensor with the addresses of its counterparts.
for size in ((3, 5), ((3, 5),)):
    tensor, addresses = shmem.allocate_symmetric(*size, dtype=torch.float16)
    assert (tuple(tensor.shape), tensor.dtype, addresses.dtype) == ((3, 5), torch.float16, torch.int64)
    assert addresses.tolist() == [shmem.as_remote(tensor, peer).data_ptr() for peer in range(ranks)]
    assert shmem.is_symmetric(tensor) and addresses.tolist()[rank] == tensor.data_ptr()
assert shmem.allocate_symmetric(2)[0].dtype == torch.float32

# A copy of a tensor, and a tensor of an address.
outside = torch.arange(6).view((2, 3))
copied = shmem.as_symmetric(outside)
assert copied.dtype == outside.dtype and numbers(copied).tolist() == [[0, 1, 2], [3, 4, 5]]
assert shmem.is_symmetric(copied) and not shmem.is_symmetric(outside)
seen = iris.tensor_from_ptr(copied.data_ptr(), 48, torch.int64, shape=(3, 2))
seen.copy_(torch.full((3, 2), 7, dtype=torch.int64))
assert numbers(copied).tolist() == [[7] * 3] * 2 and outside.tolist() == [[0, 1, 2], [3, 4, 5]]
assert iris.tensor_from_ptr(copied.data_ptr(), 48).dtype == torch.float32
assert tuple(iris.tensor_from_ptr(copied.data_ptr(), 48, shape=(0, 2)).shape) == (0, 2)
assert "more than 40 bytes" in raised(
    symm.UnsupportedError, iris.tensor_from_ptr, copied.data_ptr(), 40, torch.int64, shape=(6,)
)
assert "external_tensor must be a tensor" in raised(symm.UnsupportedError, shmem.as_symmetric, [1])

# Without copy engines there is no handle of them.
assert shmem.get_copy_engine_ctx() is None
assert "no copy engines" in raised(symm.UnsupportedError, iris.iris, 1 << 20, copy_engine="sdma")
del copied, seen

# What Iris says of the machine.
assert not iris.is_simulation_env() and isinstance(iris.get_device_id_for_rank(rank), int)
os.environ["IRIS_SIMULATION"] = "True"
assert iris.is_simulation_env()
assert shmem.heap_bases.tolist() == bases.tolist()
assert shmem.get_backend().tolist() == context.tolist()

# Values and types are torch's; all of the heap is the program's.
for name, arguments, keywords in (
    ("zeros", (2, 3), {}),
    ("ones", ((4,),), {"dtype": torch.float16, "device": "cuda"}),
    ("full", ((2, 2), 7), {}),
    ("full", ((2, 2), 0.5), {"dtype": torch.float64}),
    ("arange", (3, 10, 2), {}),
    ("linspace", (0.0, 1.0, 5), {}),
):
    made = getattr(shmem, name)(*arguments, **keywords)
    model = getattr(torch, name)(*arguments, **{key: value for key, value in keywords.items() if key != "device"})
    assert (made.dtype, tuple(made.shape)) == (model.dtype, tuple(model.shape)), name
    assert shmem.is_symmetric(made) and not shmem.is_symmetric(model), name
    np.testing.assert_array_equal(numbers(made), numbers(model))
    out = shmem.empty(model.shape, dtype=model.dtype)
    filled = getattr(shmem, name)(*arguments, out=out, **keywords)
    assert filled.data_ptr() == out.data_ptr()
    np.testing.assert_array_equal(numbers(out), numbers(model))
assert shmem.zeros_like(torch.ones(3, dtype=torch.int32)).dtype == torch.int32
for drawn, low, high in (
    (shmem.rand(1000), 0, 1),
    (shmem.randint(5, 9, (1000,)), 5, 8),
    (shmem.uniform((1000,), 2.0, 3.0), 2, 3),
):
    assert low <= numbers(drawn).min() < numbers(drawn).max() <= high
assert shmem.uniform((2,)).dtype == torch.float32
assert abs(numbers(shmem.randn(10000)).std() - 1) < 0.1

there = shmem.full((8,), rank, dtype=torch.int32)
shmem.barrier()
assert numbers(shmem.as_remote(there, (rank + 1) % ranks)).tolist() == [(rank + 1) % ranks] * 8
shmem.barrier(stream=types.SimpleNamespace(synchronize=lambda: None))
shmem.device_barrier()

# Arrays come as numpy's, whatever they were.
for value in (42, 3.5, True, "text", {"key": [1, 2]}):
    got = shmem.broadcast(value if rank == 0 else None, source_rank=0)
    assert (type(got), got) == (type(value), value)
got = shmem.broadcast(torch.arange(10) if rank == ranks - 1 else None, ranks - 1)
assert isinstance(got, np.ndarray)
assert got.tolist() == list(range(10))
assert isinstance(shmem.broadcast([1, 2], src=0), np.ndarray)
assert shmem.broadcast(["a", 2], src_rank=0) == ["a", 2]
assert shmem.broadcast_tensor(torch.ones(2)).tolist() == [1, 1]

# Messages, with the rank.
written = io.StringIO()
handler = iris.logger.handlers[0]
stream = handler.setStream(written)
shmem.info("one")
shmem.debug("not this")
iris.set_logger_level(iris.DEBUG)
shmem.debug("two 100%")
iris.set_logger_level(iris.ERROR)
shmem.warning("nor this")
shmem.error("three")
handler.setStream(stream)
assert written.getvalue() == "".join(f"[Iris] [{rank}/{ranks}] {text}\n" for text in ("one", "two 100%", "three"))
assert iris.INFO == logging.INFO and iris.WARNING == logging.WARNING

# Times, of as many calls as asked for.
calls = []
times = iris.do_bench(lambda: calls.append(1), shmem.barrier, n_warmup=2, n_repeat=5, return_mode="all")
assert (len(times), len(calls)) == (5, 7)
assert iris.do_bench(lambda: None, n_warmup=0, n_repeat=3, quantiles=[0.5]) >= 0
low, high = iris.do_bench(lambda: None, n_warmup=0, n_repeat=3, quantiles=[0, 1])
assert low <= high

# What Iris refuses, and what is left out.
assert "symmetric heap" in raised(ValueError, shmem.as_remote, torch.ones(3), 0)
assert "out of range" in raised(ValueError, shmem.as_remote, there, ranks)
assert "group must be one of" in raised(symm.UnsupportedError, lambda: shmem.barrier(group=object()))
assert "heap is on" in raised(RuntimeError, shmem.zeros, 3, device="meta")
assert "has 8 elements, but 3" in raised(RuntimeError, shmem.zeros, 3, out=there)
assert "torch.int32, but" in raised(RuntimeError, shmem.zeros, 8, out=there)
assert "not on the symmetric heap" in raised(RuntimeError, shmem.zeros, 3, out=torch.ones(3))
assert "heap_size" in raised(MemoryError, shmem.zeros, 1 << 22)
assert raised(AttributeError, lambda: shmem.ops).startswith("an Iris has no ops: write the loop, as in examples/")
assert raised(AttributeError, lambda: shmem.heap.allocator).startswith("the heap of an Iris has no allocator: it has")
assert "no attribute 'nothing'" in raised(AttributeError, lambda: shmem.nothing)
assert "no attribute 'nothing'" in raised(AttributeError, lambda: shmem.heap.nothing)
assert "return_mode" in raised(ValueError, iris.do_bench, lambda: None, return_mode="fast")

# There may be another; the ranks are those of torch.distributed where it is there.
joining = rank if shmem.get_device().type == "cuda" else ranks - 1 - rank
shmem.barrier()
del shmem, bases, context, made, out, filled, there, drawn
gc.collect()
found = []


def all_gather_object(everyone, mine):
    found.append(len(everyone))
    everyone[:] = [("the same run everywhere", *mine[1:])] * len(everyone)


torch.distributed = types.SimpleNamespace(
    is_available=lambda: True,
    is_initialized=lambda: True,
    get_rank=lambda: joining,
    get_world_size=lambda: ranks,
    get_process_group_ranks=lambda group: group,
    all_gather_object=all_gather_object,
)
variables = dict(os.environ)
shmem = iris_gl.iris(1 << 20)
assert dict(os.environ) == variables
assert (shmem.get_rank(), found) == (joining, [ranks])
shmem.barrier(group=range(ranks))
for wrong in (range(ranks + 1), [each for each in range(ranks) if each != joining]):
    assert "cannot meet the group of ranks" in raised(RuntimeError, shmem.barrier, group=wrong)
# Smaller groups of torch's: in each, a rank finds what those that are in it did before.
meetings, came = [], shmem.zeros(ranks, dtype=torch.int32)
torch.distributed.barrier = lambda group: meetings.append(group)
if ranks > 1:
    shmem.barrier(group=[joining])
    shmem.barrier(stream=types.SimpleNamespace(synchronize=lambda: meetings.append("stream")), group=[joining])
    assert meetings == [[joining], "stream", [joining]]
for turn in range(1, 9):
    group = range(joining % 2, ranks, 2) if turn % 2 else (joining // 2 * 2, min(joining | 1, ranks - 1))
    shmem.as_remote(came, group[0]).view(ranks)[joining : joining + 1].fill_(turn)
    shmem.device_barrier(group=sorted(set(group)))
    assert all(numbers(shmem.as_remote(came, group[0]))[member] >= turn for member in group), (turn, group)
del came
# A team meets on its own: rank 0 as often as it likes.
large = symm.iris.iris(8 << 20)
alone = large.world.split(shmem.get_rank())
for _ in range(1 if shmem.get_rank() else 3):
    large.barrier(group=alone)
    large.device_barrier(group=alone)
assert isinstance(shmem, iris_gl.IrisGluon)
shmem.barrier()

# Hosts that cannot share memory are told, whatever started them.
torch.distributed.all_gather_object = lambda everyone, mine: everyone.__setitem__(
    slice(None), [("run", "another boot", "elsewhere", mine[3]) if at else mine for at in range(ranks + 1)]
)
torch.distributed.get_world_size = lambda: ranks + 1
torch.distributed.get_rank = lambda: 0
# Without an engine nobody looks for a port, nor asks for a name that may take long.
os.environ.pop("SYMM_ENGINE", None)
os.environ.pop("SYMM_DOMAIN", None)
where_to_meet, _torch_ranks._where_to_meet = _torch_ranks._where_to_meet, None
message = raised(symm.BootstrapError, symm.init)
_torch_ranks._where_to_meet = where_to_meet
assert "rank 1 of torch.distributed is on another host (elsewhere) than rank 0 (" in message, message
assert "so start all on one host, or on NVIDIA GPUs give engine='nvshmem'" in message, message
# With an engine they meet at a port of rank 0.
os.environ.setdefault("MASTER_ADDR", "localhost")
with as_torch_has_joined("nvshmem"):
    told = {name: os.environ[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "SYMM_PORT")}
assert told["MASTER_ADDR"] and 0 < int(told["SYMM_PORT"]) < 1 << 16, told
assert (told["RANK"], told["WORLD_SIZE"], told["LOCAL_WORLD_SIZE"]) == ("0", str(ranks + 1), "1"), told
assert "SYMM_PORT" not in os.environ
# At the one that the environment names, if it does; on the host of torch's own meeting, if it does not name that.
before = {name: os.environ.pop(name, None) for name in ("MASTER_ADDR", "SYMM_PORT")}
store = types.SimpleNamespace(underlying_store=types.SimpleNamespace(host="node0"))
torch.distributed.distributed_c10d = types.SimpleNamespace(_get_default_store=lambda: store)
os.environ["SYMM_PORT"] = "7777"
with as_torch_has_joined("nvshmem"):
    assert (os.environ["MASTER_ADDR"], os.environ["SYMM_PORT"]) == ("node0", "7777")
assert "MASTER_ADDR" not in os.environ and os.environ.pop("SYMM_PORT") == "7777"
os.environ.update({name: value for name, value in before.items() if value})
# All have an engine, or none.
torch.distributed.all_gather_object = lambda everyone, mine: everyone.__setitem__(
    slice(None), [("run", "another boot", "elsewhere", None) if at else mine for at in range(ranks + 1)]
)
message = raised(symm.BootstrapError, as_torch_has_joined("nvshmem").__enter__)
assert "of torch.distributed have no engine, and the others have one: give the same on all ranks" in message, message
