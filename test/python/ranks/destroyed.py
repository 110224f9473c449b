"""Processes whose torch.distributed has been destroyed: they don't become Worlds of one rank without a word."""

import os
import socket
import warnings

import symm
import torch


def initialize(rank, ranks, port):
    where = f"tcp://127.0.0.1:{port}"
    torch.distributed.init_process_group("gloo", init_method=where, rank=rank, world_size=ranks)


def work(rank, ranks, port):
    initialize(rank, ranks, port)
    symm.init(heap_size=4 << 20).close()
    torch.distributed.destroy_process_group()
    try:
        symm.init(heap_size=4 << 20)
    except symm.BootstrapError as error:
        said = f"symm.init: this was rank {rank} of {ranks} in torch.distributed, which has been destroyed, "
        assert str(error).startswith(said), error
    else:
        raise AssertionError("it is a World of one rank")
    os.environ.update(RANK="0", WORLD_SIZE="1")
    alone()


def alone(*said):
    """A World of this process; `said` are the warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        world = symm.init(heap_size=4 << 20)
    assert world.get_num_ranks() == 1
    assert [(each.category, each.filename) for each in caught] == [(symm.SymmWarning, __file__)] * len(said), caught
    assert all(text in str(each.message) for text, each in zip(said, caught, strict=True)), caught
    world.close()


if __name__ == "__main__":
    del os.environ["RANK"], os.environ["WORLD_SIZE"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    alone()
    torch.multiprocessing.spawn(work, (2, port), nprocs=2)
    initialize(0, 1, port)
    torch.distributed.destroy_process_group()
    alone("torch.distributed was initialized in this process and has been destroyed, so this World has one rank")
    # As where symm has joined as the ranks of a group before.
    initialize(0, 1, port)
    symm.init(heap_size=4 << 20).close()
    torch.distributed.destroy_process_group()
    alone("torch.distributed was initialized")
