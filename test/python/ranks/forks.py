"""Processes that are forked from a rank: they are not ranks, and their end harms nobody."""

import os
import sys

import symm
import torch

world = symm.init(heap_size=16 << 20)
me, ranks = world.get_rank(), world.get_num_ranks()
tensor = world.full((8,), me, dtype=torch.int32)
calls = (
    world.get_rank, world.get_num_ranks, world.get_heap_bases, world.get_device_context, world.barrier,
    world.device_barrier, world.check, lambda: world.zeros(3), lambda: world.uniform((3,)), lambda: world.broadcast(1),
    lambda: world.is_symmetric(tensor), lambda: world.as_remote(tensor, 0), world.close,
)  # fmt: skip


def refused(function):
    try:
        function()
    except symm.ForkedError as error:
        said = f"this process was forked from rank {me} of {ranks} (process {os.getppid()}), and is not a rank"
        return said in str(error)
    return False


def in_child(body):
    """What a forked child exits with."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        body()
    except BaseException as error:
        print(repr(error), flush=True)
        os._exit(3)
    # With everything that ends a Python program.
    sys.exit(7)


def body():
    assert all(refused(each) for each in calls), [each for each in calls if not refused(each)]
    assert tensor.tolist() == [me] * 8
    # A run of its own.
    for name in ("RANK", "WORLD_SIZE"):
        del os.environ[name]
    own = symm.init(heap_size=4 << 20)
    assert own.get_num_ranks() == 1
    own.ones(3)
    own.close()


world.barrier()
if me == 0:
    assert in_child(body) == 7
world.barrier()

if hasattr(torch, "multiprocessing"):
    # What is sent is a copy: the tensor stays on the heap.
    from torch.utils.data import DataLoader, TensorDataset

    context = torch.multiprocessing.get_context("fork")
    there, back = context.Queue(), context.SimpleQueue()

    def work():
        got = there.get()
        back.put(int(got.sum()))
        got.fill_(9)

    for sent in (tensor, torch.nn.Parameter(world.ones(8), requires_grad=False)):
        process = context.Process(target=work)
        process.start()
        before = sent.tolist()
        there.put(sent)
        assert back.get() == sum(before)
        process.join()
        assert world.is_symmetric(sent) and sent.tolist() == before
    for workers in (0, 2):
        loader = DataLoader(TensorDataset(tensor), batch_size=4, num_workers=workers)
        assert [batch.tolist() for (batch,) in loader] == [[me] * 4] * 2
    whole = DataLoader([tensor], batch_size=None, num_workers=1)
    assert [each.tolist() for each in whole] == [[me] * 8] and world.is_symmetric(tensor)
world.barrier()
world.close()
